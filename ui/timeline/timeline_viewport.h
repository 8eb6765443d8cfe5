#pragma once
#include <vector>

#include "ui/timeline/span_track.h"

namespace lockstep::ui {

// Which time lies at which pixel. Plain arithmetic; times in nanoseconds, x from the left edge in device-independent
// pixels. The range stays near the data and is never shorter than kShortest.
class TimelineViewport {
public:
    static constexpr std::int64_t kShortest = 1'000;

    void setWidth(double pixels);
    void setData(TimeRange data);  // what is followed or fitted stays so
    TimeRange data() const { return m_data; }
    TimeRange range() const { return m_range; }
    double width() const { return m_width; }
    std::int64_t pixel() const;  // nanoseconds, at least 1
    double xOf(std::int64_t time) const;
    std::int64_t timeAt(double x) const;

    void show(TimeRange range);            // ends following, as all below
    void fit();                            // stays so until another of these is called
    void zoomAt(double x, double factor);  // factor < 1: closer; the time at x stays there
    void panBy(double pixels);             // > 0: later times come into view
    void goToBegin();
    void goToEnd();
    void setFollowing(bool on);
    bool following() const { return m_hold == Hold::End; }

private:
    enum class Hold { Nothing, End, All };
    double permitted(double length) const;
    void place(double begin, double length);

    TimeRange m_data{0, kShortest}, m_range{0, kShortest};
    double m_width = 1;
    Hold m_hold = Hold::Nothing;
};

// Multiples of 1, 2 or 5 x 10^n ns from `origin` on within the range, at most `most`; `spacing` gets their distance.
std::vector<std::int64_t> axisTicks(TimeRange range, std::int64_t origin, std::size_t most, std::int64_t& spacing);

}  // namespace lockstep::ui
