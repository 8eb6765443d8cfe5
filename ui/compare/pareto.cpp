#include "ui/compare/pareto.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace lockstep::ui {

std::vector<std::size_t> paretoFront(std::vector<ParetoPoint> points, Better x, Better y) {
    std::erase_if(points, [](const ParetoPoint& each) { return !std::isfinite(each.x) || !std::isfinite(each.y); });
    // Lower is better from here on.
    for (ParetoPoint& each : points) {
        if (x == Better::Higher) each.x = -each.x;
        if (y == Better::Higher) each.y = -each.y;
    }
    std::ranges::sort(points, {}, [](const ParetoPoint& each) { return std::tuple(each.x, each.y, each.row); });
    std::vector<std::size_t> front;
    const ParetoPoint* last = nullptr;
    for (const ParetoPoint& each : points) {
        const bool isEqual = last && each.x == last->x && each.y == last->y;
        if (last && !isEqual && each.y >= last->y) continue;
        front.push_back(each.row);
        last = &each;
    }
    return front;
}

}  // namespace lockstep::ui
