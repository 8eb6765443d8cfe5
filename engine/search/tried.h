#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/search/search_space.h"

namespace lockstep {

enum class TriedState {
    Running,
    Finished,
    Stopped,  // by a scheduler, before its last epoch
    Failed,
};

// What is known of a cell that was suggested.
struct Tried {
    Cell cell = {};
    TriedState state = TriedState::Running;
    double loss = std::numeric_limits<double>::quiet_NaN();  // less is better; not finite: there is none
    std::int64_t epoch = 0;                                  // that it has come to

    bool hasEnded() const { return state != TriedState::Running; }
    // Failures, and losses that are no numbers, say only that a cell is bad.
    bool hasLoss() const {
        return (state == TriedState::Finished || state == TriedState::Stopped) && std::isfinite(loss);
    }
};

}  // namespace lockstep
