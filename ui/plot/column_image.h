#pragma once
#include <QImage>
#include <QRgb>
#include <cstddef>

namespace lockstep::ui {

// A picture of pixels that lie column after column, each column `stride` pixels behind the one before.
QImage imageOfColumns(const QRgb* columns, int width, int height, std::size_t stride, QImage::Format format);

}  // namespace lockstep::ui
