#pragma once
#include <array>
#include <cstdint>

#include "engine/core/trace.h"

namespace lockstep {

// Steady seconds that can be held still. Starts stopped, at `seconds`.
class Stopwatch {
public:
    explicit Stopwatch(double seconds = 0) : m_spent(seconds) {}
    void start() { m_since = m_since < 0 ? traceNow() : m_since; }
    void stop() {
        m_spent = seconds();
        m_since = -1;
    }
    double seconds() const {
        return m_since < 0 ? m_spent : m_spent + static_cast<double>(traceNow() - m_since) * 1e-9;
    }

private:
    double m_spent;
    std::int64_t m_since = -1;
};

// Samples per second over about the last second of a clock that the caller reads. Memory is fixed.
class RateMeter {
public:
    void add(double seconds, std::int64_t samples) {
        m_samples += samples;
        while (m_count > 1 && seconds - at(1).seconds >= kWindow) ++m_first, --m_count;
        m_rate = rateSince(at(0), seconds);
        if (seconds - at(m_count - 1).seconds < kWindow / (kMarks - 2)) return;
        m_marks[(m_first + m_count) % kMarks] = {seconds, m_samples};
        if (m_count < kMarks) ++m_count;
        else ++m_first;
    }
    double rate() const { return m_rate; }

private:
    static constexpr std::size_t kMarks = 32;
    static constexpr double kWindow = 1.0;
    struct Mark {
        double seconds = 0;
        std::int64_t samples = 0;
    };

    const Mark& at(std::size_t i) const { return m_marks[(m_first + i) % kMarks]; }
    double rateSince(const Mark& mark, double seconds) const {
        return seconds > mark.seconds ? static_cast<double>(m_samples - mark.samples) / (seconds - mark.seconds) : 0;
    }

    std::array<Mark, kMarks> m_marks{};
    std::size_t m_first = 0, m_count = 1;  // the first mark is the start: no time, no samples
    std::int64_t m_samples = 0;
    double m_rate = 0;
};

}  // namespace lockstep
