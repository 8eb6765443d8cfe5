#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/spec/kept_checkpoints.h"
#include "engine/spec/metrics.h"
#include "engine/train/checkpoint.h"

namespace lockstep {

// A file of a trial's folder "checkpoints" and what its header says, without the tensors.
struct FoundCheckpoint {
    CheckpointFile file;
    std::int64_t step = 0, epoch = 0;  // updates and epochs done, one under way included
    std::optional<CheckpointScore> score;
};
// Those whose headers can be read: last, best, epochs ascending.
std::vector<FoundCheckpoint> findCheckpoints(const std::filesystem::path& folder);
// The role of the best of them, by their scores; of equal ones the earliest. Empty: none but perhaps the last is there.
std::string bestRole(const std::vector<FoundCheckpoint>& found);

// Chooses which checkpoints of a run stay beside the newest. Of a folder with a run's own, those that are too many go
// with the next that is written: a kill between writing and removing leaves one more until then. One thread.
class CheckpointKeeper {
public:
    CheckpointKeeper() = default;
    // goesOn: what lies there is the run's own; else an earlier one's, which goes with the first that is written.
    CheckpointKeeper(std::filesystem::path folder, KeptCheckpoints kept, const Metric& objective, bool goesOn);

    // After an evaluation, which was the best so far or not: the role under which a checkpoint is to be written. Empty:
    // it is not among the best.
    std::string take(std::int64_t epoch, double score, bool isBest);
    // Those that are too many. To be called once what take() named is on the disk. Problems "checkpoint.not-removed".
    std::vector<Problem> removeOthers();

private:
    struct Entry {
        std::string role;
        std::int64_t epoch = 0;
        double score = 0;
    };
    void insert(Entry entry);

    std::filesystem::path m_folder;
    KeptCheckpoints m_kept;
    const Metric* m_objective = nullptr;
    std::vector<Entry> m_best;          // the best first
    std::vector<std::string> m_others;  // roles
};

}  // namespace lockstep
