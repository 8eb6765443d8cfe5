#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "engine/core/result.h"
#include "tests/bench/made_history.h"
#include "tests/bench/made_sweep.h"

// lockstep_make_history N FOLDER [STEPS]: a history of N trials in FOLDER, for tests and benchmarks of what reads it.
// lockstep_make_history --sweep N FOLDER: of one sweep with N trials of twelve settings, as one more where it has some.
namespace {

using namespace lockstep;

int usage(const char* program) {
    std::fprintf(stderr, "usage: %s N FOLDER [STEPS]\n       %s --sweep N FOLDER\n", program, program);
    return 2;
}

}  // namespace

int main(int count, char** words) {
    const bool isSweep = count > 1 && std::string_view(words[1]) == "--sweep";
    const int first = isSweep ? 2 : 1;
    const int trials = count > first + 1 ? std::atoi(words[first]) : 0;
    const int steps = !isSweep && count > 3 ? std::atoi(words[3]) : 200;
    if (trials < 1 || steps < 0) return usage(words[0]);
    try {
        const std::filesystem::path folder = words[first + 1], file = folder / "history.sqlite";
        std::filesystem::create_directories(folder);
        if (isSweep) test::makeSweep(file, {.trials = trials});
        else test::makeHistory(file, {trials, steps, 1});
        return 0;
    } catch (const ProblemError& error) {
        std::fprintf(stderr, "%s: %s %s\n", error.problem().field.c_str(), error.problem().code.c_str(),
                     error.problem().args.empty() ? "" : error.problem().args.front().c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return 1;
}
