#include "engine/train/bandwidth_meter.h"

#include <algorithm>
#include <utility>

namespace lockstep {

namespace {

constexpr std::int64_t kFirst = 10, kAgreeing = 3;
constexpr std::int64_t kPrompt = 10;  // changes; later ones wait until the last is so old:
constexpr double kOld = 30;           // seconds

}  // namespace

void LoadingRate::add(const LoadPace& total) {
    const auto samples = static_cast<double>(total.samples - m_seen.samples);
    if (samples <= 0 || total.seconds <= m_seen.seconds) return;
    m_latest.add({samples, total.seconds - m_seen.seconds, total.coreSeconds - m_seen.coreSeconds});
    m_seen = total;
}

double LoadingRate::perSecond() const {
    const auto [samples, seconds, onCores] = m_latest.sums();
    return seconds > 0 ? m_seen.threads * samples / seconds : 0;
}

double LoadingRate::coreSeconds() const {
    const auto [samples, seconds, onCores] = m_latest.sums();
    return samples > 0 ? onCores / samples : 0;
}

// The samples of a batch are there when the last rank has its own; and all readers have no more than the cores.
double BandwidthMeter::loading(std::span<const RankPace> ranks) const {
    double samples = 0, slowest = 0, work = 0;
    for (const RankPace& each : ranks) {
        if (each.share == 0) continue;
        if (!(each.loading > 0)) return 0;
        work += static_cast<double>(each.share) * each.loadingCore;
        samples += static_cast<double>(each.share);
        slowest = std::max(slowest, static_cast<double>(each.share) / each.loading);
    }
    slowest = std::max(slowest, work / static_cast<double>(m_seen.cores));
    return slowest > 0 ? samples / slowest : 0;
}

// What readers took of the time between two waits, from devices that compute on the same cores: their own time, less
// what fits into the waits and onto cores that no device uses.
double BandwidthMeter::taken(std::span<const RankPace> ranks, double wait, double whole) const {
    const double cores = static_cast<double>(m_seen.cores), idle = std::max(cores - m_computing, 0.0);
    double work = 0, readers = 0;
    for (const RankPace& each : ranks) {
        work += static_cast<double>(each.share) * each.loadingCore;
        readers += each.loaderThreads;
    }
    const double beside = work - std::min(readers, cores) * wait - std::min(readers, idle) * (whole - wait);
    return m_computing > 0 ? std::max(beside, 0.0) / cores : 0;
}

void BandwidthMeter::add(double samples, std::span<const RankPace> ranks) {
    double whole = 0, wait = 0, core = 0;
    for (const RankPace& each : ranks) {
        whole = std::max(whole, each.load.total());
        wait = std::max(wait, each.load.wait);
        core = std::max(core, each.coreWait);
    }
    m_seen.loaderThreads = ranks.front().loaderThreads;
    m_loading = loading(ranks);
    constexpr double kLeast = 1e-3;  // of the time
    const double lost = wait + std::max(core, taken(ranks, wait, whole));
    m_sums.add({samples, whole, std::max(whole - lost, kLeast * whole)});
    m_sinceSaid += whole;
    ++m_updates;
}

Bandwidths BandwidthMeter::now() const {
    const auto [samples, seconds, trained] = m_sums.sums();
    if (m_updates < kFirst || !(seconds > 0)) return {};
    return {m_loading, samples / trained, samples / seconds};
}

std::optional<BindingChanged> BandwidthMeter::change(std::int64_t step) {
    const Bandwidths seen = now();
    if (!(seen.loading > 0)) return std::nullopt;
    // What is held on purpose leaves the cores to others.
    const bool isHeld = m_seen.limit > 0 && seen.loading < seen.training;
    const Binding binding = isHeld ? Binding::Loading : bindingOf(seen);
    m_agreeing = std::exchange(m_latest, binding) == binding ? m_agreeing + 1 : 1;
    const bool isPrompt = m_changes < kPrompt || m_sinceSaid > kOld;
    if (m_said == binding || m_agreeing < kAgreeing || !isPrompt) return std::nullopt;
    m_said = binding;
    m_sinceSaid = 0;
    ++m_changes;
    m_seen.step = step;
    m_seen.binding = text(binding);
    m_seen.loading = seen.loading, m_seen.training = seen.training, m_seen.reached = seen.reached;
    return m_seen;
}

}  // namespace lockstep
