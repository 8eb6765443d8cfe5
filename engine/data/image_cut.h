#pragma once
#include <cstdint>
#include <functional>

namespace lockstep {

// A part of a picture, in pixels of it; edges may lie within pixels.
struct PictureBox {
    double left = 0, top = 0, right = 0, bottom = 0;
    double width() const { return right - left; }
    double height() const { return bottom - top; }
    bool operator==(const PictureBox&) const = default;
};

enum class Interpolation { Bilinear, Bicubic };  // of pictures that are scaled; bicubic: Keys' kernel with a = -1/2

// Which part of an upright picture becomes an image.
struct ImageCut {
    PictureBox box;
    bool isApart = false;  // pixels beside the box do not count, as if it had been cut out before it is scaled
};
// Of a picture of that size. Called by the thread that reads it, once.
using ChooseCut = std::function<ImageCut(int height, int width)>;

// For evaluation: the picture scaled so that its shorter side has `size` / `share` pixels, of which the middle is cut
// (torchvision's Resize(256) and CenterCrop(224): a share of 7/8).
ImageCut middleCut(int height, int width, int size, double share);

// Random-resized crop (Szegedy et al., arXiv 1409.4842, section 6; the tries and the way out are torchvision's): a part
// of `least` to `most` of the area, its sides as `narrowest` to `widest`, chosen on a logarithmic scale; after ten
// tries that do not fit the largest part in the middle whose sides are within the limits. Of whole pixels.
struct RandomCut {
    double least = 0.08, most = 1;
    double narrowest = 3.0 / 4, widest = 4.0 / 3;
    bool operator==(const RandomCut&) const = default;
};
// Depends on the size and (seed, epoch, sample id) alone. Pure.
ImageCut randomCut(const RandomCut& how, int height, int width, std::uint64_t seed, std::int64_t epoch,
                   std::int64_t sampleId);

}  // namespace lockstep
