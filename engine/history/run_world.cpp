#include "engine/history/run_world.h"

#include <algorithm>

namespace lockstep {

double TrialWorlds::stepsPerEpoch() const { return all.empty() ? 0 : static_cast<double>(all.back().stepsPerEpoch); }

double TrialWorlds::samplesPerStep() const {
    const bool isKnown = !all.empty() && all.back().stepsPerEpoch > 0 && all.back().trainSamples > 0;
    if (!isKnown) return static_cast<double>(batch);
    return static_cast<double>(all.back().trainSamples) / static_cast<double>(all.back().stepsPerEpoch);
}

std::uint64_t TrialWorlds::bytesPerDevice() const { return all.empty() ? 0 : all.back().bytesPerDevice; }

std::int64_t TrialWorlds::devicesAt(std::int64_t step) const {
    for (auto world = all.rbegin(); world != all.rend(); ++world)
        if (world->firstStep < step) return std::max<std::int64_t>(1, world->devices);
    return 1;
}

// A clock that goes back is one of an older version, which began anew with each attempt.
double DeviceClock::at(std::int64_t step, double seconds) {
    const double passed = std::max(0.0, seconds - m_seconds);
    m_seconds = seconds;
    return m_deviceSeconds += passed * static_cast<double>(m_worlds.devicesAt(step));
}

}  // namespace lockstep
