#pragma once
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "engine/history/trial_queue.h"
#include "engine/search/search_space.h"

namespace lockstep::ui {

// The sweeps of the history, and which of its trials belong to one. A plain value.
struct TrialGroups {
    std::vector<TrialGroup> sweeps;                                        // newest first; without their files
    std::unordered_map<std::int64_t, GroupPlace> places;                   // by trial: its latest sweep
    std::unordered_map<std::int64_t, std::map<std::int64_t, Cell>> cells;  // by sweep, then number
    bool operator==(const TrialGroups&) const = default;
};

}  // namespace lockstep::ui
