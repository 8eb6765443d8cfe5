// What a person does with the sweeps of a queue.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/queue/queue_service.h"
#include "engine/search/cell_count.h"

namespace lockstep {

namespace {

Problem unknownSweep(std::int64_t group) { return {"sweep", "group.unknown", {std::to_string(group)}}; }

// `cells`: in all.
std::optional<Problem> problemOfExtending(SweepSpec sweep, std::int64_t cells) {
    const std::int64_t now = plannedTrials(sweep) / sweep.repeats;
    const auto problem = [&](const char* code, std::int64_t number) {
        return Problem{"trials", code, {std::to_string(cells), std::to_string(number)}};
    };
    if (cells <= now) return problem("sweep.not-longer", now);
    sweep.trials = cells;
    const auto space = spaceOf(sweep);
    if (!space.ok()) return space.problems().front();
    const double most = cellCount(space.value());
    if (static_cast<double>(cells) <= most) return std::nullopt;
    const auto all = static_cast<std::int64_t>(most);
    return problem(now == all ? "sweep.no-further-cells" : "sweep.too-few-cells", all);
}

}  // namespace

std::vector<TrialGroup> QueueService::sweeps() {
    auto groups = query().groups();
    std::erase_if(groups, [](const TrialGroup& each) { return each.kind != "sweep"; });
    return groups;
}

TrialGroup QueueService::groupOf(std::int64_t group) {
    const auto found = query().group(group);
    if (!found) throw ProblemError(unknownSweep(group));
    return *found;
}

std::int64_t QueueService::addSweep(const SweepSpec& sweep) {
    const std::int64_t group =
        store().createGroup({.kind = "sweep", .title = sweep.title, .specJson = sweepJson(sweep)});
    startOrElse([&] { store().setGroupState(group, GroupState::Cancelled); });
    return group;
}

void QueueService::pauseSweep(std::int64_t group) { store().leaveActive(groupOf(group), GroupState::Paused); }

void QueueService::goOnWithSweep(std::int64_t group) {
    const GroupState state = groupOf(group).state;
    if (state == GroupState::Failed) retrySweep(group);  // or it would fail of the same again
    else if (state != GroupState::Finished) store().setGroupState(group, GroupState::Active);
    startKeeper();
}

void QueueService::cancelSweep(std::int64_t group) {
    groupOf(group);
    store().setGroupState(group, GroupState::Cancelled);
    std::vector<std::int64_t> open;
    for (const GroupTrial& each : query().trials(group)) {
        if (each.trial && each.isQueued && !each.adopted) open.push_back(*each.trial);
    }
    for (const std::int64_t each : open) store().remove(each);
    std::optional<ProblemError> unanswered;
    for (const std::int64_t each : open) {
        try {
            cancelQuietly(each);
        } catch (const ProblemError& error) {
            unanswered = error;
        }
    }
    if (unanswered) throw ProblemError(*unanswered);
}

std::int64_t QueueService::freedAtRungs(std::int64_t group) {
    const auto isFreed = [&](const GroupTrial& each) {
        if (!each.trial || each.isDeleted || !each.isAtRung()) return false;
        std::error_code none;
        const auto files =
            std::filesystem::directory_iterator(m_trials.places().run(*each.trial) / "checkpoints", none);
        return std::ranges::none_of(files, [](const auto& file) { return file.path().extension() == ".safetensors"; });
    };
    return std::ranges::count_if(query().trials(group), isFreed);
}

void QueueService::extendSweep(std::int64_t group, std::int64_t cells) {
    SweepSpec sweep = sweepOf(groupOf(group));
    if (auto problem = problemOfExtending(sweep, cells)) throw ProblemError(std::move(*problem));
    sweep.trials = cells;
    store().setGroupSpec(group, sweepJson(sweep));
    store().setGroupState(group, GroupState::Active);
    startKeeper();
}

std::int64_t QueueService::retrySweep(std::int64_t group) {
    const SweepSpec sweep = sweepOf(groupOf(group));
    std::int64_t count = 0;
    for (const GroupTrial& each : query().trials(group)) {
        const bool wasEnded = each.state == RunState::Cancelled || each.state == RunState::Stopped;
        const bool isRemoved = !each.trial || each.isDeleted;
        const bool mayGoOn = each.hasFailed() || (!each.isQueued && wasEnded && !each.isAtRung());
        if (!isRemoved && !mayGoOn) continue;
        ++count;
        if (isRemoved || each.adopted) {
            store().freePlace(each.place);
            continue;
        }
        QueueEntry entry;
        entry.retries = sweep.retries;
        add(*each.trial, entry);
    }
    if (count > 0) store().setGroupState(group, GroupState::Active);
    startKeeper();
    return count;
}

}  // namespace lockstep
