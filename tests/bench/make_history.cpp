#include <cstdio>
#include <cstdlib>

#include "engine/core/result.h"
#include "tests/bench/made_history.h"

// lockstep_make_history N FOLDER [STEPS]: a history of N trials in FOLDER, for tests and benchmarks of what reads it.
int main(int count, char** words) {
    const int trials = count > 2 ? std::atoi(words[1]) : 0;
    const int steps = count > 3 ? std::atoi(words[3]) : 200;
    if (trials < 1 || steps < 0) {
        std::fprintf(stderr, "usage: %s N FOLDER [STEPS]\n", words[0]);
        return 2;
    }
    try {
        const std::filesystem::path folder = words[2];
        std::filesystem::create_directories(folder);
        lockstep::test::makeHistory(folder / "history.sqlite", {trials, steps, 1});
        return 0;
    } catch (const lockstep::ProblemError& error) {
        std::fprintf(stderr, "%s: %s %s\n", error.problem().field.c_str(), error.problem().code.c_str(),
                     error.problem().args.empty() ? "" : error.problem().args.front().c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return 1;
}
