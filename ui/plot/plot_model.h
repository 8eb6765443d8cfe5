#pragma once
#include <QByteArray>
#include <QString>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ui/plot/curve.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

// Around a curve, at its own steps and times (Curve::alongside), as mean ± deviation.
struct PlotBand {
    std::shared_ptr<const Curve> low, high;
    QString meaning = {};  // of half its width, behind a "±": "standard deviation of 3 seeds"
};

struct PlotSeries {
    QString name;
    std::shared_ptr<const Curve> curve;
    std::int64_t color = 0;  // seriesColor; of lines behind below 0: none of its own
    Marker marker = Marker::Circle;
    double stepsPerEpoch = 0;  // 0: unknown, epochs then count steps
    bool smoothed = true;      // whether smoothing makes sense of it
    bool dashed = false;       // a second curve of the same thing: train beside test
    std::optional<PlotBand> band = std::nullopt;
    bool faint = false;         // stands behind another, as what was measured does behind what is smoothed
    double samplesPerStep = 0;  // 0: unknown, samples then count steps
    std::shared_ptr<const Curve> measured = nullptr;  // where `curve` has means of stretches: their extremes
    bool endsOpen = false;                            // it was cut short: a ring at its end
    std::int64_t key = 0;                             // what it is to whoever made it
};

// Times: seconds; Log: steps are decimal logarithms of what is meant.
enum class PlotAxis { Step, Epoch, Time, Samples, DeviceTime, Log };
struct PlotMoment {
    enum class Tone { Notable, Good, Bad };
    double step = 0, seconds = 0;
    QString name = {};  // stands beside its line, and comes in the summary; empty: none
    Tone tone = Tone::Notable;
};
struct PlotRange {
    double low = 0, high = 1;
    double size() const { return high - low; }
};

// What a plot of curves shows, in the units of its axes; no window. One thread.
class PlotModel {
public:
    // Keeps what is hidden (by name) and the smoothing done so far of curves that stay.
    void setSeries(std::vector<PlotSeries> series);
    const std::vector<PlotSeries>& series() const { return m_series; }
    // Lines behind the series, as many as there are: with no legend, no smoothing, no marker.
    void setBehind(std::vector<PlotSeries> lines) { m_behind = std::move(lines); }
    const std::vector<PlotSeries>& behind() const { return m_behind; }
    void setHidden(std::size_t index, bool hidden) { m_state[index].hidden = hidden; }
    bool hidden(std::size_t index) const { return m_state[index].hidden; }
    void setSmoothing(double weight) { m_smoothing = weight; }  // 0 … 1, excluding 1
    void setAxis(PlotAxis axis) { m_axis = axis; }
    PlotAxis axis() const { return m_axis; }
    void setLog(bool log) { m_log = log; }  // the values' axis
    bool log() const { return m_log; }
    bool empty() const;  // no shown curve has a point

    double along(const PlotMoment& moment) const;  // its place on the axis; epochs as of the first curve
    PlotRange fitX() const;                        // of all shown curves
    // Of what is shown within x, with some air; of the lines behind as far as most of them reach.
    PlotRange fitY(PlotRange x);
    // The same stretch scaled about `center` (< 1 comes nearer); in decades on a logarithmic axis.
    static PlotRange zoomed(PlotRange range, double center, double factor, bool log);

    struct Drawing {
        std::vector<Curve::Point> ghost, line, markers;  // ghost: as measured; empty where nothing is smoothed
        std::vector<Curve::Point> low, high;             // of the band
        std::vector<Curve::Point> end;                   // where it ends openly, if that is within x
    };
    // Hidden: nothing. Coarse: about as much, in less time, and without markers.
    Drawing draw(std::size_t index, PlotRange x, int columns, Sharpness sharpness = Sharpness::Full);
    // Whether draw would say something else than it did the last time: then only is it worth asking.
    bool changed(std::size_t index, PlotRange x, int columns) const;
    bool smoothing() const;  // a long curve is smoothed over several drawings; draw again
    // Of a line that is none of the series: as it was measured.
    std::vector<Curve::Point> drawLine(const PlotSeries& line, PlotRange x, int columns) const;
    std::optional<Curve::Point> endOf(const PlotSeries& line) const;  // its last point; empty: it has none to be shown

    // Where a line runs at x, straight between its points; beyond its ends at the nearer one. Empty: it has no points.
    std::optional<Curve::Point> onLine(const PlotSeries& line, double x) const;

    // The values of the shown curves at x, or just before.
    struct Reading {
        std::size_t series = 0;
        double x = 0, value = 0, raw = 0;
        std::optional<double> deviation = std::nullopt;  // half the band
    };
    std::vector<Reading> readings(double x);
    // The `count` of them whose values are nearest to y, in their order.
    static std::vector<Reading> nearest(std::vector<Reading> readings, double y, std::size_t count);
    struct Newest {
        double value = 0;
        std::optional<double> deviation = std::nullopt;
    };
    std::optional<Newest> last(std::size_t index) const;  // newest finite value, as measured

    // series,step,seconds,value,smoothed (and low,high where there are bands): shown curves within x. On a logarithmic
    // axis: series,x,value.
    QByteArray csv(PlotRange x);
    // For people who hear it: each shown curve with its number of points, its ends and its extremes.
    QString summary(const std::function<QString(double)>& format) const;

private:
    // Everything that a drawing depends on.
    struct Drawn {
        std::shared_ptr<const Curve> curve;
        std::size_t points = 0;
        double low = 0, high = 0, weight = 0, scale = 0;
        int columns = 0;
        PlotAxis axis = PlotAxis::Step;
        bool log = false, hidden = false, complete = true;
        bool operator==(const Drawn&) const = default;
    };
    struct State {
        bool hidden = false;
        SmoothedCurve smooth;
        Drawn drawn;
    };

    CurveAxis curveAxis() const;
    double scaleOf(const PlotSeries& series) const;  // curve units in one unit of the axis
    bool isSmoothed(std::size_t index) const { return m_smoothing > 0 && m_series[index].smoothed; }
    const Curve& lineOf(std::size_t index, std::size_t points);
    Drawn key(std::size_t index, PlotRange x, int columns) const;
    QByteArray csvOfLog(PlotRange x) const;
    void drawBand(Drawing& out, const PlotBand& band, double scale, const Curve::Columns& columns) const;
    std::vector<Curve::Point> sampled(const Curve& curve, double scale, const Curve::Columns& columns) const;
    std::vector<PlotRange> reachesBehind(PlotRange x) const;

    std::vector<PlotSeries> m_series, m_behind;
    std::vector<State> m_state;
    double m_smoothing = 0;
    PlotAxis m_axis = PlotAxis::Step;
    bool m_log = false;
};

}  // namespace lockstep::ui
