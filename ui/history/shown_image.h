#pragma once
#include <QImage>

#include "engine/spec/serve_messages.h"

namespace lockstep::ui {

// {"channels", "height", "width", "pixels"} of the engine as an image; null where the bytes do not fit the shape.
QImage imageFrom(const ShownImage& shown);

}  // namespace lockstep::ui
