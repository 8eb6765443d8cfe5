#pragma once
#include "engine/backend/backend.h"
#include "engine/data/batch_layout.h"
#include "engine/plan/program.h"

namespace lockstep {

struct CompileOptions {
    int threads = 1;                             // kernel threads of the device
    std::size_t bucketBytes = 4u << 20;          // a bucket is closed once it holds this much (the first: a quarter)
    std::shared_ptr<const StoragePlan> storage;  // null: this is the nominal training program and decides it
    Precision precision = Precision::Fp32;       // one that the backend offers
    bool reduces = true;                         // false: world of one; no all-reduce steps
    AlgorithmChoice algorithms = AlgorithmChoice::ByRule;
    bool recomputes = false;  // training: activations are made again instead of kept: recompute.h
};

// The forward graph of each pass over the rank's samples, in their order. The same graph twice is compiled once; null:
// a pass without samples. The first decides the storage, so it is there.
using ForwardPasses = std::vector<const Graph*>;

// The batch size of a forward graph is that of its inputs. `batch` says where inputs lie in a batch slot.
// Each graph in order: gradients (autodiff) on a copy, recompute, precision, lower (the backend's), storage and buckets
// (the first time), schedule, memory; verify() between them. Throws ProblemError for what a person can repair,
// EngineError otherwise.
Program compileTraining(const ForwardPasses& forward, const Backend& backend, const UpdateRule& update,
                        const BatchLayout& batch, const CompileOptions& options);

// A training step of a rank that has no samples this time: zeros for every collective of the nominal program.
Program compileEmptyTraining(const Program& nominal);

// Forward only: writes the scalar outputs (not reduced; the trainer adds them up over steps and ranks).
Program compileEvaluation(const ForwardPasses& forward, const Backend& backend, const BatchLayout& batch,
                          const CompileOptions& options);

}  // namespace lockstep
