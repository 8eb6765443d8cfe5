#include "datasets/reading.h"

namespace lockstep {

void Reading::goOn() const {
    if (isCancelled()) throw ProblemError({m_path.string(), "dataset.cancelled", {}});
}

void Reading::describe(const DatasetInfo& info) const {
    if (m_watch.described) m_watch.described(info);
}

void Reading::makes(std::uint64_t bytes) const {
    if (m_watch.makes) m_watch.makes(bytes);
}

void Reading::list(std::int64_t files) const {
    constexpr std::int64_t kMany = 1000;  // between two looks at the clock
    const std::int64_t before = m_listed;
    m_listed += files;
    if (m_listed / kMany > before / kMany && isTime()) m_watch.progress(m_listed, 0);
}

void Reading::match(std::int64_t done, std::int64_t total) const {
    constexpr std::int64_t kMany = 1000;  // between two looks at the clock
    goOn();
    if (done % kMany == 0 && isTime()) m_watch.progress(done, total);
}

void Reading::advance(std::int64_t done) {
    goOn();
    if (isTime()) m_watch.progress(done, m_total);
}

bool Reading::isTime() const {
    const auto now = std::chrono::steady_clock::now();
    if (!m_watch.progress || now - m_told < std::chrono::milliseconds(100)) return false;
    m_told = now;
    return true;
}

}  // namespace lockstep
