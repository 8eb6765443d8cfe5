#include "engine/train/load_meter.h"

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

// Between looks: where updates are short, who came last in a few of them is chance.
constexpr std::int64_t kWindow = 50;
constexpr double kWindowSeconds = 2;
constexpr int kLooks = 3;                              // that agree, before anything is said
constexpr double kWorthTelling = 0.1, kEnough = 0.05;  // of an update's time: to become a straggler, to stay one
constexpr double kWorthBalancing = 0.05;

// The largest and the next of `count` values.
struct Lead {
    std::size_t first = 0;
    double by = 0;
};

template <class Value>
Lead leadOf(std::size_t count, const Value& value) {
    Lead lead;
    for (std::size_t i = 1; i < count; ++i) {
        if (value(i) > value(lead.first)) lead.first = i;
    }
    double next = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i != lead.first) next = std::max(next, value(i));
    }
    lead.by = value(lead.first) - next;
    return lead;
}

void addTo(RankLoad& sum, const RankLoad& load) {
    sum.compute += load.compute;
    sum.reduce += load.reduce;
    sum.wait += load.wait;
}

}  // namespace

LoadMeter::LoadMeter(std::vector<std::int64_t> shares, bool balances)
    : m_shares(std::move(shares)),
      m_balances(balances),
      m_sums(m_shares.size()),
      m_window(m_shares.size()),
      m_heldUp(m_shares.size()),
      m_told(m_shares.size()) {}

void LoadMeter::add(std::span<const RankLoad> loads) {
    for (std::size_t rank = 0; rank < m_sums.size(); ++rank) {
        addTo(m_sums[rank], loads[rank]);
        addTo(m_window[rank], loads[rank]);
    }
    ++m_updates;
    ++m_inWindow;
}

std::optional<StragglerFound> LoadMeter::straggler(std::int64_t step) {
    if (m_inWindow < kWindow || m_sums.size() < 2 || windowSeconds() < kWindowSeconds) return std::nullopt;
    StragglerFound found = find();
    found.step = step;
    const double lost = found.seconds * static_cast<double>(m_inWindow);
    std::ranges::fill(m_window, RankLoad{});
    m_inWindow = 0;
    return isNews(found, lost) ? std::optional(found) : std::nullopt;
}

bool LoadMeter::isNews(const StragglerFound& found, double lost) {
    const bool isOne = found.share > (found.rank == m_straggler ? kEnough : kWorthTelling);
    const int seen = isOne ? found.rank : -1;
    if (std::exchange(m_seen, seen) != seen) m_looks = 0, m_lost = 0;
    m_lost += lost;
    if (++m_looks < kLooks) return false;
    if (std::exchange(m_straggler, seen) != seen) m_isUntold = true;
    if (seen < 0) return false;
    const auto rank = static_cast<std::size_t>(seen);
    m_heldUp[rank] += std::exchange(m_lost, 0);
    if (!m_isUntold || m_heldUp[rank] < 2 * m_told[rank]) return false;
    m_isUntold = false;
    m_told[rank] = m_heldUp[rank];
    return true;
}

std::vector<double> LoadMeter::heldUp() const {
    return std::ranges::any_of(m_heldUp, [](double seconds) { return seconds > 0; }) ? m_heldUp : std::vector<double>();
}

double LoadMeter::windowSeconds() const {
    double longest = 0;
    for (const RankLoad& each : m_window) longest = std::max(longest, each.compute + each.wait + each.reduce);
    return longest;
}

// Whoever comes last to the summing waits least in it; who is slow in the summing itself is last out of it.
StragglerFound LoadMeter::find() const {
    const auto at = [&](std::size_t rank) -> const RankLoad& { return m_window[rank]; };
    const std::size_t ranks = m_window.size();
    Lead lead = leadOf(ranks, [&](std::size_t rank) { return at(rank).compute + at(rank).wait; });
    const Lead whole =
        leadOf(ranks, [&](std::size_t rank) { return at(rank).compute + at(rank).wait + at(rank).reduce; });
    StragglerFound found;
    if (whole.by > lead.by) {
        lead = whole;
        found.cause = "collective";
    } else {
        double computing = 0, waiting = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            if (rank == lead.first) continue;
            computing = std::max(computing, at(rank).compute);
            waiting = std::max(waiting, at(rank).wait);
        }
        found.cause = at(lead.first).wait - waiting > at(lead.first).compute - computing ? "data" : "compute";
    }
    const RankLoad& slowest = at(whole.first);
    const double update = slowest.compute + slowest.wait + slowest.reduce;
    found.rank = static_cast<int>(lead.first);
    found.seconds = lead.by / static_cast<double>(m_inWindow);
    found.share = update > 0 ? lead.by / update : 0;
    return found;
}

std::vector<double> LoadMeter::balancedShares() const {
    if (!isKnown()) return {};
    std::vector<double> rates;
    for (std::size_t rank = 0; rank < m_sums.size(); ++rank) {
        if (m_shares[rank] == 0 || !(m_sums[rank].compute > 0)) return {};
        rates.push_back(static_cast<double>(m_shares[rank]) / m_sums[rank].compute);
    }
    const double fastest = *std::ranges::max_element(rates);
    for (double& rate : rates) rate /= fastest;
    return rates;
}

bool LoadMeter::wantsBalance() const {
    if (!m_balances) return false;
    const auto rates = balancedShares();
    if (rates.size() < 2) return false;
    double samples = 0, together = 0, slowest = 0;
    for (std::size_t rank = 0; rank < rates.size(); ++rank) {
        const auto share = static_cast<double>(m_shares[rank]);
        samples += share;
        together += rates[rank];
        slowest = std::max(slowest, share / rates[rank]);
    }
    return samples / together < (1 - kWorthBalancing) * slowest;
}

}  // namespace lockstep
