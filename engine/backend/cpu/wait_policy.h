#pragma once
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

// How the threads of a team wait for each other. Looking again and again (libgomp's way for some milliseconds) is
// quickest while every thread has a core. On a machine that others use, too, it keeps the very thread that is waited
// for off its core, and each of thousands of parallel regions lasts a time slice: three trials on two cores then train
// at a fiftieth of their share. Sleeping at once costs a wake-up per region, which in a virtual machine is a quarter to
// a third of a small network's speed. So the process looks how long its threads wait for cores, and chooses: what a
// window or a loader takes now and then is less than the wake-ups, a process that never rests is more.
namespace lockstep::cpu {

// Decides from what share of the time threads that could run had no core. Pure; see the tests for what it does.
class Contention {
public:
    // `starved`: seconds that the process's threads have waited for cores, all together, within `seconds`.
    // Returns whether the machine counts as busy from now on: while half a core was missing in about the last half
    // second, and then until less than two fifths are.
    bool busyAfter(double starved, double seconds);

private:
    bool m_busy = false;
    double m_missing = 0;  // cores, a mean in which what is long ago counts for less
};

// While one lives, libgomp's waits in this process are short on a busy machine and as they are on an idle one. Owns a
// thread. Nothing happens where the environment sets OMP_WAIT_POLICY or GOMP_SPINCOUNT, or where the system does not
// say how long threads wait for cores (Linux: /proc/self/task/*/schedstat).
class WaitPolicy {
public:
    static std::shared_ptr<WaitPolicy> shared();  // one for all devices of the process; any thread
    WaitPolicy(const WaitPolicy&) = delete;
    WaitPolicy& operator=(const WaitPolicy&) = delete;

private:
    WaitPolicy();
    static void watch(const std::stop_token& stop);

    std::jthread m_watcher;
};

// Seconds that this process's threads have waited for cores since each began, but for what a wake-up takes on a core
// that is free: of use as a difference. None: the system does not say.
std::optional<double> secondsWithoutCore();

}  // namespace lockstep::cpu
