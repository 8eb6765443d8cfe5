#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "engine/core/utc_time.h"
#include "engine/history/series_chunk.h"
#include "engine/spec/run_state.h"
#include "engine/spec/train_event.h"

namespace lockstep {

struct PostedEvent {
    std::int64_t trial = 0, attempt = 0, number = 0;
    TrainEvent event;
};

// The chunk of each (trial, attempt) that may still grow.
using OpenChunks = std::map<std::pair<std::int64_t, std::int64_t>, SeriesChunk>;

// Writes events, in order, into series, event rows and the trial's own columns, inside the caller's transaction; of a
// trial that ends with them also its series' levels.
// Returns the chunks that are open afterwards; `open` stands if the transaction fails.
OpenChunks writeEvents(SQLite::Database& database, std::span<const PostedEvent> events, OpenChunks open);

// What stands in those columns when the trial goes on after `step`; its new attempt is not in the table yet. False:
// there is no such trial.
bool cutColumns(SQLite::Database& database, std::int64_t trial, std::int64_t step);

// The state and, when it is a final one, the time of the end. False: there is no such trial.
bool writeState(SQLite::Database& database, std::int64_t trial, RunState state);

}  // namespace lockstep
