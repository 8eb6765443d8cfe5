#pragma once
#include <cstddef>
#include <vector>

#include "engine/spec/metrics.h"

namespace lockstep::ui {

struct ParetoPoint {
    double x = 0, y = 0;  // not finite: it is no candidate
    std::size_t row = 0;
};

// The rows that nothing beats in both: no other is as good in each and better in one. By x, the best first. Of equal
// points all. O(n log n).
std::vector<std::size_t> paretoFront(std::vector<ParetoPoint> points, Better x, Better y);

}  // namespace lockstep::ui
