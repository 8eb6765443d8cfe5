#include "engine/plan/compile.h"

#include <algorithm>
#include <map>

#include "engine/autodiff/gradients.h"
#include "engine/core/error.h"
#include "engine/plan/activations.h"
#include "engine/plan/align.h"
#include "engine/plan/flat_steps.h"
#include "engine/plan/precision.h"
#include "engine/plan/recompute.h"
#include "engine/plan/schedule.h"
#include "engine/plan/storage.h"

namespace lockstep {

namespace {

std::int64_t batchOf(const Graph& graph) {
    const auto inputs = graph.withRole(ValueRole::Input);
    if (inputs.empty()) throw EngineError(EngineError::Kind::Internal, "batch", "the graph has no inputs");
    return graph.typeOf(inputs.front()).shape[0];
}

Graph withGradients(const Graph& forward, bool recomputes) {
    Graph graph = forward;
    const auto loss = graph.output("loss_sum");
    if (!loss) throw EngineError(EngineError::Kind::Internal, "loss_sum", "the graph has no such output");
    const std::vector<NodeId> differentiated = appendGradients(graph, *loss);
    verify(graph);
    if (!recomputes) return graph;
    Graph again = recomputed(graph, differentiated);
    verify(again);
    return again;
}

std::shared_ptr<const Graph> lower(const Graph& graph, const Backend& backend, const CompileOptions& options,
                                   const StoragePlan* storage) {
    const Graph precise = toPrecision(graph, backend.computeType(options.precision));
    verify(precise);
    ParameterLayouts layouts;
    if (storage) layouts = layoutsOf(*storage);
    auto lowered = std::make_shared<const Graph>(backend.lower(precise, {.threads = options.threads,
                                                                         .layouts = storage ? &layouts : nullptr,
                                                                         .precision = options.precision,
                                                                         .algorithms = options.algorithms}));
    verify(*lowered);
    return lowered;
}

// Of a graph's parameters, as the backend has lowered them; those of f16 and bf16 have masters.
DType parameterType(const Graph& lowered, DType compute) {
    for (const ValueRole role : {ValueRole::Parameter, ValueRole::Frozen}) {
        for (const ValueId parameter : lowered.withRole(role)) return lowered.typeOf(parameter).dtype;
    }
    return compute;
}

std::size_t& bytesOf(Program& program, Arena arena) { return program.arenaBytes[static_cast<std::size_t>(arena)]; }

void setArenas(Program& program, const BatchLayout& batch) {
    const StoragePlan& storage = *program.storage;
    const FlatSteps flat(program.kind, storage, program.scalars);
    bytesOf(program, Arena::Io) = batch.bytes();
    for (const Arena arena : {Arena::Parameters, Arena::Masters, Arena::Averages, Arena::Buffers})
        bytesOf(program, arena) = storage.arenaBytes(arena);
    bytesOf(program, Arena::Scalars) = program.scalars.gateOffset;
    bytesOf(program, Arena::Partials) = flat.partialBytes(program.passes.size());
    if (program.kind == Program::Kind::Evaluation) return;
    for (const Arena arena : {Arena::Gradients, Arena::OptimizerState, Arena::Staging})
        bytesOf(program, arena) = storage.arenaBytes(arena);
    bytesOf(program, Arena::Scalars) += alignUp(sizeof(UpdateGate));
}

std::vector<bool> assignedBuffers(const Graph& graph, const StoragePlan& storage) {
    std::vector<bool> assigned(storage.buffers.size());
    for (const Graph::Assignment& each : graph.assignments()) {
        const StorageEntry* entry = storage.find(graph.value(each.buffer).name);
        assigned[static_cast<std::size_t>(entry - storage.buffers.data())] = true;
    }
    return assigned;
}

// Compiles pass after pass into one program. All passes share the memory of the activations: a pass is over when the
// next begins.
class ProgramCompiler {
public:
    ProgramCompiler(Program& program, const Backend& backend, const BatchLayout& batch, const CompileOptions& options)
        : m_program(program), m_backend(backend), m_batch(batch), m_options(options) {
        program.backend = backend.name();
        program.precision = options.precision;
        program.threads = options.threads;
        program.storage = options.storage;
    }

    void compile(const ForwardPasses& forward) {
        if (forward.empty() || !forward.front()) {
            throw EngineError(EngineError::Kind::Internal, "passes", "the first pass of a program has no samples");
        }
        const auto isFirst = [&](const Graph* graph) { return !graph || graph == forward.front(); };
        m_hasConstants = !training() && std::ranges::all_of(forward, isFirst);
        for (const Graph* graph : forward) addPass(graph, *forward.front());
        const StepInput input{m_program.kind, *m_program.storage, m_program.scalars,
                              assignedBuffers(*m_program.passes.front().graph, *m_program.storage), m_options.reduces};
        m_program.steps = scheduleStep(input, std::move(m_passes));
        setArenas(m_program, m_batch);
    }

private:
    struct Compiled {
        std::shared_ptr<const Graph> graph;
        std::vector<Step> steps;  // as if its samples were the first of the rank's
        std::map<std::string, Slot, std::less<>> outputs;
        std::size_t outputBytes = 0;
    };

    bool training() const { return m_program.kind == Program::Kind::Training; }

    void addPass(const Graph* forward, const Graph& first) {
        Pass pass{.graph = nullptr, .firstSample = m_program.localBatch, .samples = 0};
        std::vector<Step> steps;
        if (forward) {
            const Compiled& compiled = compiledOf(*forward);
            pass.graph = compiled.graph;
            pass.samples = batchOf(*compiled.graph);
            steps = compiled.steps;
            if (!m_passes.empty()) std::erase_if(steps, [](const Step& step) { return step.constant; });
            pass.outputs = compiled.outputs;
            const std::size_t outputs = bytesOf(m_program, Arena::Outputs);
            for (auto& [name, slot] : pass.outputs) slot.offset += outputs;
            for (Step& step : steps) moveToPass(step, pass.firstSample, outputs);
            bytesOf(m_program, Arena::Outputs) += compiled.outputBytes;
        } else {
            steps = scheduleEmptyPass(m_program.kind, *m_program.storage, m_program.scalars, compiledOf(first).steps);
        }
        m_program.localBatch += pass.samples;
        m_program.passes.push_back(std::move(pass));
        m_passes.push_back(std::move(steps));
    }

    const Compiled& compiledOf(const Graph& forward) {
        const auto [found, isNew] = m_compiled.try_emplace(&forward);
        if (isNew) found->second = compileGraph(forward);
        return found->second;
    }

    Compiled compileGraph(const Graph& forward) {
        if (!training()) verify(forward);
        const Graph whole = training() ? withGradients(forward, m_options.recomputes) : forward;
        Compiled compiled{lower(whole, m_backend, m_options, m_program.storage.get()), {}, {}, 0};
        const Graph& graph = *compiled.graph;
        useStorage(graph);
        const Placement placement = placeValues(graph, m_program.kind, *m_program.storage, m_batch, m_program.scalars);
        std::vector<DraftStep> drafts =
            schedulePass({graph, placement, *m_program.storage, m_program.scalars, m_program.kind, batchOf(graph),
                          !m_backend.hostMemory(), m_hasConstants});
        const ActivationPlan activations = assignActivations(drafts, graph, placement);
        bytesOf(m_program, Arena::Activations) = std::max(bytesOf(m_program, Arena::Activations), activations.bytes);
        m_program.activationBytesWithoutReuse =
            std::max(m_program.activationBytesWithoutReuse, activations.bytesWithoutReuse);
        for (const ValueId input : graph.withRole(ValueRole::Input)) {
            const auto& slot = placement.pinned(input);
            if (slot && slot->arena == Arena::Dataset) bytesOf(m_program, Arena::Dataset) = slot->bytes;
        }
        for (DraftStep& draft : drafts) compiled.steps.push_back(std::move(draft.step));
        compiled.outputs = placement.outputs;
        for (const auto& [name, slot] : compiled.outputs) compiled.outputBytes += alignUp(slot.bytes);
        return compiled;
    }

    // Without a storage yet, this graph decides it.
    void useStorage(const Graph& graph) {
        const UpdateRule* rule = training() ? &m_program.update : nullptr;
        if (!m_program.storage) {
            const DType parameters = parameterType(graph, m_backend.computeType(m_options.precision));
            m_program.storage =
                std::make_shared<const StoragePlan>(planStorage(graph, parameters, rule, m_options.bucketBytes));
        }
        verifyStorage(*m_program.storage, graph, training());
        if (rule && !m_program.storage->isFor(*rule)) {
            throw EngineError(EngineError::Kind::Internal, "storage", "was planned for another update rule");
        }
        m_program.scalars = nameScalars(graph, training() ? m_program.storage->buckets.size() : 0, training());
    }

    // Every input begins `samples` samples further into its field of the batch slot, every output behind those of the
    // passes before.
    void moveToPass(Step& step, std::int64_t samples, std::size_t outputs) const {
        for (auto* slots : {&step.inputs, &step.outputs}) {
            for (Slot& slot : *slots) {
                if (slot.arena == Arena::Io)
                    slot.offset += sampleBytesAt(slot.offset) * static_cast<std::size_t>(samples);
                if (slot.arena == Arena::Outputs) slot.offset += outputs;
            }
        }
    }

    std::size_t sampleBytesAt(std::size_t offset) const {
        std::size_t field = m_batch.fields().size() - 1;
        while (field > 0 && m_batch.offset(field) > offset) --field;
        return m_batch.sampleBytes(field);
    }

    Program& m_program;
    const Backend& m_backend;
    const BatchLayout& m_batch;
    const CompileOptions& m_options;
    bool m_hasConstants = false;  // of an evaluation whose passes are alike: they share them
    std::map<const Graph*, Compiled> m_compiled;
    std::vector<std::vector<Step>> m_passes;
};

}  // namespace

Program compileTraining(const ForwardPasses& forward, const Backend& backend, const UpdateRule& update,
                        const BatchLayout& batch, const CompileOptions& options) {
    Program program;
    program.update = update;
    ProgramCompiler(program, backend, batch, options).compile(forward);
    return program;
}

Program compileEmptyTraining(const Program& nominal) {
    Program program = nominal;
    const auto is = [](Step::Kind kind) { return [kind](const Step& step) { return step.kind == kind; }; };
    const bool reduces = std::ranges::any_of(nominal.steps, is(Step::Kind::AllReduce));
    const auto conclusion = std::ranges::find_if(nominal.steps, is(Step::Kind::SquareSum));
    std::vector<Step> zeros =
        scheduleEmptyPass(nominal.kind, *nominal.storage, nominal.scalars, {nominal.steps.begin(), conclusion});
    std::size_t activations = 0;
    for (const Step& step : zeros) {
        const Slot& slot = step.outputs[0];
        if (slot.arena == Arena::Activations) activations = std::max(activations, alignUp(slot.bytes));
    }
    const StepInput input{nominal.kind, *nominal.storage, nominal.scalars,
                          assignedBuffers(*nominal.passes.front().graph, *nominal.storage), reduces};
    program.localBatch = 0;
    program.passes = {Pass{}};
    program.steps = scheduleStep(input, {std::move(zeros)});
    bytesOf(program, Arena::Activations) = program.activationBytesWithoutReuse = activations;
    bytesOf(program, Arena::Partials) = 0;
    return program;
}

Program compileEvaluation(const ForwardPasses& forward, const Backend& backend, const BatchLayout& batch,
                          const CompileOptions& options) {
    Program program;
    program.kind = Program::Kind::Evaluation;
    ProgramCompiler(program, backend, batch, options).compile(forward);
    return program;
}

}  // namespace lockstep
