#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// What a run says of itself whenever it begins, goes on, or changes its devices (RunStarted).
struct RunWorld {
    std::int64_t firstStep = 0;  // updates done before
    std::int64_t devices = 1, stepsPerEpoch = 0, trainSamples = 0;
    std::uint64_t bytesPerDevice = 0;
};

// Those of a trial, in the order of time. Where a later one begins before an earlier one, steps were taken back.
struct TrialWorlds {
    std::int64_t batch = 0;  // of the trial
    std::vector<RunWorld> all = {};
    std::string task = {};  // what the model learns, text(ModelTask); empty: nobody has said it

    double stepsPerEpoch() const;                     // 0: nobody has said it
    double samplesPerStep() const;                    // of training: exact where an epoch ends
    std::uint64_t bytesPerDevice() const;             // of the latest; 0: unknown
    std::int64_t devicesAt(std::int64_t step) const;  // that did the step, as it stands; 1 where nobody has said it
};

// Seconds of all devices together, along a series of the trial.
class DeviceClock {
public:
    explicit DeviceClock(const TrialWorlds& worlds) : m_worlds(worlds) {}  // which outlives it
    // Each call is of a point behind the one before. What lies between two points counts as the second one's.
    double at(std::int64_t step, double seconds);

private:
    const TrialWorlds& m_worlds;
    double m_seconds = 0, m_deviceSeconds = 0;
};

}  // namespace lockstep
