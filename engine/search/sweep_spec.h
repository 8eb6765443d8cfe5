#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/rungs.h"
#include "engine/search/search_space.h"

namespace lockstep {

constexpr std::int64_t kSweepVersion = 1;

// The whole truth about a sweep, as plain values.
struct SweepSpec {
    std::string title;
    TrialSpec trial;  // what is not varied
    std::vector<Dimension> vary;
    std::vector<Constraint> constraints;
    std::string method = "random";  // or another of searchMethods()
    std::int64_t trials = 20;       // cells to try; of a grid at most so many, 0: all
    std::int64_t repeats = 1;       // trials of each cell, which differ in their seeds
    std::string objective;          // key of a metric of evaluations; empty: what counts for the model
    std::int64_t parallel = 1;      // trials at once
    std::string scheduler;          // "asha", "asha-stopping": see rungs.h; empty: each trial trains all its epochs
    std::int64_t firstRung = 1;     // of a scheduler: the lowest rung, in epochs
    std::int64_t reduction = 3;     // of a scheduler: of so many cells one goes on
    std::int64_t retries = 2;       // of a trial that failed
    std::int64_t maxFailures = 0;   // failed cells that end the sweep; 0: as many as there are
    std::uint64_t seed = 1;         // of what is suggested; a repeat's trial has its own from trial.seed on
    bool operator==(const SweepSpec&) const = default;
};

// JSON, one object; absent keys keep their defaults. Reads what sweepJson() writes, and as shorter forms: a list for
// {"values": list}; "trial" as a spec file has it. A sweep's `vary`:
//   "learning_rate": {"from": 0.001, "to": 1, "scale": "log"}            also "step", "points", "whole": true
//   "batch": [64, 128, 256]
//   "optimizer.momentum": {"from": 0.8, "to": 0.99, "when": {"optimizer": ["sgd", "lars"]}}
// Problems name the path ("vary.batch.from"): "sweep.newer-version", those of a spec file and of Constraint::parse().
std::string sweepJson(const SweepSpec& sweep);
Result<SweepSpec> sweepFromJson(std::string_view json, std::string_view fileName);
// The same of what is to be judged further, so that everything wrong is said at once: adds to `problems`, and leaves
// out the dimensions that cannot be read. Empty: it is no sweep, or its trial cannot be read.
std::optional<SweepSpec> readSweep(std::string_view json, std::string_view fileName, std::vector<Problem>& problems);

// The kind of a setting where one is known: its field. Of a model's setting only who has the registry knows.
using FieldOf = std::function<std::optional<ParamField>(const TrialSpec& spec, const std::string& path)>;
std::optional<ParamField> ownField(const TrialSpec& spec, const std::string& path);  // of the trial's own settings

// Says of ranges that do not say so themselves whether they are of whole numbers, and makes a text's choices of what
// was written as numbers.
void adoptKinds(SweepSpec& sweep, const FieldOf& fieldOf);

// Its space and what else may be wrong: problems of SearchSpace::from() and checkGrid(); those of rungsOf() and
// "search.scheduled-epochs" (they are varied) where it has a scheduler; "search.method", "search.out-of-range",
// "search.objective", "search.repeats-of-seeds" where the seed is varied as well, "search.other-samples" where cells
// would be chosen by validation samples of their own, "search.too-many-dimensions" for Sobol.
Result<SearchSpace> spaceOf(const SweepSpec& sweep);
// The same of a sweep that trains nothing (test_functions.h): its trial and its objective say nothing.
Result<SearchSpace> functionSpaceOf(const SweepSpec& sweep);

// nullopt: without a scheduler. Of a sweep that spaceOf() accepts.
std::optional<Rungs> rungsOf(const SweepSpec& sweep);

// What a person writes behind --vary: "batch=64,128", "learning_rate=log:1e-3..1", "optimizer.momentum=0.8..0.99",
// "epochs=1..9:2" (a step of 2), "learning_rate=log:1e-3..1/4" (4 points),
// "optimizer.beta2=0.9..0.999?optimizer=adamw".
Result<Dimension> dimensionFrom(std::string_view words);
std::string wordsOf(const Dimension& dimension);  // that dimensionFrom() reads, but for texts with quotes
std::string wordsOf(const Cell& cell);            // "batch=64 learning_rate=0.01"

}  // namespace lockstep
