#pragma once
#include <cstdint>
#include <ctime>

namespace lockstep {

// A file's time as the index keeps it.
inline std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace lockstep
