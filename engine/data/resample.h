#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/data/image_cut.h"

namespace lockstep {

// Pixels that somebody else owns: row by row, the `channels` of each pixel beside each other.
struct PixelView {
    const std::uint8_t* pixels = nullptr;
    int channels = 0, height = 0, width = 0;  // channels: 1 or 3
    std::size_t rowBytes = 0;                 // from a row to the next
};

constexpr double reachOf(Interpolation how) { return how == Interpolation::Bilinear ? 1 : 2; }  // of its kernel

// The part `box` of a picture, scaled to height x width, as planes [channels, height, width] into `out`. Each pixel is
// the mean of those around its place, weighted by the kernel, which is as wide as a pixel of the coarser of both: what
// is reduced is not aliased (Pillow's resize, torchvision's with antialias=True; equal to them within a level). Pixels
// beside the box count, those beside the picture do not. The same numbers on every processor.
void resample(const PixelView& picture, const PictureBox& box, int height, int width, Interpolation interpolation,
              std::span<std::uint8_t> out);

// An image in planes [channels, height, width], of which a part of whole pixels, as if it had been cut out, becomes the
// whole; bilinear.
void resamplePlanes(std::span<const std::uint8_t> planes, int height, int width, const PictureBox& part,
                    std::span<std::uint8_t> out);

}  // namespace lockstep
