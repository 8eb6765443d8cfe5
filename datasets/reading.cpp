#include "datasets/reading.h"

namespace lockstep {

void Reading::goOn() const {
    if (isCancelled()) throw ProblemError({m_path.string(), "dataset.cancelled", {}});
}

void Reading::describe(const DatasetInfo& info) const {
    if (m_watch.described) m_watch.described(info);
}

void Reading::advance(std::int64_t done) {
    goOn();
    const auto now = std::chrono::steady_clock::now();
    if (!m_watch.progress || now - m_told < std::chrono::milliseconds(100)) return;
    m_told = now;
    m_watch.progress(done, m_total);
}

}  // namespace lockstep
