#pragma once
#include <filesystem>

#include "engine/train/checkpoint.h"
#include "engine/train/plan_run.h"

namespace lockstep {

struct OnnxOptions {
    bool foldsNorms = true;   // batch norms into the convolutions before them
    bool normalises = false;  // the model takes pixels of 0 to 1 and normalises them itself
};
// Writes what evaluation computes of a checkpoint as an ONNX file, see model/onnx_graph.h; its metadata say what the
// model needs elsewhere: classes, size, channel order, mean and deviation. Returns the file's bytes. The old file or
// the new one is there, whole. Throws ProblemError ("checkpoint.mismatch", those of onnxFile()) and EngineError(Io).
std::size_t exportOnnx(const Checkpoint& checkpoint, const ResolvedSpec& resolved, const DatasetInfo& trained,
                       const OnnxOptions& options, const std::filesystem::path& file);

}  // namespace lockstep
