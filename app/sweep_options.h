#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/spec_options.h"
#include "engine/search/sweep_spec.h"

namespace lockstep {

// A sweep as the command line states it: a file, a trial's options, and what is varied. What is given goes over the
// file.
struct SweepOptions {
    std::string file;
    SpecOptions trial;
    std::vector<std::string> vary, constraints;
    std::optional<std::string> method, objective, scheduler;
    std::optional<std::int64_t> firstRung, reduction, trials, repeats, parallel, retries, maxFailures;
    std::optional<std::uint64_t> seed;
    std::vector<std::string> given;  // names of all options that stand on the command line
};
void addSweepOptions(CLI::App& command, SweepOptions& options);
std::vector<std::string> givenOptions(const CLI::App& command);  // once it is parsed

// Without the trial's options and what follows from them. Adds problems of the file, of --vary and of --constraint;
// nullopt: the file cannot be read.
std::optional<SweepSpec> statedSweep(const SweepOptions& options, std::vector<Problem>& problems);

// Problems: of the file, of the options, of every value that a trial could not have, and those of spaceOf().
Result<SweepSpec> sweepFrom(const SweepOptions& options, const Environment& environment);

}  // namespace lockstep
