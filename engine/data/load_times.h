#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace lockstep {

// What making a batch consists of: reading bytes, decoding them, scaling pictures to images, augmenting these.
enum class LoadPart { Read, Decode, Scale, Augment };
inline constexpr std::size_t kLoadParts = 4;

// What loaders' threads spent on it, together; for whoever measures. Any thread.
struct LoadTimes {
    std::array<std::atomic<std::int64_t>, kLoadParts> nanoseconds{};
    std::atomic<std::int64_t> bytesRead{0};

    double seconds(LoadPart part) const {
        return 1e-9 * static_cast<double>(nanoseconds[static_cast<std::size_t>(part)]);
    }
};

// Where this thread counts; null, as usual: nobody measures.
inline thread_local LoadTimes* currentLoadTimes = nullptr;

inline void countBytesRead(std::size_t bytes) {
    if (currentLoadTimes) currentLoadTimes->bytesRead += static_cast<std::int64_t>(bytes);
}

// Counts what passes until its end to the part, where somebody measures.
class LoadTimer {
public:
    explicit LoadTimer(LoadPart part) : m_part(part) {
        if (currentLoadTimes) m_begin = Clock::now();
    }
    LoadTimer(const LoadTimer&) = delete;
    LoadTimer& operator=(const LoadTimer&) = delete;
    ~LoadTimer() {
        if (!currentLoadTimes) return;
        const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - m_begin);
        currentLoadTimes->nanoseconds[static_cast<std::size_t>(m_part)] += passed.count();
    }

private:
    using Clock = std::chrono::steady_clock;
    LoadPart m_part;
    Clock::time_point m_begin{};
};

// What `work` gives, its time counted to the part.
template <class Work>
auto timed(LoadPart part, Work&& work) {
    const LoadTimer timer(part);
    return work();
}

}  // namespace lockstep
