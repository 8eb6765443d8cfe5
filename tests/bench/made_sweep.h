#pragma once
#include <cstdint>
#include <filesystem>

namespace lockstep::test {

struct MadeSweep {
    int trials = 0;
    std::int64_t epochs = 9;
    unsigned seed = 1;  // the same seed, the same sweep
};

// Adds a sweep that has ended to the history `file`, in one transaction; its number. Twelve settings: rates and decays
// on log scales, choices, and a momentum that only one optimizer has. The objective, the test accuracy, depends
// smoothly on some of them, and trembles; too high rates diverge, a few trials fail, poor ones are cut short. Each was
// evaluated after every epoch. Throws ProblemError.
std::int64_t makeSweep(const std::filesystem::path& file, const MadeSweep& wanted);

}  // namespace lockstep::test
