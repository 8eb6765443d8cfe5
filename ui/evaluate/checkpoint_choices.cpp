#include "ui/evaluate/checkpoint_choices.h"

#include <algorithm>

namespace lockstep::ui {

std::vector<CheckpointFile> checkpointChoices(const std::vector<CheckpointFile>& kept) {
    std::vector<CheckpointFile> choices;
    const auto isNewest = [](const CheckpointFile& each) { return each.role == kLast; };
    if (!std::ranges::all_of(kept, isNewest)) choices.push_back({std::string(kBest), 0});
    std::ranges::copy_if(kept, std::back_inserter(choices), isNewest);
    std::ranges::copy_if(kept, std::back_inserter(choices), [](const CheckpointFile& each) { return each.epoch > 0; });
    return choices;
}

std::string checkpointShown(const std::vector<CheckpointFile>& choices, const Evaluation* evaluation,
                            const EvalCounts* ofTraining) {
    if (choices.empty()) return {};
    const std::string shown = evaluation ? evaluation->checkpoint : ofTraining ? epochRole(ofTraining->epoch) : "";
    const bool isKept = std::ranges::find(choices, shown, &CheckpointFile::role) != choices.end();
    return isKept ? shown : choices.front().role;
}

}  // namespace lockstep::ui
