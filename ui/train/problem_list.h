#pragma once
#include <vector>

#include "engine/core/result.h"

namespace lockstep::ui {

using Problems = std::vector<Problem>;

}  // namespace lockstep::ui
