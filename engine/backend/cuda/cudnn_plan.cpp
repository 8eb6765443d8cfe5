#include "engine/backend/cuda/cudnn_plan.h"

#include <algorithm>
#include <optional>

#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/cuda/library_workspace.h"

namespace lockstep::cuda {

namespace {

constexpr std::size_t kMostPlans = 10;
constexpr std::int64_t kMostWorkspace = std::int64_t{512} << 20;
constexpr int kTimedRuns = 5;

// Empty: the library has no pattern for these operations. `library` may be null where a card is only described.
std::optional<CudnnDescriptor> operationGraph(cudnnHandle_t library, const CudnnGraph& graph) {
    CudnnDescriptor made(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    if (library) made.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, library);
    made.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, graph.operations());
    return made.tryFinalize() ? std::optional(made) : std::nullopt;
}

bool suits(const CudnnDescriptor& configuration, bool exact) {
    const CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t raw = engine.get();
    std::int64_t count = 0;
    if (cudnnBackendGetAttribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                 &count, &raw) != CUDNN_STATUS_SUCCESS)
        return false;
    std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
    if (cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes.data()) != CUDNN_STATUS_SUCCESS)
        return false;
    const auto has = [&](cudnnBackendNumericalNote_t note) {
        return std::find(notes.begin(), notes.begin() + count, note) != notes.begin() + count;
    };
    if (has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) || has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
        return false;
    return !exact || !(has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) || has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
}

// The first is asked, the second where none of its engines can be used.
constexpr std::array kHeuristics{CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};

// What a heuristic of the library proposes, the best first.
std::vector<CudnnDescriptor> configurations(const CudnnDescriptor& graph, const CudnnDescriptor* card, bool exact,
                                            cudnnBackendHeurMode_t mode) {
    CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {&mode, 1});
    if (card) heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *card);
    if (!heuristic.tryFinalize()) return {};
    std::int64_t count = 0;
    if (cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                                 &count, nullptr) != CUDNN_STATUS_SUCCESS)
        return {};
    std::vector<CudnnDescriptor> results;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < count; ++i)
        raw.push_back(results.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
    check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
                                   &count, raw.data()),
          "cuDNN heuristic");
    results.resize(static_cast<std::size_t>(count), CudnnDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    std::erase_if(results, [exact](const CudnnDescriptor& each) { return !suits(each, exact); });
    return results;
}

std::optional<CudnnDescriptor> planOf(cudnnHandle_t handle, const CudnnDescriptor& configuration) {
    CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle).set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
    if (!plan.tryFinalize() || plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) > kMostWorkspace)
        return std::nullopt;
    return plan;
}

std::optional<CudnnDescriptor> planFrom(cudnnHandle_t handle, const std::string& json) {
    CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
    const cudnnStatus_t status =
        cudnnBackendSetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                 static_cast<std::int64_t>(json.size() + 1), json.c_str());
    if (status != CUDNN_STATUS_SUCCESS || !plan.tryFinalize()) return std::nullopt;
    return plan;
}

std::string jsonOf(const CudnnDescriptor& plan) {
    std::int64_t size = 0;
    if (cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &size,
                                 nullptr) != CUDNN_STATUS_SUCCESS)
        return {};
    std::string json(static_cast<std::size_t>(size), '\0');
    if (cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, size,
                                 &size, json.data()) != CUDNN_STATUS_SUCCESS)
        return {};
    return json.c_str();  // up to its terminator
}

class GraphPlan final : public CudnnPlan {
public:
    GraphPlan(cudnnHandle_t library, const CudnnGraph& graph, CudnnDescriptor plan, std::string where)
        : m_library(library),
          m_plan(std::move(plan)),
          m_where(std::move(where)),
          m_workspace(static_cast<std::size_t>(m_plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE))) {
        for (const CudnnGraph::Memory& tensor : graph.memory()) m_uids.push_back(tensor.uid);
        for (const CudnnGraph::Constant& constant : graph.constants()) {
            m_uids.push_back(constant.uid);
            m_constants.push_back(constant.value);
        }
        m_pointers.resize(m_uids.size());
    }

    std::size_t workspaceBytes() const override { return librarySlot(m_workspace); }
    std::string json() const { return jsonOf(m_plan); }

    void run(std::span<void* const> memory, std::byte* workspace, cudaStream_t stream) override {
        const auto end = std::ranges::copy(memory, m_pointers.begin()).out;
        std::ranges::transform(m_constants, end, [](float& constant) -> void* { return &constant; });
        void* const scratch = libraryWorkspace(workspace);
        CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        pack.set<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, m_pointers)
            .set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(m_uids))
            .set<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {&scratch, 1});
        pack.finalize(m_where);
        check(cudnnSetStream(m_library, stream), m_where);
        check(cudnnBackendExecute(m_library, m_plan.get(), pack.get()), m_where);
    }

private:
    cudnnHandle_t m_library;
    CudnnDescriptor m_plan;
    std::string m_where;
    std::size_t m_workspace;
    std::vector<std::int64_t> m_uids;
    std::vector<float> m_constants;
    std::vector<void*> m_pointers;  // of the last run
};

// Memory and a stream to time plans on.
class Bench {
public:
    Bench(const CudnnGraph& graph, std::size_t workspace) {
        check(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking), "timing");
        for (cudaEvent_t* event : {&m_begin, &m_end}) check(cudaEventCreate(event), "timing");
        for (const CudnnGraph::Memory& tensor : graph.memory()) m_memory.push_back(filled(tensor.bytes));
        m_workspace = filled(workspace);
    }
    ~Bench() {
        for (void* memory : m_memory) cudaFree(memory);
        cudaFree(m_workspace);
        for (const cudaEvent_t event : {m_begin, m_end})
            if (event) cudaEventDestroy(event);
        if (m_stream) cudaStreamDestroy(m_stream);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    // Milliseconds of one run.
    float time(CudnnPlan& plan) {
        run(plan);
        check(cudaEventRecord(m_begin, m_stream), "timing");
        for (int i = 0; i < kTimedRuns; ++i) run(plan);
        check(cudaEventRecord(m_end, m_stream), "timing");
        check(cudaEventSynchronize(m_end), "timing");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, m_begin, m_end), "timing");
        return milliseconds / kTimedRuns;
    }

private:
    void run(CudnnPlan& plan) { plan.run(m_memory, static_cast<std::byte*>(m_workspace), m_stream); }
    // Small numbers: 0x3c3c is about 1 in f16 and 0.01 in bf16 and f32.
    void* filled(std::size_t bytes) {
        void* memory = nullptr;
        bytes = std::max<std::size_t>(bytes, 16);
        check(cudaMalloc(&memory, bytes), "timing");
        check(cudaMemsetAsync(memory, 0x3c, bytes, m_stream), "timing");
        return memory;
    }

    cudaStream_t m_stream = nullptr;
    cudaEvent_t m_begin = nullptr, m_end = nullptr;
    std::vector<void*> m_memory;
    void* m_workspace = nullptr;
};

// The first where there is no room to time them. What a card refuses to run although it has a plan is left out; where
// it refuses all, throws as the last did.
std::size_t fastest(std::vector<GraphPlan>& plans, const CudnnGraph& graph) {
    std::size_t workspace = 0;
    for (const GraphPlan& plan : plans) workspace = std::max(workspace, plan.workspaceBytes());
    std::optional<std::size_t> best;
    std::optional<EngineError> refused;
    try {
        Bench bench(graph, workspace);
        float least = 0;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            try {
                const float time = bench.time(plans[i]);
                if (best && time >= least) continue;
                least = time;
                best = i;
            } catch (const EngineError& error) {
                if (error.kind() != EngineError::Kind::Device) throw;
                refused = error;
            }
        }
    } catch (const EngineError& error) {
        if (error.kind() != EngineError::Kind::OutOfMemory) throw;
        cudaGetLastError();
        return best.value_or(0);
    }
    if (!best) throw EngineError(*refused);
    return *best;
}

}  // namespace

std::size_t enginesFor(const CudnnGraph& graph, const CudnnDescriptor& card) {
    const auto operations = operationGraph(nullptr, graph);
    if (!operations) return 0;
    for (const cudnnBackendHeurMode_t mode : kHeuristics) {
        if (const auto found = configurations(*operations, &card, graph.exact(), mode); !found.empty())
            return found.size();
    }
    return 0;
}

std::unique_ptr<CudnnPlan> makeCudnnPlan(const CudnnPlans& from, const CudnnGraph& graph, const std::string& where) {
    const std::lock_guard lock(from.cache.timing());
    const cudnnHandle_t library = from.library.get();
    const auto made = [&](CudnnDescriptor plan) { return GraphPlan(library, graph, std::move(plan), where); };
    if (const auto known = from.byRule ? std::nullopt : from.cache.find(graph.key())) {
        if (auto plan = planFrom(library, *known)) return std::make_unique<GraphPlan>(made(std::move(*plan)));
    }
    const auto operations = operationGraph(library, graph);
    if (!operations) return nullptr;
    const std::size_t most = from.byRule ? 1 : kMostPlans;
    std::vector<GraphPlan> plans;
    for (const cudnnBackendHeurMode_t mode : kHeuristics) {
        for (const CudnnDescriptor& configuration : configurations(*operations, nullptr, graph.exact(), mode)) {
            if (plans.size() == most) break;
            if (auto plan = planOf(library, configuration)) plans.push_back(made(std::move(*plan)));
        }
        if (!plans.empty()) break;
    }
    if (plans.empty()) return nullptr;
    if (from.byRule) return std::make_unique<GraphPlan>(std::move(plans.front()));
    GraphPlan& best = plans[fastest(plans, graph)];
    if (const std::string json = best.json(); !json.empty()) from.cache.add(graph.key(), json);
    return std::make_unique<GraphPlan>(std::move(best));
}

}  // namespace lockstep::cuda
