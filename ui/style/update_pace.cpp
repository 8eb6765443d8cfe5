#include "ui/style/update_pace.h"

#include <time.h>

#include <algorithm>
#include <thread>

namespace lockstep::ui {

namespace {

constexpr double kPartOfMachine = 0.005;  // devices in lockstep wait for the one that the window disturbs

}  // namespace

// The median: opening a page, or reading a history, is no update.
std::chrono::milliseconds UpdatePace::next(Seconds used) {
    if (m_updates++ > 0) m_costs[m_updates % m_costs.size()] = used - m_usedBefore;
    m_usedBefore = used;
    auto sorted = m_costs;
    std::sort(sorted.begin(), sorted.end());
    const auto wanted = std::chrono::round<std::chrono::milliseconds>(sorted[sorted.size() / 2] / m_share);
    return std::clamp(wanted, kShortest, kLongest);
}

UpdatePace::Seconds UpdatePace::usedByProcess() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

double UpdatePace::shareOfThisMachine() { return kPartOfMachine * std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace lockstep::ui
