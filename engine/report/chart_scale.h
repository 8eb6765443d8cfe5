#pragma once
#include <span>
#include <string>
#include <vector>

namespace lockstep::report {

// An axis: which stretch of numbers it shows, and where its ticks are.
struct ChartScale {
    double low = 0, high = 1;  // low < high; both above 0 where it is logarithmic
    bool isLog = false;
    std::vector<double> ticks;  // ascending, within [low, high]

    double place(double value) const;  // 0 at low, 1 at high
};

// At most `most` ticks, three or more, at multiples of 1, 2 or 5 times a power of ten: Heckbert, "Nice Numbers for
// Graph Labels", Graphics Gems (1990). `rounds`: the axis ends at ticks, beyond the numbers given. Equal numbers get
// room on both sides. Numbers are finite, and smaller than 1e150.
ChartScale linearScale(double low, double high, int most, bool rounds = true);
// Ticks at powers of ten, or at 1, 2 and 5 times them where that leaves too few. Both numbers are above 0, and
// `most` is 3 or more.
ChartScale logScale(double low, double high, int most);
bool spansDecades(double low, double high);  // two or more, all of it above 0

// The number at a tick with as many digits as tell it from the next: "0.25", "20k", "1.5M", "1e-5".
std::string tickText(const ChartScale& scale, double tick);

struct ChartPoint {
    double x = 0, y = 0;
    bool operator==(const ChartPoint&) const = default;
};
// What is left to draw of points with ascending x where only so many columns can be told apart: of each column its
// lowest and its highest point, in their order; the first and the last of all. A point whose y is no number ends a line
// and is kept, one between two others.
std::vector<ChartPoint> decimated(std::span<const ChartPoint> points, int columns);

// Means over a window that reaches `reach` points to either side, as far as there are points; what is no number is left
// out of them and stays.
std::vector<ChartPoint> smoothed(std::span<const ChartPoint> points, int reach);

}  // namespace lockstep::report
