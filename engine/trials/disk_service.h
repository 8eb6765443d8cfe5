#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/trials/disk_plan.h"
#include "engine/trials/disk_weight.h"
#include "engine/trials/trial_service.h"

namespace lockstep {

struct Freed {
    std::uint64_t bytes = 0;
    std::vector<std::int64_t> trials;  // of which something was freed
    std::vector<std::int64_t> spared;  // that have begun to run meanwhile, or changed
    std::vector<Problem> problems;     // "disk.not-removed"
};

// One thread, like the service that it asks. What is weighed are blocks of the disk, see disk_use.h; no symbolic link
// below the home is followed.
class DiskService {
public:
    explicit DiskService(TrialService& trials) : m_trials(trials) {}

    DiskWeight weigh();
    // Each trial under its lease, after another look at its row and files: what is not as planned stays. An orphan goes
    // whole or stays, after such a look as well. A folder of checkpoints that loses some gets a mark first, see
    // kept_checkpoints.h.
    Freed free(const FreePlan& plan);

private:
    using PausedAtRungs = std::unordered_map<std::int64_t, std::int64_t>;
    TrialWeight weighTrial(const TrialRow& row, bool isQueued, const PausedAtRungs& paused);
    TrialWeight weighAgain(const TrialRow& row);
    bool isKnown(std::int64_t trial);
    void freeTrial(const FreeItem& item, const FreePlan& plan, Freed& freed);
    void freeOrphan(const FreeItem& item, const FreePlan& plan, Freed& freed);
    void remove(const std::filesystem::path& folder, const std::vector<DiskFile>& files, Freed& freed) const;

    TrialService& m_trials;
};

}  // namespace lockstep
