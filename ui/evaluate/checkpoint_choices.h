#pragma once
#include <string>
#include <vector>

#include "engine/spec/evaluation.h"
#include "engine/spec/kept_checkpoints.h"

namespace lockstep::ui {

// The checkpoints of a trial that somebody can ask for, of those that are kept: "best" where any but the newest is,
// "last", and those of epochs, ascending. The first is the one that is meant where nobody says which.
std::vector<CheckpointFile> checkpointChoices(const std::vector<CheckpointFile>& kept);

// The role of the choice that is looked at: that of the evaluation or, where there is none (null), of the epoch of
// training; the first where theirs is not kept. Empty: there are no choices.
std::string checkpointShown(const std::vector<CheckpointFile>& choices, const Evaluation* evaluation,
                            const EvalCounts* ofTraining);

}  // namespace lockstep::ui
