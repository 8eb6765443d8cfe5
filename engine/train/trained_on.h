#pragma once
#include <optional>
#include <string>

#include "engine/data/dataset.h"

namespace lockstep {

// What a model must know of the training data in order to read others: fields, classes, mean and deviation, as JSON in
// the metadata of its checkpoints. Without a count; nothing of it is resident.
std::string trainedOnText(const DatasetInfo& train);
// Empty: the text is not of this form. Nothing larger than 32 times the text is allocated.
std::optional<DatasetInfo> trainedOnFrom(const std::string& text);

}  // namespace lockstep
