#pragma once
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

// What benchmarks of the window say of times.
namespace lockstep::test {

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point then) {
    return std::chrono::duration<double, std::milli>(Clock::now() - then).count();
}

// Of the processor, that this thread has used: what a frame takes where nobody else wants it.
inline double threadMilliseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

inline void report(const char* what, std::vector<double> milliseconds) {
    std::sort(milliseconds.begin(), milliseconds.end());
    const auto part = [&](double share) {
        return milliseconds[static_cast<std::size_t>(share * static_cast<double>(milliseconds.size() - 1))];
    };
    std::printf("%s: median %.2f ms, p95 %.2f ms, p99 %.2f ms, longest %.2f ms (%zu)\n", what, part(0.5), part(0.95),
                part(0.99), milliseconds.back(), milliseconds.size());
}

}  // namespace lockstep::test
