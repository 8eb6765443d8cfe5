#pragma once
#include <cstdint>

namespace lockstep {

// How long the thread that made it has waited for a core, being able to run. From the scheduler's statistics of Linux
// (Documentation/scheduler/sched-stats.rst); where the kernel keeps none, always 0. For its thread alone.
class CoreWait {
public:
    CoreWait();
    CoreWait(const CoreWait&) = delete;
    CoreWait& operator=(const CoreWait&) = delete;
    ~CoreWait();

    std::int64_t nanoseconds() const;  // since the thread began

private:
    int m_file;
};

}  // namespace lockstep
