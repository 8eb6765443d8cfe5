#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "engine/train/plan_run.h"

namespace lockstep {

// A script that trains a trial's model on its data in PyTorch, alone or under torchrun. It needs nothing of ours; what
// it does not express of the spec it says at its top.
struct PytorchExport {
    const TrialSpec& spec;
    const ResolvedSpec& resolved;  // resolveToExport(spec)
    const DatasetInfo& trained;    // fields and classes; without mean and deviation the script measures them itself
    int devices = 1;               // of the trial; 0: nobody knows
    std::int64_t trial = 0;        // its number; 0: it has none
    bool hasCheckpoint = false;    // so that there are weights to go on from
    std::string file = {};         // what the script will be called, for the examples in it
    // The texts of resources/pytorch, by the name of the file.
    std::function<std::string_view(std::string_view name)> text;
};
// Throws ProblemError ("export.pytorch-unknown-op", those of modelInput() and buildForward()).
std::string pytorchScript(const PytorchExport& request);

// The settings in full, also of a spec whose devices or precision this machine has not: those do not matter to the
// script. Problems: those of resolve().
Result<ResolvedSpec> resolveToExport(const TrialSpec& spec, const Environment& environment);
// How many devices the spec names; 0: that depends on the machine.
int devicesNamed(const TrialSpec& spec);

// Fields and classes of the training data, and mean and deviation if they are known before samples are read. Reads no
// more of them than their format asks for. Problems: of the dataset.
Result<DatasetInfo> describeData(const ResolvedSpec& resolved);

}  // namespace lockstep
