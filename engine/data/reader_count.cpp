#include "engine/data/reader_count.h"

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

constexpr std::int64_t kLeftOut = 3, kBatches = 8;  // of a look: batches made before, and at least so many behind them
constexpr double kSeconds = 0.5;
constexpr double kWorthTrying = 0.05;   // of the time is waited
constexpr double kWorthKeeping = 1.05;  // times the rate of before

}  // namespace

void ReaderCount::add(std::int64_t samples, double interval, double waited) {
    if (m_isFinal || m_count > m_most || ++m_batches <= kLeftOut) return;
    m_samples += samples;
    m_seconds += interval;
    m_waited += waited;
    if (m_batches < kLeftOut + kBatches || m_seconds < kSeconds) return;
    decide(static_cast<double>(m_samples) / m_seconds, m_waited / m_seconds);
    m_batches = m_samples = 0;
    m_seconds = m_waited = 0;
}

void ReaderCount::decide(double rate, double waitShare) {
    const int before = std::exchange(m_before, 0);
    if (before > 0 && rate < kWorthKeeping * m_rateBefore) {
        m_count = before;
        m_isFinal = true;
    } else if (waitShare > kWorthTrying && m_count < m_most) {
        m_before = m_count;
        m_rateBefore = rate;
        m_count = std::min(2 * m_count, m_most);
    }
}

}  // namespace lockstep
