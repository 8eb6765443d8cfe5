#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace lockstep {

// Whether a rank waits for its data, for who watches over ranks: see RankTask::awaitedData().
class DataWait {
public:
    // Takes a batch by `next`, on the rank's thread. One that fails ends the rank.
    template <class Next>
    auto during(Next&& next) {
        m_batches.fetch_add(1);
        auto batch = std::forward<Next>(next)();
        m_batches.fetch_add(1);
        return batch;
    }

    std::optional<std::uint64_t> awaited() const noexcept {  // any thread
        const std::uint64_t batches = m_batches.load();
        return batches % 2 == 1 ? std::optional(batches) : std::nullopt;
    }

private:
    std::atomic<std::uint64_t> m_batches{0};  // twice those that came; odd: waits for one
};

}  // namespace lockstep
