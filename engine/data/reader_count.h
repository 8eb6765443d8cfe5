#pragma once
#include <cstdint>

namespace lockstep {

// How many readers a loader is worth: it begins with one, and doubles them as long as whoever takes batches waits for
// them and more are taken when there are more. One thread; allocates nothing.
class ReaderCount {
public:
    explicit ReaderCount(int most) : m_most(most > 1 ? most : 1) {}

    // A batch was taken `interval` seconds after the one before it, of which its taker waited so many.
    void add(std::int64_t samples, double interval, double waited);
    int count() const { return m_count; }

private:
    void decide(double rate, double waitShare);

    int m_most, m_count = 1, m_before = 0;  // m_before: what m_count is tried instead of; 0: nothing is tried
    double m_rateBefore = 0;
    bool m_isFinal = false;
    std::int64_t m_batches = 0, m_samples = 0;  // since the last look, the first few left out
    double m_seconds = 0, m_waited = 0;
};

}  // namespace lockstep
