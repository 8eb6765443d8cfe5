#pragma once
#include <cmath>
#include <cstdint>

#include "engine/search/search_space.h"

namespace lockstep {

enum class TriedState {
    Running,
    Finished,
    Stopped,  // by a scheduler, before its last epoch
    Failed,
};

// What is known of a cell that was suggested: one entry over its repeats, or they would vouch for each other.
struct Tried {
    Cell cell = {};   // conditional settings may be absent; those of no dimension do not count
    double loss = 0;  // lower is better: of an accuracy its negative. Not finite: it has none
    TriedState state = TriedState::Finished;
    std::int64_t epoch = 0;  // that it has come to

    bool hasEnded() const { return state != TriedState::Running; }
    // Failures, and losses that are no numbers, say only that a cell is bad.
    bool hasLoss() const {
        return (state == TriedState::Finished || state == TriedState::Stopped) && std::isfinite(loss);
    }
};

}  // namespace lockstep
