#include "ui/plot/column_image.h"

#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr int kTile = 16;  // pixels of a tile's side: it fits a core's nearest cache

}  // namespace

// Tile by tile: lines of the picture and columns of ours meet within the cache.
QImage imageOfColumns(const QRgb* columns, int width, int height, std::size_t stride, QImage::Format format) {
    QImage picture(width, height, format);
    auto* const pixels = reinterpret_cast<QRgb*>(picture.bits());
    const auto line = picture.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
    for (int top = 0; top < height; top += kTile) {
        for (int left = 0; left < width; left += kTile) {
            const int bottom = std::min(top + kTile, height), right = std::min(left + kTile, width);
            for (int y = top; y < bottom; ++y) {
                for (int x = left; x < right; ++x)
                    pixels[y * line + x] = columns[static_cast<std::size_t>(x) * stride + static_cast<std::size_t>(y)];
            }
        }
    }
    return picture;
}

}  // namespace lockstep::ui
