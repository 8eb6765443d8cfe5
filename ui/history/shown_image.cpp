#include "ui/history/shown_image.h"

#include <algorithm>

namespace lockstep::ui {

QImage imageFrom(const ShownImage& shown) {
    const auto& [channels, height, width, base64] = shown;
    const auto pixels = QByteArray::fromBase64(QByteArray::fromStdString(base64));
    if ((channels != 1 && channels != 3) || height < 1 || width < 1) return {};
    const qsizetype plane = qsizetype{height} * width;
    if (pixels.size() != channels * plane) return {};
    QImage image(width, height, QImage::Format_RGB32);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const auto at = [&, width = shown.width](int channel) {
                return static_cast<uchar>(
                    pixels[std::min(channel, shown.channels - 1) * plane + qsizetype{y} * width + x]);
            };
            image.setPixel(x, y, qRgb(at(0), at(1), at(2)));
        }
    }
    return image;
}

}  // namespace lockstep::ui
