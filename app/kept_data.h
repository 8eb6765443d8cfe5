#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/history/trial_query.h"

namespace lockstep {

// What a trial was trained on, without a look at the data: as the history keeps it or, of a trial that began before it
// did, as a checkpoint says. Empty: neither does.
DataKnown keptData(const TrialQuery& query, const TrialRow& row);

// "2: cat, dog"; of many the first; empty where nobody knows them, or of a language's tokens.
std::string classesText(const DataKnown& known);

// What of a trial's figures is of data that have changed since, as far as its evaluations tell; a sentence each.
std::vector<std::string> changesText(const std::optional<DataFingerprint>& trained, const TrialSpec& spec,
                                     const std::vector<Evaluation>& newestFirst);

}  // namespace lockstep
