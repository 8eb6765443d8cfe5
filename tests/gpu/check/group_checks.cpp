#include "tests/gpu/check/group_checks.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/core/error.h"
#include "tests/collective/rank_team.h"

namespace lockstep::test {

namespace {

constexpr std::size_t kCount = 100'000;

// Memory of a rank's card, filled with its number.
class Filled {
public:
    Filled(const Backend& backend, const DeviceChoice& choice, float value)
        : m_device(backend.open(choice)),
          m_buffer(m_device->allocate(kCount * sizeof(float))),
          m_values(kCount, value) {
        stream().copyToDevice(m_buffer.data(), reinterpret_cast<const std::byte*>(m_values.data()), m_buffer.bytes());
    }

    std::byte* data() { return m_buffer.data(); }
    bool holds(float value) {
        stream().copyToHost(reinterpret_cast<std::byte*>(m_values.data()), m_buffer.data(), m_buffer.bytes());
        stream().synchronize();
        return std::ranges::all_of(m_values, [=](float each) { return each == value; });
    }

private:
    Stream& stream() { return m_device->stream(Lane::Compute); }

    std::unique_ptr<Device> m_device;
    Buffer m_buffer;
    std::vector<float> m_values;
};

// Empty for the error of a rank whose group was aborted.
std::string otherThanAborted(const std::exception_ptr& failure) {
    if (!failure) return "nothing";
    try {
        std::rethrow_exception(failure);
    } catch (const EngineError& error) {
        return error.kind() == EngineError::Kind::Aborted ? "" : error.what();
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

std::string sums(const Backend& backend, std::span<const DeviceChoice> ranks) {
    const auto world = static_cast<int>(ranks.size());
    const auto total = static_cast<float>(world * (world + 1) / 2);
    std::vector<int> right(ranks.size());
    RankTeam(backend.makeGroup(ranks)).expect([&](Collective& group) {
        const auto rank = static_cast<std::size_t>(group.rank());
        Filled memory(backend, ranks[rank], static_cast<float>(rank + 1));
        group.wait(group.allReduce(memory.data(), kCount, DType::F32));
        right[rank] = memory.holds(total);
        group.barrier();  // nobody reads memory of another rank any more
    });
    for (std::size_t rank = 0; rank < right.size(); ++rank)
        if (!right[rank]) return "rank " + std::to_string(rank) + " has another sum";
    return {};
}

std::string abortReachesAll(const Backend& backend, std::span<const DeviceChoice> ranks) {
    using Clock = std::chrono::steady_clock;
    const auto last = static_cast<int>(ranks.size()) - 1;
    const auto begin = Clock::now();
    RankTeam team(backend.makeGroup(ranks));
    const auto failures = team.run([&](Collective& group) {
        const auto rank = static_cast<std::size_t>(group.rank());
        Filled memory(backend, ranks[rank], 1);
        if (group.rank() == last) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            group.abort({last, "device", "gpu_check", "it gave up"});
        }
        group.wait(group.allReduce(memory.data(), kCount, DType::F32));
        memory.holds(1);
    });
    for (int rank = 0; rank <= last; ++rank) {
        const std::string other = otherThanAborted(failures[static_cast<std::size_t>(rank)]);
        if (!other.empty()) return "rank " + std::to_string(rank) + " was told: " + other;
        if (team[rank].abortCause().rank != last) return "rank " + std::to_string(rank) + " blames another";
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return seconds < 20 ? "" : "it took " + std::to_string(seconds) + " s";
}

}  // namespace lockstep::test
