#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/run_state.h"

namespace lockstep {

// Of trials that belong together. Active: the queue makes and starts its trials; paused: it waits for a person.
enum class GroupState { Active, Paused, Finished, Cancelled, Failed };
std::string_view text(GroupState state);
std::optional<GroupState> groupStateFrom(std::string_view text);

struct TrialGroup {
    std::int64_t id = 0;
    std::string kind = "sweep", title, specJson;
    GroupState state = GroupState::Active;
    std::string reason = {};  // of one that failed: its problem, as JSON
    std::string createdAt = {}, finishedAt = {};
    bool operator==(const TrialGroup&) const = default;
};

// What a sweep has suggested, by number from 0: settings as a JSON object of paths and values.
struct GroupCell {
    std::int64_t number = 0;
    std::string settings;
    bool operator==(const GroupCell&) const = default;
};

struct GroupPlace {
    std::int64_t group = 0, cell = 0, repeat = 0;  // the latter two from 0
    bool operator==(const GroupPlace&) const = default;
};
struct GroupTrial {
    GroupPlace place;
    std::optional<std::int64_t> trial = {};  // empty: it was removed for good
    bool adopted = false;                    // it was in the history before
    std::optional<RunState> state = {};      // as written
    bool isQueued = false;                   // the queue has not done with it
    bool isDeleted = false;                  // it lies in the trash
    // The epoch that it may train to for now; empty: to its end.
    std::optional<std::int64_t> untilEpoch = {};
    bool hasComeThere = false;  // it was evaluated after that epoch
    bool isAtRung() const { return !isQueued && hasComeThere && state == RunState::Stopped; }
    bool hasFailed() const { return !isQueued && (state == RunState::Failed || state == RunState::Crashed); }
    bool operator==(const GroupTrial&) const = default;
};

// What an evaluation of a group's trial came to.
struct GroupValue {
    GroupPlace place;
    std::int64_t epoch = 0;  // from 1
    double value = 0;
};
struct RungArrival {
    std::int64_t cell = 0, rung = 0;
    bool operator==(const RungArrival&) const = default;
};

// A trial that the queue starts, until it has ended.
struct QueueEntry {
    std::int64_t trial = 0, priority = 0, position = 0;  // the highest priority first, then the lowest position
    bool held = false;
    std::optional<std::int64_t> after = {};  // a trial that must have ended before
    std::int64_t retries = 0;                // how often it may fail
    std::int64_t tries = 0;                  // engines started for it in a row that came no further than any before
    // Attempts that it had when a person asked for another one, however the latest has ended. Empty: nobody did.
    std::optional<std::int64_t> asked = {};
    std::int64_t step = 0;  // the furthest that it had come when one was started
    std::optional<GroupPlace> place = {};
    std::optional<std::int64_t> untilEpoch = {};  // of its place; empty: to its end
    bool operator==(const QueueEntry&) const = default;
};

}  // namespace lockstep
