#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/compare/compare_scene.h"

namespace lockstep::ui {

// One axis of a heat map in stretches: each value by itself where there are few, else equal parts of its scale.
struct HeatBins {
    struct Bin {
        AxisBrush brush;  // the values in it
        QString name;
    };
    std::vector<Bin> bins;
    std::vector<std::optional<std::size_t>> of;  // by row of the table; empty: it has no value
};
constexpr std::size_t kMostBins = 12;
HeatBins heatBins(const CompareAxis& axis);

// What the objective came to where two settings meet. A plain value.
struct HeatMap {
    struct Cell {
        std::vector<std::size_t> rows;  // those that count
        double mean = 0;                // not a number where there is none
    };
    HeatBins x, y;
    std::vector<Cell> cells;  // row by row of y
    const Cell& at(std::size_t across, std::size_t up) const { return cells[up * x.bins.size() + across]; }
    double low = 0, high = 0;  // of the means
    // Of those that count: where a scheduler cuts trials short, the means are of unlike lengths.
    std::int64_t fewestEpochs = 0, mostEpochs = 0;
};
// Of the trials that the brushes leave and that have a value.
HeatMap heatMap(const CompareScene& scene, const CompareAxis& x, const CompareAxis& y, const CompareAxis& objective);

}  // namespace lockstep::ui
