#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/spec/data_known.h"
#include "engine/spec/run_state.h"
#include "engine/spec/train_event.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

// A trial as its run folder tells it, where no history knows it (any more).
struct AdoptedTrial {
    struct Attempt {
        std::int64_t fromStep = 0;
        std::string startedAt;  // times as in the history: UTC, ISO 8601
        std::vector<NumberedEvent> events;
    };
    std::int64_t id = 0;
    TrialSpec spec;
    RunState state = RunState::Crashed;  // a final one
    std::string createdAt, finishedAt;
    std::vector<Attempt> attempts;
    // Where the newest checkpoint stands; it may be ahead of the events.
    std::int64_t step = 0, epoch = 0;
    std::optional<double> bestAccuracy, lowestLoss, seconds;
    DataKnown known = {};  // as that checkpoint says
};

}  // namespace lockstep
