#pragma once
#include <memory>

#include "engine/data/dataset.h"

namespace lockstep {

// Which samples of a dataset a model is asked about.
enum class AskedSplit { Test, Train, All };

// A split as a model reads it that was trained on `trained`: labels are its classes, found by their names, and pixels
// are normalised as in training. Classes that are named by numbers alone are taken by them. Problems:
// "evaluate.other-fields" (sizes, kinds), "evaluate.other-classes" (those that the model does not know).
Result<std::shared_ptr<const Dataset>> asAsked(const DatasetSplits& data, AskedSplit split, const DatasetInfo& trained);

// Settings that let another source of data give what `trained` had, as far as it has such settings: sizes and colour of
// images, the length of texts.
std::map<std::string, ParamValue> paramsAsTrained(const DatasetEntry& entry, const DatasetInfo& trained);

}  // namespace lockstep
