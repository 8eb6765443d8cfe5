#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/session/places.h"
#include "engine/session/session_client.h"
#include "ui/run/run_record.h"

namespace lockstep::ui {

// What can be seen of a trial from outside at one moment.
struct RunSnapshot {
    bool held = false;  // its lease: somebody runs it
    bool hasCheckpoint = false;
    std::optional<TrialRow> row;        // as read after the lease
    std::optional<RunRecord> record;    // all of it, where all was asked for
    std::optional<TrialSpec> spec;      // with the record, where it can be read
    std::vector<NumberedEvent> events;  // otherwise those of the latest attempt from `from` on
    std::int64_t lastEvent = 0;         // in the history
    std::unique_ptr<SessionClient> client;
    std::optional<Problem> history, session;
};

struct SnapshotRequest {
    std::int64_t trial = 0;
    std::optional<std::int64_t> from;  // empty: everything
    bool connect = false;              // where somebody runs it
};

// Any thread; may take seconds (a long history, a run that is slow to answer).
RunSnapshot readSnapshot(const Places& places, const SnapshotRequest& request);

// The state of a trial as its row and its lease tell it: one that should be held and is not has crashed.
RunState stateSeen(const TrialRow& row, bool held);

}  // namespace lockstep::ui
