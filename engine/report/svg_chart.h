#pragma once
#include <span>
#include <string>
#include <vector>

#include "engine/report/chart_scale.h"
#include "engine/spec/evaluation.h"

namespace lockstep::report {

// Charts as one SVG element each, with a style of their own that follows the reader's light or dark scheme. Text from
// outside is escaped. No script, no reference to anything.

struct ChartSeries {
    std::string name;
    std::vector<ChartPoint> points;  // by ascending x; a y that is no number leaves a gap
    bool isNoisy = false;            // told by its mean nearby, over a faint line of all of it
};
struct LineChart {
    std::string title, xTitle, yTitle;  // titles of axes with their units; x counts
    std::vector<ChartSeries> series;
    bool fromZero = false;  // the axis begins there
    bool isLinear = false;  // whatever it spans
};
// The axis upwards is logarithmic where the series span decades, and are a decade below their top for a third of the
// way. Long series are decimated: however many points there
// are, a chart has less than 100 KB for four of them. Without any number: a chart that says so.
std::string lineChartSvg(const LineChart& chart);

// Rows are true classes, columns answers; a cell is as strong as its share of the row.
inline constexpr std::int64_t kMostDrawnClasses = 20;
std::string confusionSvg(const ConfusionMatrix& matrix, std::span<const std::string> classes, const std::string& title);

// How often answers of each confidence are right, beside how often they would be, and how many there are.
std::string calibrationSvg(std::span<const CalibrationBin> bins, const std::string& title);

}  // namespace lockstep::report
