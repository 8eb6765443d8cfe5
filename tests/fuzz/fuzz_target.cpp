#include "tests/fuzz/fuzz_target.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

namespace {

constexpr std::array kTargets{
    FuzzTarget{"idx", runIdx, capOfIdx},
    FuzzTarget{"cifar", runCifar, capOfCifar},
    FuzzTarget{"jpeg", runJpeg, capOfImage},
    FuzzTarget{"png", runPng, capOfImage},
    FuzzTarget{"image_folder", runImageFolder, capOfImage},
    FuzzTarget{"text_csv", runTextCsv, capOfCsv},
    FuzzTarget{"label_list", runLabelList, capOfCsv},
    FuzzTarget{"archive", runArchive, capOfArchive},
    FuzzTarget{"checkpoint", runCheckpoint, capOfJson},
    FuzzTarget{"trial_spec", runTrialSpec, capOfJson},
    FuzzTarget{"train_event", runTrainEvent, capOfJson},
    FuzzTarget{"protocol", runProtocol, capOfJson},
    FuzzTarget{"trace_file", runTraceFile, capOfTraceFile},
    FuzzTarget{"series_chunk", runSeriesChunk, capOfSeriesChunk},
    FuzzTarget{"plugin_answer", runPluginAnswer, capOfJson},
    FuzzTarget{"plugin_table", runPluginTable, capOfPluginTable},
};

}  // namespace

std::span<const FuzzTarget> fuzzTargets() { return kTargets; }

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

// A text may be all empty strings, three bytes each, of 32 in an array that grows by doubling.
std::size_t capOfJson(std::size_t bytes) { return 32 * bytes + kSmallChange; }

}  // namespace lockstep::fuzz
