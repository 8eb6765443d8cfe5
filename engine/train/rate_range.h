#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/core/result.h"

namespace lockstep {

// The learning-rate range test (Smith, "Cyclical Learning Rates for Training Neural Networks", WACV 2017): one run
// whose rate grows from update to update, so that its loss shows which rates teach and which spoil. Plain arithmetic.

// Rates that grow by the same factor from one update to the next.
struct RateRange {
    static constexpr double kLeast = 1e-12, kMost = 1e6;  // of both ends
    double from = 1e-6, to = 10;
    std::int64_t steps = 100;              // at least 2
    double at(std::int64_t update) const;  // from 0; beyond the last it goes on growing
};

// Why no run can have these rates: "rate.outside" of an end that is none, "rate.range" where they would not grow. The
// fields are the options, "--from" and "--to".
std::optional<Problem> problemOf(const RateRange& range);

struct RatePoint {
    double rate = 0, loss = 0, smoothed = 0;
};

// Takes the losses in order. They are smoothed exponentially, with the bias of the beginning corrected (Kingma & Ba,
// arXiv 1412.6980, section 3), over about a tenth of the range.
class RateTest {
public:
    explicit RateTest(const RateRange& range) : m_range(range) {}

    void add(double loss);  // of the next update; nothing once the test is over
    bool isOver() const { return m_blewUp || std::ssize(m_points) == m_range.steps; }
    const std::vector<RatePoint>& points() const { return m_points; }

    // The rate whose smoothed loss is above kBlownUp times the best so far, or not finite; empty: none was.
    std::optional<double> blewUpAt() const;
    const RatePoint* lowest() const;  // of the smoothed losses; null: none is finite

    // Where the smoothed loss falls most steeply over log(rate), between the beginning, where it is of few losses, and
    // its lowest. Empty: it falls by less than kLeastFall of itself.
    std::optional<double> steepest() const;

    static constexpr double kBlownUp = 4, kLeastFall = 0.05;

private:
    std::int64_t remembered() const;  // updates
    double slopeAt(std::size_t at) const;

    RateRange m_range;
    std::vector<RatePoint> m_points;
    double m_average = 0;  // not corrected
    double m_best = std::numeric_limits<double>::infinity();
    bool m_blewUp = false;
};

}  // namespace lockstep
