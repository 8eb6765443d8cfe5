#pragma once
#include "engine/backend/backend.h"
#include "engine/data/batch_layout.h"
#include "engine/plan/program.h"

namespace lockstep {

struct CompileOptions {
    int threads = 1;                               // kernel threads of the device
    std::size_t bucketBytes = 4u << 20;            // a bucket is closed once it holds this much (the first: a quarter)
    std::shared_ptr<const StoragePlan> storage;    // null: this is the nominal training program and decides it
    bool reduces = true;                           // false: world of one; no all-reduce steps
};

// The batch size of `forward` is that of its "image" input. `batch` says where inputs lie in a batch slot.
// Passes in order: gradients (autodiff) on a copy of the forward graph, precision, lower (the backend's), storage and
// buckets, schedule, memory; verify() between them. Throws ProblemError for what a person can repair, EngineError
// otherwise.
Program compileTraining(const Graph& forward, const Backend& backend, const UpdateRule& update,
                        const BatchLayout& batch, const CompileOptions& options);

// A training step of a rank that has no samples this time.
Program compileEmptyTraining(const Program& nominal);

// Forward only: writes the scalar outputs (not reduced; the trainer adds them up over steps and ranks).
Program compileEvaluation(const Graph& forward, const Backend& backend, const BatchLayout& batch,
                          const CompileOptions& options);

}  // namespace lockstep
