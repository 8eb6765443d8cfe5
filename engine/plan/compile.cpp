#include "engine/plan/compile.h"

#include "engine/autodiff/gradients.h"
#include "engine/core/error.h"
#include "engine/plan/activations.h"
#include "engine/plan/align.h"
#include "engine/plan/precision.h"
#include "engine/plan/schedule.h"
#include "engine/plan/storage.h"

namespace lockstep {

namespace {

std::int64_t batchOf(const Graph& graph) {
    const auto image = graph.find("image");
    if (!image) throw EngineError(EngineError::Kind::Internal, "image", "the graph has no such input");
    return graph.typeOf(*image).shape[0];
}

Graph withGradients(const Graph& forward) {
    Graph graph = forward;
    const auto loss = graph.output("loss_sum");
    if (!loss) throw EngineError(EngineError::Kind::Internal, "loss_sum", "the graph has no such output");
    appendGradients(graph, *loss);
    verify(graph);
    return graph;
}

std::shared_ptr<const Graph> lower(const Graph& graph, const Backend& backend, const CompileOptions& options) {
    const Graph precise = toPrecision(graph, backend.computeType());
    verify(precise);
    ParameterLayouts layouts;
    if (options.storage) layouts = layoutsOf(*options.storage);
    auto lowered = std::make_shared<const Graph>(
        backend.lower(precise, {.threads = options.threads, .layouts = options.storage ? &layouts : nullptr}));
    verify(*lowered);
    return lowered;
}

std::shared_ptr<const StoragePlan> storageFor(const Graph& lowered, const Backend& backend, int stateCount,
                                              const CompileOptions& options) {
    if (options.storage) return options.storage;
    return std::make_shared<const StoragePlan>(
        planStorage(lowered, backend.computeType(), stateCount, options.bucketBytes));
}

std::size_t& bytesOf(Program& program, Arena arena) { return program.arenaBytes[static_cast<std::size_t>(arena)]; }

void setArenas(Program& program, const BatchLayout& batch) {
    const StoragePlan& storage = *program.storage;
    bytesOf(program, Arena::Io) = batch.bytes();
    bytesOf(program, Arena::Parameters) = storage.parameterBytes;
    bytesOf(program, Arena::Buffers) = storage.bufferBytes;
    bytesOf(program, Arena::Scalars) = program.scalars.gateOffset;
    if (program.kind == Program::Kind::Evaluation) return;
    bytesOf(program, Arena::Gradients) = storage.parameterBytes;
    bytesOf(program, Arena::OptimizerState) = static_cast<std::size_t>(storage.stateCount) * storage.parameterBytes;
    bytesOf(program, Arena::Staging) = storage.bufferBytes;
    bytesOf(program, Arena::Scalars) += alignUp(sizeof(UpdateGate));
}

// What training and evaluation have in common once the graph is lowered.
void plan(Program& program, const Backend& backend, const BatchLayout& batch, const CompileOptions& options) {
    const bool training = program.kind == Program::Kind::Training;
    const Graph& graph = *program.graph;
    program.backend = backend.name();
    program.threads = options.threads;
    program.localBatch = batchOf(graph);
    program.scalars = nameScalars(graph, training ? program.storage->buckets.size() : 0, training);
    const Placement placement = placeValues(graph, *program.storage, batch, program.scalars);
    const ScheduleInput input{graph, placement, *program.storage, program.scalars, program.localBatch,
                              !backend.hostMemory(), options.reduces};
    std::vector<DraftStep> drafts = training ? scheduleTraining(input) : scheduleEvaluation(input);
    const ActivationPlan activations = assignActivations(drafts, graph, placement);
    for (DraftStep& draft : drafts) program.steps.push_back(std::move(draft.step));
    setArenas(program, batch);
    bytesOf(program, Arena::Activations) = activations.bytes;
    program.activationBytesWithoutReuse = activations.bytesWithoutReuse;
}

}  // namespace

Program compileTraining(const Graph& forward, const Backend& backend, const UpdateRule& update,
                        const BatchLayout& batch, const CompileOptions& options) {
    Program program;
    program.update = update;
    program.graph = lower(withGradients(forward), backend, options);
    program.storage = storageFor(*program.graph, backend, update.stateCount(), options);
    verifyStorage(*program.storage, *program.graph, true);
    if (program.storage->stateCount != update.stateCount()) {
        throw EngineError(EngineError::Kind::Internal, "storage", "was planned for another update rule");
    }
    plan(program, backend, batch, options);
    return program;
}

Program compileEmptyTraining(const Program& nominal) {
    Program program = nominal;
    program.localBatch = 0;
    program.graph = nullptr;
    program.steps = scheduleEmptyTraining(nominal);
    bytesOf(program, Arena::Activations) = 0;
    program.activationBytesWithoutReuse = 0;
    return program;
}

Program compileEvaluation(const Graph& forward, const Backend& backend, const BatchLayout& batch,
                          const CompileOptions& options) {
    verify(forward);
    Program program;
    program.kind = Program::Kind::Evaluation;
    program.graph = lower(forward, backend, options);
    program.storage = storageFor(*program.graph, backend, 0, options);
    verifyStorage(*program.storage, *program.graph, false);
    plan(program, backend, batch, options);
    return program;
}

}  // namespace lockstep
