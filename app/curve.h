#pragma once
#include <string>
#include <vector>

namespace lockstep {

// A small curve in text: `values` in order, averaged into `width` columns, `height` rows, with the highest and lowest
// value at the left edge. Values that are not numbers leave a gap. Empty where no value is a number.
std::string curveText(const std::vector<double>& values, int width, int height);

}  // namespace lockstep
