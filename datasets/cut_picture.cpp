#include "datasets/cut_picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/data/load_times.h"

namespace lockstep {

namespace {

// The pixels of the view that the box touches, and the box in them.
void narrow(PixelView& view, PictureBox& box) {
    const int left = static_cast<int>(box.left), top = static_cast<int>(box.top);
    const int right = std::min(static_cast<int>(std::ceil(box.right)), view.width);
    const int bottom = std::min(static_cast<int>(std::ceil(box.bottom)), view.height);
    view.pixels += static_cast<std::size_t>(top) * view.rowBytes +
                   static_cast<std::size_t>(left) * static_cast<std::size_t>(view.channels);
    view.height = bottom - top, view.width = right - left;
    box = {box.left - left, box.top - top, box.right - left, box.bottom - top};
}

}  // namespace

void cutPicture(const DecodePart& decode, const ImageRule& rule, const ChooseCut& cut, std::span<std::uint8_t> out) {
    static thread_local DecodedPart part;
    bool isApart = false;
    DecodeWish wish{.channels = rule.channels, .height = rule.size, .width = rule.size};
    wish.reach = reachOf(rule.interpolation);
    wish.decode = rule.decode;
    wish.part = [&](const PictureSize& size) {
        const ImageCut chosen = cut(size.height, size.width);
        isApart = chosen.isApart;
        return chosen.box;
    };
    decode(wish, part);
    const LoadTimer timer(LoadPart::Scale);
    PixelView view = part.view;
    static thread_local Picture grey;
    if (rule.channels == 1 && view.channels == 3) {
        toGrey(view, grey);
        view = grey.view();
    }
    if (isApart) narrow(view, part.box);
    const std::size_t plane = static_cast<std::size_t>(rule.size) * static_cast<std::size_t>(rule.size);
    resample(view, part.box, rule.size, rule.size, rule.interpolation,
             out.first(plane * static_cast<std::size_t>(view.channels)));
    for (int c = view.channels; c < rule.channels; ++c)  // a grey one among coloured ones
        std::memcpy(&out[static_cast<std::size_t>(c) * plane], out.data(), plane);
}

}  // namespace lockstep
