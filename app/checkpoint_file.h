#pragma once
#include <filesystem>
#include <string>

#include "engine/core/result.h"
#include "engine/spec/evaluation.h"

namespace lockstep {

enum class CheckpointRole { Best, Last };

// Whether a word means a trial of the history, not a file: it is a number. A file of such a name is written ./7.
bool namesTrial(const std::string& word);

// The file that the word means: a trial's checkpoint of that role, or the path that it is. A build without history
// knows paths alone. One implementation per kind of build. Problems: "trial.unknown", "trial.no-checkpoint", and those
// of opening the history.
Result<std::filesystem::path> checkpointFile(const std::string& word, CheckpointRole role);

// Keeps it with its trial in the history; returns its number. Throws ProblemError. One implementation per kind of
// build.
std::int64_t keepEvaluation(const Evaluation& evaluation);

}  // namespace lockstep
