#include "engine/report/svg_chart.h"

#include <algorithm>
#include <cmath>

#include "engine/core/number_text.h"
#include "engine/report/markup.h"
#include "engine/report/svg_parts.h"

namespace lockstep::report {

namespace {

using svg::Anchor, svg::attribute, svg::axesOf, svg::kLeft, svg::kLetter, svg::kTitleHeight, svg::kUnder;
using svg::lineFrom, svg::number, svg::picture, svg::Plot, svg::polylines, svg::rectangle, svg::textAt, svg::turned;

constexpr double kWidth = 660, kRight = 18, kPlotHeight = 190, kLegendRow = 18;
constexpr int kColumns = 460, kSmoothColumns = 150, kYTicks = 6, kXTicks = 8;
constexpr std::size_t kNameLength = 36, kClassLength = 16, kMarkedPoints = 60, kColours = 6;
constexpr double kLargest = 1e150;

constexpr const char* kDashes[] = {"", "7 3", "2 3", "9 3 2 3", "4 2", "1 2"};

bool isDrawable(double value) { return std::isfinite(value) && std::abs(value) < kLargest; }

struct Range {
    double low = 0, high = 0;
    bool any = false;
    void add(double value) {
        low = any ? std::min(low, value) : value;
        high = any ? std::max(high, value) : value;
        any = true;
    }
};

std::string colourOf(std::size_t series) { return "lk-" + std::to_string(series % kColours); }

std::string dashOf(std::size_t series) {
    const std::string dash = kDashes[series / kColours % std::size(kDashes)];
    return dash.empty() ? "" : " stroke-dasharray=\"" + dash + '"';
}

std::string circles(const Plot& plot, std::span<const ChartPoint> points, const std::string& colour) {
    std::string out;
    for (const ChartPoint& point : points) {
        if (!std::isfinite(point.y)) continue;
        out += "<circle class=\"" + colour + '"' + attribute("cx", plot.atX(point.x)) +
               attribute("cy", plot.atY(point.y)) + " r=\"2.8\"/>\n";
    }
    return out;
}

// Some 40 means over the whole of it.
int reachOf(std::size_t points) { return static_cast<int>(points / 80); }

std::string seriesSvg(const Plot& plot, const ChartSeries& series, std::size_t place) {
    const std::string colour = colourOf(place), dash = dashOf(place);
    const std::string line = " class=\"" + colour + '"' + dash;
    const int reach = reachOf(series.points.size());
    if (series.isNoisy && reach > 0) {
        const auto mean = smoothed(series.points, reach);
        return polylines(plot, decimated(series.points, kColumns), " class=\"lk-r " + colour + '"') +
               polylines(plot, decimated(mean, kSmoothColumns), line);
    }
    const bool marked = series.points.size() <= kMarkedPoints && !series.isNoisy;
    const bool alone = series.points.size() == 1;
    return polylines(plot, decimated(series.points, kColumns), line) +
           (marked || alone ? circles(plot, series.points, colour) : "");
}

// In rows from the left; returns how high they are. One series needs none.
double legend(const LineChart& chart, std::string& out) {
    if (chart.series.size() < 2) return 0;
    double x = kLeft, row = 0;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const std::string name = shortened(chart.series[i].name, kNameLength);
        const double width = 30 + kLetter * static_cast<double>(charactersOf(name)) + 14;
        if (x + width > kWidth - kRight && x > kLeft) x = kLeft, ++row;
        const double y = kTitleHeight + row * kLegendRow + 9;
        out += "<polyline class=\"" + colourOf(i) + '"' + dashOf(i) + " points=\"" + number(x) + ',' + number(y - 4) +
               ' ' + number(x + 22) + ',' + number(y - 4) + "\"/>\n" + textAt(x + 28, y, Anchor::Start, name);
        x += width;
    }
    return (row + 1) * kLegendRow;
}

LineChart drawable(LineChart chart) {
    for (ChartSeries& series : chart.series) {
        for (ChartPoint& point : series.points) {
            if (!isDrawable(point.y)) point.y = std::nan("");
        }
        std::erase_if(series.points, [](const ChartPoint& point) { return !isDrawable(point.x); });
    }
    return chart;
}

// What falls to nothing at its end, as a learning rate does, spans decades that nobody wants to see.
bool livesInDecades(const LineChart& chart, const Range& y) {
    std::size_t all = 0, low = 0;
    for (const ChartSeries& series : chart.series) {
        for (const ChartPoint& point : series.points) {
            if (std::isfinite(point.y)) ++all, low += point.y < y.high / 10 ? 1 : 0;
        }
    }
    return !chart.fromZero && !chart.isLinear && spansDecades(y.low, y.high) && 3 * low >= all;
}

Plot plotOf(const LineChart& chart, double top) {
    Range x, y;
    for (const ChartSeries& series : chart.series) {
        for (const ChartPoint& point : series.points) {
            x.add(point.x);
            if (std::isfinite(point.y)) y.add(point.y);
        }
    }
    Plot plot{.left = kLeft, .top = top, .width = kWidth - kLeft - kRight, .height = kPlotHeight};
    if (!y.any) return plot;
    if (chart.fromZero && y.low > 0) y.low = 0;
    if (x.low > 0 && x.low < x.high / 10) x.low = 0;  // updates count from 1
    plot.x = linearScale(x.low, x.high, kXTicks, false);
    std::erase_if(plot.x.ticks, [](double tick) { return tick != std::round(tick); });
    plot.y = livesInDecades(chart, y) ? logScale(y.low, y.high, kYTicks + 2) : linearScale(y.low, y.high, kYTicks);
    return plot;
}

// Strength as steps of a hundredth: small differences are none to the eye.
std::string shade(const char* kind, double strength) {
    return " class=\"" + std::string(kind) + "\" fill-opacity=\"" + formatted("%.2f", strength) + '"';
}

struct Grid {
    double left = 0, top = 0, cell = 0;
    std::int64_t classes = 0;
};

std::string cellSvg(const Grid& grid, const ConfusionMatrix& matrix, std::int64_t row, std::int64_t column) {
    const std::int64_t count = matrix.at(row, column), whole = matrix.ofClass(row);
    const double share = whole > 0 ? static_cast<double>(count) / static_cast<double>(whole) : 0;
    const double x = grid.left + grid.cell * static_cast<double>(column),
                 y = grid.top + grid.cell * static_cast<double>(row);
    // Mistakes are rarer and should be seen all the same.
    const double strength = row == column ? 0.12 + 0.88 * share : std::min(1.0, std::sqrt(share) * 1.4);
    std::string out;
    if (count > 0)
        out += rectangle(x + 0.5, y + 0.5, grid.cell - 1, grid.cell - 1,
                         shade(row == column ? "lk-hit" : "lk-miss", strength));
    const std::string digits = std::to_string(count);
    if (count == 0 || kLetter * static_cast<double>(digits.size()) > grid.cell - 3) return out;
    return out + textAt(x + grid.cell / 2, y + grid.cell / 2 + 4, Anchor::Middle, digits,
                        strength > 0.55 ? " class=\"lk-in\"" : " class=\"lk-c\"");
}

std::string gridLabels(const Grid& grid, std::span<const std::string> classes) {
    std::string out;
    const double size = grid.cell * static_cast<double>(grid.classes);
    for (std::int64_t i = 0; i < grid.classes; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const std::string name = shortened(at < classes.size() ? classes[at] : std::to_string(i), kClassLength);
        const double middle = grid.cell * (static_cast<double>(i) + 0.5);
        out += textAt(grid.left - 8, grid.top + middle + 4, Anchor::End, name);
        const double x = grid.left + middle + 4, y = grid.top + size + 14;
        out += textAt(x, y, Anchor::End, name, turned(-40, x, y));
    }
    return out + rectangle(grid.left, grid.top, size, size, " class=\"lk-a\" fill=\"none\"");
}

std::string binSvg(const Plot& plot, const CalibrationBin& bin, double from, double to, double most) {
    if (bin.samples == 0) return {};
    const double x = plot.atX(from) + 1, width = plot.atX(to) - plot.atX(from) - 2;
    const double y = plot.atY(100 * bin.accuracy), bottom = plot.top + plot.height;
    const double strip = 26 * static_cast<double>(bin.samples) / most;
    return rectangle(x, y, width, bottom - y, " class=\"lk-hit\" fill-opacity=\".8\"") +
           rectangle(x, plot.top - 8 - strip, width, strip, " class=\"lk-few\"");
}

}  // namespace

std::string lineChartSvg(const LineChart& given) {
    const LineChart chart = drawable(given);
    std::string body;
    const double top = kTitleHeight + legend(chart, body) + 8;
    const Plot plot = plotOf(chart, top);
    const double height = top + kPlotHeight + kUnder;
    if (plot.y.ticks.empty()) {
        body += textAt(kWidth / 2, top + kPlotHeight / 2, Anchor::Middle, "Not measured.");
        return picture(kWidth, height, chart.title, body);
    }
    body += axesOf(plot, chart.xTitle, chart.yTitle);
    for (std::size_t i = 0; i < chart.series.size(); ++i) body += seriesSvg(plot, chart.series[i], i);
    return picture(kWidth, height, chart.title, body);
}

std::string confusionSvg(const ConfusionMatrix& matrix, std::span<const std::string> classes,
                         const std::string& title) {
    std::size_t letters = 0;
    for (const std::string& each : classes) letters = std::max(letters, std::min(charactersOf(each), kClassLength));
    const double labels = kLetter * static_cast<double>(letters) + 12;
    const auto count = static_cast<double>(matrix.classes());
    const Grid grid{labels + 34, 44, std::clamp(440 / count, 24.0, 44.0), matrix.classes()};
    const double size = grid.cell * count, bottom = grid.top + size + 0.68 * labels + 14;
    std::string body = gridLabels(grid, classes);
    for (std::int64_t row = 0; row < grid.classes; ++row) {
        for (std::int64_t column = 0; column < grid.classes; ++column) body += cellSvg(grid, matrix, row, column);
    }
    const double middle = grid.top + size / 2;
    body += textAt(grid.left + size / 2, bottom + 10, Anchor::Middle, "taken for");
    body += textAt(20, middle, Anchor::Middle, "true class", turned(-90, 20, middle));
    return picture(std::max(grid.left + size + 24, 60 + kLetter * 1.3 * static_cast<double>(charactersOf(title))),
                   bottom + 24, title, body);
}

std::string calibrationSvg(std::span<const CalibrationBin> bins, const std::string& title) {
    Plot plot{.left = kLeft, .top = 84, .width = 300, .height = 220};
    plot.x = plot.y = linearScale(0, 100, 6);
    double most = 1;
    for (const CalibrationBin& bin : bins) most = std::max(most, static_cast<double>(bin.samples));
    std::string body = axesOf(plot, "confidence of the answer (%)", "right answers (%)");
    const auto count = static_cast<double>(bins.size());
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const auto at = static_cast<double>(i);
        body += binSvg(plot, bins[i], 100 * at / count, 100 * (at + 1) / count, most);
    }
    body += "<polyline class=\"lk-1\" stroke-dasharray=\"5 4\" points=\"" + number(plot.atX(0)) + ',' +
            number(plot.atY(0)) + ' ' + number(plot.atX(100)) + ',' + number(plot.atY(100)) + "\"/>\n";
    body += textAt(plot.left + plot.width + 10, plot.top - 22, Anchor::Start, "how many answers");
    body += textAt(plot.left + plot.width + 10, plot.atY(100) + 4, Anchor::Start, "calibrated");
    return picture(plot.left + plot.width + 120, plot.top + plot.height + kUnder, title, body);
}

}  // namespace lockstep::report
