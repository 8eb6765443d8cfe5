#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/train/trainer.h"

namespace lockstep {

// Opens the data where the spec says, or at the dataset's own place, with their fingerprint (of before anything is held
// out), and divides them as it asks. A model that does not fit
// their fields or classes is refused as soon as those are known, before the samples are read. Problems: of the dataset,
// "dataset.cancelled", of building the model. Of data to be asked about (OpeningWatch::trains) nothing is refused here.
Result<DatasetSplits> openData(const ResolvedSpec& resolved, OpeningWatch watch = {});

// That a model is for images of another size than these, with the name of one that fits; nothing: they fit.
std::optional<Problem> misfit(const ModelEntry& model, const DatasetInfo& info);

// The splits as a trial has them: where it holds out a share of the training samples, those are its validation split,
// instead of the dataset's own. Not of the seed that trials differ by, so that all that are compared have the same.
// Throws what Dataset::read() throws.
void divideAsAsked(const TrialSpec& spec, DatasetSplits& splits);

// For a run: ends when `control` is asked to stop, and tells the sinks DataProgress meanwhile, with the number 0.
Result<DatasetSplits> openData(const ResolvedSpec& resolved, const RunControl& control,
                               const std::vector<EventSink*>& sinks);

// Where a run goes on from a checkpoint with data that are not those it was trained on: it is refused, or it goes on
// and says so.
enum class ChangedData { Refuse, Accept };

// Compares the data that were opened with those of the checkpoint, if it says what they were. Problems, one for each
// split that is another: "data.other-count", "data.other-content". Accepted, they are remarks of the data instead.
std::vector<Problem> compareData(const Checkpoint& checkpoint, const ResolvedSpec& resolved, ChangedData changed,
                                 DatasetSplits& data);

// A watch whose progress `tell` hears with its rate, once opening has lasted for half a second.
OpeningWatch watchWithRate(std::function<void(const DataProgress&)> tell);

// Whether it was not refused, but called off.
bool isCancelled(const std::vector<Problem>& problems);

}  // namespace lockstep
