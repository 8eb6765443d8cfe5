#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/queue/queue_service.h"

namespace lockstep::ui {

// A trial of the queue, and how far it has to go.
struct QueueRow {
    QueueLine line;
    std::int64_t steps = 0;  // of one that runs, in all; 0: unknown
};

struct SweepRow {
    SweepResult result;
    std::optional<Problem> problem;             // why it has failed; or why it cannot be read: its group alone counts
    bool isReadable = true;                     //
    std::optional<std::uint64_t> bytesOfTrial;  // of the disk, as one that has finished takes; empty: unknown
    bool hasEnded() const;                      // by itself or by a person; one that has failed waits for a person
};

// What runs, waits and is searched for, at one moment.
struct QueueSnapshot {
    std::vector<QueueRow> rows;    // those that run, then those that wait, in the order in which they will be started
    std::vector<SweepRow> sweeps;  // newest first
    bool isKept = false;           // a process starts what waits
    std::uint64_t available = 0;   // bytes of the disk that trials are kept on; 0: unknown
};

// Reads it. Sweeps that have ended are read once. One thread; throws what TrialService throws.
class QueueReader {
public:
    QueueSnapshot read(TrialService& trials);
    void forget();  // what was read before: trials of ended sweeps may have been removed

private:
    SweepRow sweep(TrialService& trials, const TrialGroup& group);
    std::optional<std::uint64_t> bytesOfTrial(const TrialService& trials, const SweepResult& sweep);

    std::map<std::int64_t, SweepRow> m_ended;
    std::map<std::int64_t, std::uint64_t> m_bytes;  // of trials
};

}  // namespace lockstep::ui
