#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datasets/reading.h"
#include "engine/data/dataset.h"

namespace lockstep {

// What a source makes of a folder.
struct Loaded {
    std::shared_ptr<const Dataset> train, test;  // their labels are resident, if there are any
    std::vector<SkippedFile> skipped;
    std::vector<Problem> warnings;
    std::vector<Problem> notes = {};                 // for the report alone
    std::vector<Problem> choices = {};               // DatasetSplits::notes
    std::shared_ptr<const Dataset> validation = {};  // null: the source has none
};

// Reads a folder; throws ProblemError for whatever a person can repair.
using LoadFunction = std::function<Loaded(const std::filesystem::path&, const ParamValues&, Reading&)>;

// Gives the entry its open and inspect, both by `load`: one way to read for training and for reporting. Also checks
// what holds for every source: a test split, equal shapes, at least two classes with training samples.
void loadBy(DatasetEntry& entry, LoadFunction load);

// Class names "0", "1", …
std::vector<std::string> numbered(int classes);

// Splits a text file into lines without their line ends; empty lines are dropped. Throws ProblemError.
std::vector<std::string> readLines(const std::filesystem::path& file);

}  // namespace lockstep
