#pragma once
#include <filesystem>

namespace lockstep::test {

struct MadeHistory {
    int trials = 0;
    int steps = 200;    // of each trial's curve; 0: none
    unsigned seed = 1;  // the same seed, the same history
};

// Adds trials to the history `file`, in one transaction: settings in groups of three seeds, every final state, tags,
// stars, notes, some of them archived or in the trash, curves that fall as losses do. Throws ProblemError.
void makeHistory(const std::filesystem::path& file, const MadeHistory& wanted);

}  // namespace lockstep::test
