#pragma once
#include <filesystem>
#include <string>

#include "engine/train/checkpoint.h"
#include "engine/train/plan_run.h"

namespace lockstep {

struct OnnxOptions {
    bool foldsNorms = true;   // batch norms into the convolutions before them
    bool normalises = false;  // the model takes pixels of 0 to 1 and normalises them itself
};
// What evaluation computes of a checkpoint as the bytes of an ONNX file, see model/onnx_graph.h; its metadata say what
// the model needs elsewhere: classes, size, channel order, mean and deviation. Of the spec only the model counts: its
// devices need not be there, see resolveToExport(). Throws ProblemError ("checkpoint.mismatch", those of onnxFile()).
std::string onnxOf(const Checkpoint& checkpoint, const ResolvedSpec& resolved, const DatasetInfo& trained,
                   const OnnxOptions& options);
// And writes it by writeNamedFile() of core/durable_file.h; returns how many bytes. Throws EngineError(Io), too.
std::size_t exportOnnx(const Checkpoint& checkpoint, const ResolvedSpec& resolved, const DatasetInfo& trained,
                       const OnnxOptions& options, const std::filesystem::path& file);

}  // namespace lockstep
