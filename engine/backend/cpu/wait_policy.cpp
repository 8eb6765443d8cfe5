#include "engine/backend/cpu/wait_policy.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <semaphore>

#include <omp.h>

namespace lockstep::cpu {

namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(50);
constexpr double kRemembers = 0.5;                // seconds
constexpr double kBusyFrom = 0.5, kBusyTo = 0.4;  // cores: up to there waiting awake trains faster, from there asleep
constexpr double kWakeUp = 5e-6;                  // seconds

// GCC's manual, GOMP_SPINCOUNT: "when there are more OpenMP threads than available CPUs, 1000 and 100 spins are used".
// While one of these lives there are: a team of its own that has nothing to do, and sleeps.
class IdleTeam {
public:
    IdleTeam() : m_thread([this] { hold(); }) { m_ready.acquire(); }
    ~IdleTeam() { m_end.release(); }
    IdleTeam(const IdleTeam&) = delete;
    IdleTeam& operator=(const IdleTeam&) = delete;

private:
    void hold() {
        std::atomic<int> members = 0;  // a region with nothing in it would be left out
#pragma omp parallel num_threads(omp_get_num_procs() + 1)
        ++members;
        m_ready.release();
        m_end.acquire();
    }

    std::binary_semaphore m_ready{0}, m_end{0};
    std::jthread m_thread;
};

bool isSetByUser() { return std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT"); }

}  // namespace

std::optional<double> secondsWithoutCore() {
    double seconds = 0;
    bool found = false;
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::ifstream file(task.path() / "schedstat");  // ns on a core, ns without one, how often it got one
        double on = 0, without = 0, times = 0;
        if (!(file >> on >> without >> times)) continue;  // the thread has just ended
        seconds += without / 1e9 - times * kWakeUp;
        found = true;
    }
    return found ? std::optional(seconds) : std::nullopt;
}

bool Contention::busyAfter(double starved, double seconds) {
    if (seconds <= 0) return m_busy;
    m_missing += (std::max(0., starved / seconds) - m_missing) * -std::expm1(-seconds / kRemembers);
    m_busy = m_missing > (m_busy ? kBusyTo : kBusyFrom);
    return m_busy;
}

std::shared_ptr<WaitPolicy> WaitPolicy::shared() {
    static std::mutex mutex;
    static std::weak_ptr<WaitPolicy> known;
    const std::lock_guard lock(mutex);
    auto policy = known.lock();
    if (!policy) known = policy = std::shared_ptr<WaitPolicy>(new WaitPolicy);
    return policy;
}

WaitPolicy::WaitPolicy() {
    if (isSetByUser() || !secondsWithoutCore()) return;
    m_watcher = std::jthread(watch);
}

void WaitPolicy::watch(const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    Contention contention;
    std::optional<IdleTeam> team;
    double without = secondsWithoutCore().value_or(0);
    auto at = Clock::now();
    while (!stopped.wait_for(lock, stop, kLookEvery, [&] { return stop.stop_requested(); })) {
        const double nowWithout = secondsWithoutCore().value_or(without);
        const auto now = Clock::now();
        // A thread that has ended takes what it waited along: then there is less than before.
        const bool busy = contention.busyAfter(nowWithout - without, std::chrono::duration<double>(now - at).count());
        if (busy && !team) team.emplace();
        if (!busy) team.reset();
        without = nowWithout;
        at = now;
    }
}

}  // namespace lockstep::cpu
