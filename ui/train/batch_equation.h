#pragma once
#include <QString>
#include <cstdint>

namespace lockstep::ui {

// per-device batch x devices x passes = global batch. In the fast mode the passes are the accumulation; in the
// reproducible mode each device takes its shards one after another, so they are shards / devices. The global batch is
// what the spec holds; where it does not divide, parts differ by one and the equation is about their sum.
struct BatchEquation {
    std::int64_t batch = 128, devices = 2, passes = 1;
    bool divides() const { return batch % parts() == 0; }
    std::int64_t largestPart() const { return (batch + parts() - 1) / parts(); }
    std::int64_t smallestPart() const { return batch / parts(); }
    QString partText() const;  // "64", or "42 or 43"
    QString text() const;      // "64 × 2 × 1 = 128"

private:
    std::int64_t parts() const { return devices > 0 && passes > 0 ? devices * passes : 1; }
};

// What stays when the number of devices or passes changes.
enum class Hold { GlobalBatch, PerDevice };

BatchEquation withPerDevice(BatchEquation equation, std::int64_t perDevice);
BatchEquation withDevices(BatchEquation equation, std::int64_t devices, Hold hold);
BatchEquation withPasses(BatchEquation equation, std::int64_t passes, Hold hold);

}  // namespace lockstep::ui
