#include "engine/trials/judged_state.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "engine/session/lease.h"

namespace lockstep {

namespace {

bool looksCrashed(const TrialRow& row, const Places& places) {
    const auto state = runStateFrom(row.state);
    return state && isUnderWay(*state) && !Lease::isHeld(places.lease(row.id));
}

// The row is read again under the lease: the run may just have ended, or another have begun.
void settle(TrialStore& store, const TrialQuery& query, const Places& places, std::int64_t trial) {
    std::optional<Lease> lease;
    if (std::filesystem::is_directory(places.run(trial))) {
        lease = Lease::tryAcquire(places.lease(trial));
        if (!lease) return;
    }
    const auto row = query.find(trial);
    const auto state = row ? runStateFrom(row->state) : std::nullopt;
    if (state && isUnderWay(*state)) store.changeState({row->id, row->state, row->attempts}, RunState::Crashed);
}

// What killed runs left behind: whoever holds the lease may be about to listen.
void sweepSockets(const Places& places) {
    std::error_code error;
    for (const auto& each : std::filesystem::directory_iterator(places.runtime, error)) {
        const std::string name = each.path().filename().string();
        std::int64_t trial = 0;
        if (std::sscanf(name.c_str(), "run-%" SCNd64 ".sock", &trial) != 1) continue;
        if (each.path() != places.socket(trial) || !each.is_socket(error)) continue;
        std::optional<Lease> lease;
        if (std::filesystem::is_directory(places.run(trial))) {
            lease = Lease::tryAcquire(places.lease(trial));
            if (!lease) continue;
        }
        std::filesystem::remove(each.path(), error);
    }
}

}  // namespace

bool isUnderWay(RunState state) { return !isFinal(state) && state != RunState::Queued; }

RunState judgedState(const TrialRow& row, bool held) {
    const RunState state = runStateFrom(row.state).value_or(RunState::Queued);
    return isUnderWay(state) && !held ? RunState::Crashed : state;
}

bool judge(std::vector<TrialRow>& rows, const TrialQuery& query, const Places& places) {
    bool changed = false;
    for (auto& row : rows) {
        if (!looksCrashed(row, places)) continue;
        auto now = query.find(row.id);
        if (!now) continue;  // removed meanwhile; the next list lacks it
        row = std::move(*now);
        if (looksCrashed(row, places)) row.state = text(RunState::Crashed);
        changed = true;
    }
    return changed;
}

void settleCrashed(TrialStore& store, const TrialQuery& query, const Places& places) {
    for (const bool deleted : {false, true}) {
        for (const auto& row : query.list({.deleted = deleted, .unended = true})) {
            if (looksCrashed(row, places)) settle(store, query, places, row.id);
        }
    }
    sweepSockets(places);
}

}  // namespace lockstep
