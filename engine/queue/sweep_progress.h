#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/history/trial_queue.h"
#include "engine/search/sweep_spec.h"
#include "engine/spec/run_state.h"

namespace lockstep {

// A cell as the history keeps it, and back. Numbers keep their kind; what cannot be read is a ProblemError
// "group.malformed".
std::string cellText(const Cell& cell);
Cell cellFrom(const std::string& settings);

// The trial of a place: its cell's settings, and a seed of its own for each repeat.
TrialSpec trialAt(const SweepSpec& sweep, const Cell& cell, std::int64_t repeat);

// The place that comes next of those that are known: cells by number, all repeats of one before the next. nullopt: all
// repeats of the known cells have been made, so another cell must be suggested.
std::optional<GroupPlace> nextPlace(std::int64_t group, std::int64_t cells, std::int64_t repeats,
                                    std::span<const GroupTrial> made);

// How many more trials are to be made now: one waits behind those that may run at once, unless what comes next is asked
// of results. `open`: that wait or run.
std::int64_t trialsToMake(const SweepSpec& sweep, std::int64_t open, bool asksForResults);

// Why a sweep should end before its time: more cells have failed than it allows, or as many as make it hopeless and
// none has come to an end. Empty: it should not. `first`: what the first of them met, which the problem has within it.
constexpr std::int64_t kHopeless = 8;
// `isOver`: no further trial comes, so that one failure is enough where nothing has come to an end.
std::optional<Problem> tooManyFailures(const SweepSpec& sweep, std::span<const GroupTrial> made,
                                       const std::optional<Problem>& first, bool isOver = false);

}  // namespace lockstep
