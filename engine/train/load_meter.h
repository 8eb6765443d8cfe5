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

    // A rank that has come last by more than a tenth of the time of an update for at least six seconds and 150 updates;
    // once, until it has kept up for as long or another took its place. One that comes and goes is named again when
    // what it has cost has doubled. `step` goes into the event.
    std::optional<StragglerFound> straggler(std::int64_t step);
    // Seconds for which each rank kept the others waiting while it was a straggler; empty: none was.
    std::vector<double> heldUp() const;

    // Shares in proportion to the samples per second that each rank computed; empty before twenty updates are known, or
    // where a rank had no samples to be measured by.
    std::vector<double> balancedShares() const;
    // Balancing is worth while: those shares are known, and the slowest would be faster by more than 5 %.
    bool wantsBalance() const;

private:
    bool isKnown() const { return m_updates >= 20; }
    double windowSeconds() const;
    StragglerFound find() const;
    bool isNews(const StragglerFound& found, double lost);

    std::vector<std::int64_t> m_shares;
    bool m_balances;
    std::vector<RankLoad> m_sums, m_window;  // since the beginning, and since the last look; over updates
    std::int64_t m_updates = 0, m_inWindow = 0;
    int m_straggler = -1, m_seen = -1;     // who is one, and who looked like one at the last look; -1: nobody
    int m_looks = 0;                       // that saw m_seen, in a row
    double m_lost = 0;                     // in them, in seconds, not yet in m_heldUp
    bool m_isUntold = false;               // m_straggler has become one since it was last named
    std::vector<double> m_heldUp, m_told;  // seconds by rank: so far, and when it was last named
};

}  // namespace lockstep
