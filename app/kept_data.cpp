#include "app/kept_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/format.h"
#include "engine/model/registry.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/train/checkpoint.h"
#include "engine/train/trained_on.h"

namespace lockstep {

namespace fs = std::filesystem;

DataKnown keptData(const TrialQuery& query, const TrialRow& row) {
    DataKnown known = query.known(row.id);
    const fs::path folder = fs::path(row.runDirectory) / "checkpoints";
    for (const auto& each : checkpointsIn(folder)) {
        if (!known.trainedOn.empty()) break;
        const auto read = readCheckpointPosition(folder / checkpointName(each.role));
        if (read.ok()) known = knownBy(read.value());
    }
    return known;
}

std::string classesText(const DataKnown& known) {
    constexpr std::size_t kNamed = 10;
    const auto trained = trainedOnFrom(known.trainedOn);
    if (!trained || !findField(trained->fields, "label")) return {};
    const auto& names = trained->classes;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed));
    return fmt::format("{}: {}{}", names.size(), fmt::join(names.begin(), end, ", "), end == names.end() ? "" : ", …");
}

std::vector<std::string> changesText(const std::optional<DataFingerprint>& trained, const TrialSpec& spec,
                                     const std::vector<Evaluation>& newestFirst) {
    std::vector<std::string> lines;
    if (const Evaluation* since = changedSinceTraining(trained, spec, newestFirst))
        lines.push_back(fmt::format("The data have changed since the training: evaluation {} read other {} samples.",
                                    since->id, fmt::join(changedSplits(*trained, *since->fingerprint), " and ")));
    std::map<std::int64_t, std::vector<std::int64_t>> before;  // by the newest of the same data
    for (const Evaluation& each : newestFirst) {
        if (const Evaluation* since = changedSince(each, newestFirst)) before[since->id].push_back(each.id);
    }
    for (auto& [since, evaluations] : before) {
        std::ranges::reverse(evaluations);
        lines.push_back(fmt::format("The data have changed since evaluation{} {}: evaluation {} read other samples.",
                                    evaluations.size() == 1 ? "" : "s", fmt::join(evaluations, ", "), since));
    }
    return lines;
}

}  // namespace lockstep
