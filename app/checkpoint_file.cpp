#include "app/checkpoint_file.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "app/format.h"
#include "app/history_access.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/run_state.h"
#include "engine/train/checkpoint_keeper.h"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

// Empty: the trial has none of that role, or none that is asked for.
std::string roleAsked(const fs::path& folder, const std::string& which) {
    const auto kept = checkpointsIn(folder);
    const auto has = [&](std::string_view role) { return std::ranges::count(kept, role, &CheckpointFile::role) > 0; };
    if (which.empty() || which == kBest) {
        const std::string best = bestRole(findCheckpoints(folder));
        if (!best.empty()) return best;
        if (has(kBest)) return std::string(kBest);  // damaged: whoever reads it says so
        return which.empty() && has(kLast) ? std::string(kLast) : std::string();
    }
    const std::string role = checkpointAsked(which)->role;
    return has(role) ? role : std::string();
}

// Nothing will write them again: not even `lockstep resume`, which goes on from one.
bool haveGone(const TrialQuery& query, const TrialRow& row) {
    return isFinal(runStateFrom(row.state).value_or(RunState::Crashed)) && query.wroteCheckpoint(row.id);
}

Problem notKept(const TrialQuery& query, const TrialRow& row, const fs::path& folder, const std::string& which) {
    const std::string trial = std::to_string(row.id);
    std::vector<std::string> roles;
    for (const auto& each : checkpointsIn(folder))
        roles.push_back(each.epoch > 0 ? std::to_string(each.epoch) : each.role);
    const auto freed = checkpointsFreedAt(folder);
    if (!roles.empty())
        return {
            folder.string(), "trial.checkpoint-not-kept", {trial, which, fmt::format("{}", fmt::join(roles, ", "))}};
    if (freed) return {folder.string(), "trial.checkpoints-freed", {trial, *freed}};
    if (haveGone(query, row)) return {folder.string(), "trial.checkpoints-gone", {trial}};
    const auto role = which.empty() ? std::string(kBest) : checkpointAsked(which)->role;
    return {(folder / checkpointName(role)).string(), "trial.no-checkpoint", {trial}};
}

}  // namespace

bool namesTrial(const std::string& word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t trialNumberIn(const std::string& word) {
    std::int64_t trial = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), trial).ec != std::errc())
        throw ProblemError({"trial", "trial.unknown", {word, placesFromEnvironment().history().string()}});
    return trial;
}

Result<ChosenCheckpoint> checkpointFile(const std::string& word, const CheckpointChoice& choice) {
    const std::string which = choice.word();
    if (!which.empty() && !checkpointAsked(which)) return Problem{"--checkpoint", "cli.bad-checkpoint", {which}};
    if (!namesTrial(word)) {
        if (!which.empty()) return Problem{word, "export.no-choice", {choice.option()}};
        return ChosenCheckpoint{word, word};
    }
    const std::int64_t trial = trialNumberIn(word);
    auto trials = openTrialsToRead();
    const TrialRow row = trials.row(trial);
    const fs::path folder = fs::path(row.runDirectory) / "checkpoints";
    const std::string role = roleAsked(folder, which);
    if (role.empty()) return notKept(trials.query(), row, folder, which);
    return ChosenCheckpoint{folder / checkpointName(role), role, trial};
}

KeptEvaluation keepEvaluation(const Evaluation& evaluation, const DataKnown& known) {
    auto trials = openTrials();
    KeptEvaluation kept{trials.store().addEvaluation(evaluation, known)};
    const auto all = trials.query().evaluations(evaluation.trial);
    const auto isOfOthers = [&](const Evaluation& each) {
        const Evaluation* newest = changedSince(each, all);
        return newest && newest->id == kept.id;
    };
    if (const auto before = std::ranges::find_if(all, isOfOthers); before != all.end())
        kept.remark = Problem{
            evaluation.data, "evaluate.data-changed", {std::to_string(before->id), timeText(before->createdAt)}};
    return kept;
}

}  // namespace lockstep
