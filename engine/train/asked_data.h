#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/data/dataset.h"
#include "engine/spec/trial_spec.h"

namespace lockstep {

// Which samples of a dataset a model is asked about.
enum class AskedSplit { Test, Validation, Train, All };
AskedSplit askedSplit(std::string_view name);  // "test", "validation", "train", "all"

// A split as a model reads it that was trained on `trained`: labels are its classes, found by their names, and pixels
// are normalised as in training. Classes of which no name is known, and which are called 0, 1, 2…, are taken by these
// numbers. Problems: "evaluate.other-fields" (sizes, kinds), "evaluate.other-classes" (those that the model does not
// know); both with the name of the data, for example their path, as field.
Result<std::shared_ptr<const Dataset>> asAsked(const DatasetSplits& data, AskedSplit split, const DatasetInfo& trained,
                                               const std::string& name = "data");

// What is to be said where asAsked() takes classes by their numbers: "evaluate.by-numbers", with the pairs.
std::optional<Problem> takenByNumbers(const DatasetSplits& data, const DatasetInfo& trained,
                                      const std::string& name = "data");

// Settings that let another source of data give what `trained` had, as far as it has such settings: sizes and colour of
// images, the length of texts.
std::map<std::string, ParamValue> paramsAsTrained(const DatasetEntry& entry, const DatasetInfo& trained);

// The spec, but of the data of `entry` at `path` (empty: at their own place), at the sizes that the model reads.
TrialSpec specAskingAbout(TrialSpec spec, const DatasetEntry& entry, const std::filesystem::path& path,
                          const DatasetInfo& trained);

}  // namespace lockstep
