#include "app/checkpoint_file.h"

#include <algorithm>
#include <charconv>

#include "app/history_access.h"

namespace lockstep {

namespace fs = std::filesystem;

bool namesTrial(const std::string& word) {
    return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

Result<fs::path> checkpointFile(const std::string& word, CheckpointRole role) {
    if (!namesTrial(word)) return fs::path(word);
    auto trials = openTrials();
    std::int64_t trial = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), trial).ec != std::errc())
        return Problem{"trial", "trial.unknown", {word, trials.places().history().string()}};
    const auto row = trials.row(trial);
    const fs::path folder = fs::path(row.runDirectory) / "checkpoints";
    const fs::path file = folder / (role == CheckpointRole::Best ? "best.safetensors" : "last.safetensors");
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return Problem{file.string(), "trial.no-checkpoint", {word}};
    return file;
}

std::int64_t keepEvaluation(const Evaluation& evaluation) {
    auto trials = openTrials();
    return trials.store().addEvaluation(evaluation);
}

}  // namespace lockstep
