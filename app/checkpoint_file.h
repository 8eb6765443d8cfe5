#pragma once
#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <string>

#include "engine/core/result.h"
#include "engine/spec/data_known.h"
#include "engine/spec/evaluation.h"
#include "engine/train/checkpoint.h"

namespace lockstep {

// Whether a word means a trial of the history, not a file: it is a number. A file of such a name is written ./7.
bool namesTrial(const std::string& word);
// Of such a word. Throws ProblemError "trial.unknown" where no trial has as large a number. Only in a build that has a
// history.
std::int64_t trialNumberIn(const std::string& word);

// Which of a trial's checkpoints somebody asks for.
struct CheckpointChoice {
    bool best = false, last = false;
    std::string which;  // "best", "last", "7": the epoch
    std::string word() const { return best ? "best" : last ? "last" : which; }
    std::string option() const { return best ? "--best" : last ? "--last" : which.empty() ? "" : "--checkpoint"; }
};
// The positional "checkpoint", --best, --last, --checkpoint.
void addCheckpointSource(CLI::App& command, std::string& word, CheckpointChoice& choice);

struct ChosenCheckpoint {
    std::filesystem::path file;
    std::string role;        // "best", "last", "epoch-7"; of a file: its path
    std::int64_t trial = 0;  // that was asked for; of a file: 0
};
// The file that the word means: a trial's checkpoint "best", "last", or of an epoch ("7"; "": the best, or the last
// where no best is kept), or the path that it is, of which nothing may be asked. A build without history knows paths
// alone. One implementation per kind of build. Problems: "trial.unknown", "trial.no-checkpoint",
// "trial.checkpoint-not-kept", "trial.checkpoints-freed", "trial.checkpoints-gone" (of a trial that has ended),
// "cli.bad-checkpoint", "export.no-choice", and those of opening the history.
Result<ChosenCheckpoint> checkpointFile(const std::string& word, const CheckpointChoice& choice = {});

// And reads it. One that went away in between is looked for again. Problem "trial.damaged-checkpoint": of a trial that
// keeps its last one besides.
struct OpenedCheckpoint {
    ChosenCheckpoint chosen;
    Checkpoint checkpoint;
};
Result<OpenedCheckpoint> openCheckpoint(const std::string& word, const CheckpointChoice& choice = {});

// Keeps it with its trial in the history, beside those of the same data as they were before. `known`: what the
// checkpoint says of its data, for trials that began before the history kept that. Throws ProblemError. One
// implementation per kind of build.
struct KeptEvaluation {
    std::int64_t id = 0;
    std::optional<Problem> remark = {};  // that the data have changed since another evaluation
};
KeptEvaluation keepEvaluation(const Evaluation& evaluation, const DataKnown& known);

}  // namespace lockstep
