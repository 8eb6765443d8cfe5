#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/data/loader.h"
#include "engine/spec/bandwidths.h"
#include "engine/spec/rank_load.h"

namespace lockstep {

// Sums of the latest few of a series of tuples.
template <std::size_t Numbers>
class LatestSums {
public:
    using Tuple = std::array<double, Numbers>;
    void add(const Tuple& tuple) { m_latest[m_added++ % kLatest] = tuple; }
    Tuple sums() const {
        Tuple all{};
        for (const Tuple& each : m_latest)
            for (std::size_t i = 0; i < Numbers; ++i) all[i] += each[i];
        return all;
    }

private:
    static constexpr std::size_t kLatest = 8;
    std::array<Tuple, kLatest> m_latest{};
    std::size_t m_added = 0;
};

// How fast a rank's loader makes samples, over its latest eight batches. One thread; allocates nothing.
class LoadingRate {
public:
    void add(const LoadPace& total);
    double perSecond() const;    // 0: nothing is known yet
    double coreSeconds() const;  // of one core, for a sample

private:
    LoadPace m_seen;
    LatestSums<3> m_latest;  // samples, seconds, and of these on a core
};

// What a rank says of an update: how it spent it, how long it waited for a core meanwhile that others used, and its
// loading rate.
struct RankPace {
    RankLoad load = {};
    double coreWait = 0;
    double loading = 0;
    double loadingCore = 0;  // seconds of a core that a sample takes
    int loaderThreads = 1;
    std::int64_t share = 0;  // samples of a full batch
};

// The two bandwidths of a run, over its latest eight updates, and which of them binds. All ranks wait for the one
// that waits longest for its samples; cores that others use are given back to both. One thread; allocates nothing.
class BandwidthMeter {
public:
    // `about`: what changes will say besides; `computing`: of the cores, those that the devices compute on.
    explicit BandwidthMeter(const BindingChanged& about = {}, std::int64_t computing = 0)
        : m_seen(about), m_computing(static_cast<double>(computing)) {}

    void add(double samples, std::span<const RankPace> ranks);
    Bandwidths now() const;  // zero before the tenth update: the first ones are like no other
    // What binds, once it is known, and whenever it is something else than was said last for some updates in a row;
    // where it comes and goes, now and then.
    std::optional<BindingChanged> change(std::int64_t step);

private:
    double loading(std::span<const RankPace> ranks) const;
    double taken(std::span<const RankPace> ranks, double wait, double whole) const;

    BindingChanged m_seen;
    double m_computing;
    LatestSums<3> m_sums;  // samples, seconds, and of these what training took
    double m_loading = 0;
    std::int64_t m_updates = 0, m_agreeing = 0, m_changes = 0;
    std::optional<Binding> m_said, m_latest;
    double m_sinceSaid = 0;  // seconds
};

}  // namespace lockstep
