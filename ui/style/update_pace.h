#pragma once
#include <array>
#include <chrono>
#include <cstddef>

namespace lockstep::ui {

// How often a view that follows a run may be brought up to date. The window shares the cores with the training that it
// shows, so it asks for a small part of the machine and no more: the dearer its updates, the rarer they are. One
// thread.
class UpdatePace {
public:
    using Seconds = std::chrono::duration<double>;
    static constexpr std::chrono::milliseconds kShortest{34}, kLongest{1000};

    // `share`: of one core's time.
    explicit UpdatePace(double share = shareOfThisMachine()) : m_share(share) {}

    // Call at each update with the processor time that the process has used so far; the interval to the next one.
    std::chrono::milliseconds next(Seconds used);
    std::chrono::milliseconds next() { return next(usedByProcess()); }

    static Seconds usedByProcess();
    static double shareOfThisMachine();

private:
    double m_share;
    std::array<Seconds, 5> m_costs{};  // of the last updates, in a ring; their median counts
    std::size_t m_updates = 0;
    Seconds m_usedBefore{0};
};

}  // namespace lockstep::ui
