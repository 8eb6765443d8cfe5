#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace lockstep::ui {

enum class CurveAxis { Step, Seconds, DeviceSeconds };

// How far the edge of a pixel column may be from where it is, as a part of the column's points: the coarser, the fewer
// of them are looked at.
enum class Sharpness : std::size_t { Full = 60, Band = 8, Coarse = 1 };

// Finds the smallest and the largest finite value of any stretch of a growing row of numbers: 8-ary levels of
// completed nodes above it. push: O(1) amortised. extremes: O(log n).
class MinMaxPyramid {
public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    // Where they are, and what: looking the values up again would miss the cache. Those of nothing lose every
    // comparison.
    struct Extremes {
        std::uint32_t lowAt = kNone, highAt = kNone;
        double low = std::numeric_limits<double>::infinity(), high = -low;

        bool none() const { return lowAt == kNone; }
        void merge(const Extremes& later) {
            if (later.low < low) low = later.low, lowAt = later.lowAt;
            if (later.high > high) high = later.high, highAt = later.highAt;
        }
    };

    void push(double value);
    std::size_t size() const { return m_values.size(); }
    double value(std::size_t i) const { return m_values[i]; }
    Extremes extremes(std::size_t begin, std::size_t end) const;  // of [begin, end); the first of equals
    // The width of a node that is less than `points` divided by `parts`, 1 at least: a stretch that ends at a multiple
    // of it is read without its smallest parts, which are many and far apart in memory.
    static std::size_t wholeNodes(std::size_t points, std::size_t parts) {
        std::size_t width = 1;
        while (width * kFanOut * parts < points) width *= kFanOut;
        return width;
    }

private:
    static constexpr std::size_t kFanOut = 8;
    // Level 0 are the values themselves.
    Extremes node(std::size_t level, std::size_t index) const {
        if (level > 0) return m_levels[level - 1][index];
        const double value = m_values[index];
        const auto at = static_cast<std::uint32_t>(index);
        return std::isfinite(value) ? Extremes{at, at, value, value} : Extremes{};
    }

    std::vector<double> m_values;
    std::vector<std::vector<Extremes>> m_levels;
};

// A measured quantity over a run. Points are appended in the order of time; a step or a time that goes back is drawn at
// the one before it. One thread, or as the owner arranges.
class Curve {
public:
    struct Point {
        double x = 0, y = 0;
    };

    // Where a point was measured. Device seconds: of all devices together; a curve knows those of all points or of
    // none, and then its seconds count for them.
    struct Place {
        double step = 0, seconds = 0, deviceSeconds = 0;
    };

    Curve() : m_x(std::make_shared<Abscissae>()) {}
    void append(double step, double seconds, double value);
    void append(Place place, double value);

    // A quantity measured at the same points as `leader`, whose steps and times it shares; appendValue follows each
    // append of the leader.
    static Curve alongside(const Curve& leader);
    void appendValue(double value) { m_pyramid.push(value); }

    std::size_t size() const { return m_pyramid.size(); }
    bool empty() const { return size() == 0; }
    double x(CurveAxis axis, std::size_t i) const { return column(axis)[i]; }
    double value(std::size_t i) const { return m_pyramid.value(i); }
    // The indices [first, second) of the points within [from, to].
    std::pair<std::size_t, std::size_t> within(CurveAxis axis, double from, double to) const;
    // The extremes among the points within [from, to]: {low, high}; low > high: none.
    std::pair<double, double> extremes(CurveAxis axis, double from, double to) const;
    // Which points stand in which pixel column of a picture of [from, to]: good for all curves that share their steps
    // and times, too.
    struct Columns {
        struct Part {
            std::size_t begin = 0, end = 0;
            double first = 0, last = 0;  // x
        };
        std::size_t begin = 0, end = 0;
        std::vector<Part> parts = {};  // empty: there are at most two points a column
    };
    Columns columns(CurveAxis axis, double from, double to, int columns, Sharpness sharpness = Sharpness::Full) const;
    // What that picture needs: the points and the neighbours just outside or, of more than two points a column, the
    // smallest and the largest value of each, in the order of time, at its first and last x. At most 2 * columns + 2
    // points, whatever the size. Values that are not finite are left out.
    std::vector<Point> sample(CurveAxis axis, const Columns& columns) const;
    std::vector<Point> sample(CurveAxis axis, double from, double to, int count) const {
        return sample(axis, columns(axis, from, to, count));
    }
    // The same of a band's edge: of more than two points a column one, the smallest of the lower edge, the largest of
    // the upper one.
    enum class Edge { Lower, Upper };
    std::vector<Point> sampleEdge(Edge edge, CurveAxis axis, const Columns& columns) const;
    // The point at or before x; size() when there is none.
    std::size_t at(CurveAxis axis, double x) const;

private:
    struct Abscissae {
        std::vector<double> steps, seconds, deviceSeconds;
    };

    const std::vector<double>& column(CurveAxis axis) const {
        if (axis == CurveAxis::Step) return m_x->steps;
        return axis == CurveAxis::Seconds || m_x->deviceSeconds.empty() ? m_x->seconds : m_x->deviceSeconds;
    }
    void addPoint(std::vector<Point>& out, CurveAxis axis, std::size_t i) const;
    template <class Take>
    std::vector<Point> sampled(CurveAxis axis, const Columns& columns, Take&& take) const;

    std::shared_ptr<Abscissae> m_x;  // shared with smoothed twins
    MinMaxPyramid m_pyramid;
};

// The exponential moving average of a curve, debiased as in TensorBoard's vz_line_chart ("resmoothDataset"): weight w
// in [0, 1) counts per step, so a curve recorded every tenth step is smoothed as far as one recorded at each. Values
// that are not finite leave the average as it is.
class SmoothedCurve {
public:
    static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

    // Goes on where it was while curve and weight stay the same, begins anew otherwise; at most `points` points a call,
    // so that long curves take several. Until a new weight has come to the end, the line is the one before; that of a
    // new curve grows.
    const Curve& follow(const std::shared_ptr<const Curve>& raw, double weight, std::size_t points = kAll);
    bool complete() const { return !m_next && m_shown.line.size() == (m_raw ? m_raw->size() : 0); }

private:
    struct Average {
        Curve line;
        double weight = -1, sum = 0, mass = 0, step = 0;
        void add(const Curve& raw, std::size_t i);
    };

    std::shared_ptr<const Curve> m_raw;
    Average m_shown;
    std::optional<Average> m_next;  // of another weight, on its way to the end
};

}  // namespace lockstep::ui
