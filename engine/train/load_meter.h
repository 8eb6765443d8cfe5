#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/spec/rank_load.h"
#include "engine/spec/train_event.h"

namespace lockstep {

// Watches how ranks share the work: tells who keeps the others waiting, and which shares would have all come at the
// same time. One thread. add() allocates nothing.
class LoadMeter {
public:
    // `shares`: samples of a full batch, by rank. `balances`: wantsBalance() may ever be true.
    explicit LoadMeter(std::vector<std::int64_t> shares, bool balances = false);

    void add(std::span<const RankLoad> loads);

    // Every fifty updates at most: the rank that came last by more than a tenth of the time of an update, if it is
    // another one, or for another cause, than it was last time. `step` goes into the event.
    std::optional<StragglerFound> straggler(std::int64_t step);

    // Shares in proportion to the samples per second that each rank computed; empty before twenty updates are known, or
    // where a rank had no samples to be measured by.
    std::vector<double> balancedShares() const;
    // Balancing is worth while: those shares are known, and the slowest would be faster by more than 5 %.
    bool wantsBalance() const;

private:
    bool isKnown() const { return m_updates >= 20; }
    StragglerFound find() const;

    std::vector<std::int64_t> m_shares;
    bool m_balances;
    std::vector<RankLoad> m_sums, m_window;  // since the beginning, and since the last look; over updates
    std::int64_t m_updates = 0, m_inWindow = 0;
    int m_rank = -1;  // the straggler of the last look, and why
    std::string m_cause;
};

}  // namespace lockstep
