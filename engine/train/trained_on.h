#pragma once
#include <optional>
#include <string>

#include "engine/core/result.h"
#include "engine/data/dataset.h"
#include "engine/spec/data_known.h"

namespace lockstep {

struct Checkpoint;
struct ResolvedSpec;

// What a model must know of the training data in order to read others: fields, classes, mean and deviation, as JSON in
// the metadata of its checkpoints. Without a count; nothing of it is resident.
std::string trainedOnText(const DatasetInfo& train);
// Empty: the text is not of this form. What the engine takes for granted of fields holds then: an image is u8 and has
// three extents, a label is one i32, and no field has more than 2^28 elements. Nothing larger than 32 times the text is
// allocated.
std::optional<DatasetInfo> trainedOnFrom(const std::string& text);

// What a checkpoint says of its data, to be kept elsewhere; empty: it is from before it said anything.
DataKnown knownBy(const Checkpoint& checkpoint);

// What a model knows of the data it was trained on: as its checkpoint says, or, of one from before it did, as the data
// of its spec say. Problems: those of openData().
Result<DatasetInfo> trainedOn(const Checkpoint& checkpoint, const ResolvedSpec& resolved);

}  // namespace lockstep
