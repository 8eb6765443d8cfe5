#pragma once
#include "datasets/class_folders.h"

namespace lockstep {

// Which files are images.
inline const FileKind& imageFiles() {
    static const FileKind kind{{".jpg", ".jpeg", ".png"}, "image.unknown-kind"};
    return kind;
}

}  // namespace lockstep
