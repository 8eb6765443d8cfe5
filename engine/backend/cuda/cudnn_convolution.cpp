#include "engine/backend/cuda/cudnn_convolution.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/backend/cuda/cuda_check.h"

namespace lockstep::cuda {

namespace {

constexpr std::int64_t kMostPlans = 10, kMostWorkspace = std::int64_t{512} << 20;
constexpr int kTimedRuns = 5;
enum Uid : std::int64_t { kX = 1, kW, kY };

std::int64_t elementsOf(const std::array<std::int64_t, 4>& extents) {
    return extents[0] * extents[1] * extents[2] * extents[3];
}

CudnnDescriptor tensor(Uid uid, const std::array<std::int64_t, 4>& extents, DType dtype) {
    const auto [n, c, h, w] = extents;
    const std::array<std::int64_t, 4> strides{c * h * w, 1, w * c, c};
    CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, cudnnTypeOf(dtype))
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const std::int64_t>(extents))
        .set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const std::int64_t>(strides))
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<std::int64_t>(uid))
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
    return made.finalize("cuDNN tensor");
}

CudnnDescriptor convolution(const ConvolutionShape& shape) {
    CudnnDescriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
        .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .set<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, {&mode, 1})
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, std::span<const std::int64_t>(shape.padding))
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, std::span<const std::int64_t>(shape.padding))
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, std::span<const std::int64_t>(shape.dilation))
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, std::span<const std::int64_t>(shape.stride));
    return made.finalize("cuDNN convolution");
}

// The names that the operation has for its parts in each pass.
struct Names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};
constexpr std::array<Names, 3> kNames{{
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
}};

CudnnDescriptor operationGraph(cudnnHandle_t handle, const ConvolutionShape& shape) {
    const Names& names = kNames[static_cast<std::size_t>(shape.pass)];
    CudnnDescriptor operation(names.operation);
    operation.set(names.x, tensor(kX, shape.x, shape.dtype))
        .set(names.w, tensor(kW, shape.w, shape.dtype))
        .set(names.y, tensor(kY, shape.y, shape.dtype))
        .set(names.convolution, convolution(shape))
        .set(names.alpha, 1.0f)
        .set(names.beta, 0.0f);
    operation.finalize("cuDNN " + describe(shape));
    CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle).set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    return graph.finalize("cuDNN graph of " + describe(shape));
}

bool suits(const CudnnDescriptor& configuration, const ConvolutionShape& shape) {
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
    const bool exact = shape.dtype == DType::F32 && !shape.tf32;
    return !exact || !(has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) || has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
}

// What the library's heuristic proposes, the best first.
std::vector<CudnnDescriptor> configurations(const CudnnDescriptor& graph, const ConvolutionShape& shape) {
    std::vector<CudnnDescriptor> found;
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        CudnnDescriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
            .set<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {&mode, 1});
        if (!heuristic.tryFinalize()) continue;
        std::int64_t count = 0;
        if (cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                                     &count, nullptr) != CUDNN_STATUS_SUCCESS)
            continue;
        std::vector<CudnnDescriptor> results;
        std::vector<cudnnBackendDescriptor_t> raw;
        for (std::int64_t i = 0; i < count; ++i)
            raw.push_back(results.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
        check(cudnnBackendGetAttribute(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       count, &count, raw.data()),
              "cuDNN heuristic");
        results.resize(static_cast<std::size_t>(count), CudnnDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
        for (CudnnDescriptor& each : results)
            if (suits(each, shape)) found.push_back(std::move(each));
        if (!found.empty()) break;
    }
    return found;
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

class CudnnConvolution final : public Convolution {
public:
    CudnnConvolution(cudnnHandle_t library, CudnnDescriptor plan, std::string where)
        : m_library(library),
          m_plan(std::move(plan)),
          m_where(std::move(where)),
          m_workspace(static_cast<std::size_t>(m_plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE))) {}

    std::size_t workspaceBytes() const override { return m_workspace; }

    void run(void* x, void* w, void* y, std::byte* workspace, cudaStream_t stream) override {
        const std::array<std::int64_t, 3> uids{kX, kW, kY};
        const std::array<void*, 3> pointers{x, w, y};
        void* const scratch = workspace;
        CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        pack.set<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers)
            .set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(uids))
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
};

// Memory and a stream to time plans on.
class Bench {
public:
    Bench(const ConvolutionShape& shape, std::size_t workspace) {
        const auto element = static_cast<std::int64_t>(sizeOf(shape.dtype));
        check(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking), "timing");
        for (cudaEvent_t* event : {&m_begin, &m_end}) check(cudaEventCreate(event), "timing");
        const std::array<std::int64_t, 4> bytes{elementsOf(shape.x) * element, elementsOf(shape.w) * element,
                                                elementsOf(shape.y) * element, static_cast<std::int64_t>(workspace)};
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes[i], 16));
            check(cudaMalloc(&m_memory[i], size), "timing");
            check(cudaMemsetAsync(m_memory[i], 0x3c, size, m_stream), "timing");
        }
    }
    ~Bench() {
        for (void* memory : m_memory) cudaFree(memory);
        for (const cudaEvent_t event : {m_begin, m_end})
            if (event) cudaEventDestroy(event);
        if (m_stream) cudaStreamDestroy(m_stream);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    // Milliseconds of one run.
    float time(Convolution& convolution) {
        run(convolution);
        check(cudaEventRecord(m_begin, m_stream), "timing");
        for (int i = 0; i < kTimedRuns; ++i) run(convolution);
        check(cudaEventRecord(m_end, m_stream), "timing");
        check(cudaEventSynchronize(m_end), "timing");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, m_begin, m_end), "timing");
        return milliseconds / kTimedRuns;
    }

private:
    void run(Convolution& convolution) {
        convolution.run(m_memory[0], m_memory[1], m_memory[2], static_cast<std::byte*>(m_memory[3]), m_stream);
    }

    cudaStream_t m_stream = nullptr;
    cudaEvent_t m_begin = nullptr, m_end = nullptr;
    std::array<void*, 4> m_memory{};
};

// The first where there is no room to time them.
std::size_t fastest(cudnnHandle_t library, std::span<const CudnnDescriptor> plans, const ConvolutionShape& shape) {
    std::size_t workspace = 0, best = 0;
    for (const CudnnDescriptor& plan : plans)
        workspace =
            std::max(workspace, static_cast<std::size_t>(plan.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)));
    try {
        Bench bench(shape, workspace);
        float least = 0;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            CudnnConvolution convolution(library, plans[i], describe(shape));
            const float time = bench.time(convolution);
            if (i > 0 && time >= least) continue;
            least = time;
            best = i;
        }
    } catch (const EngineError& error) {
        if (error.kind() != EngineError::Kind::OutOfMemory) throw;
        cudaGetLastError();
    }
    return best;
}

}  // namespace

std::unique_ptr<Convolution> makeCudnnConvolution(const Cudnn& library, PlanCache& cache, const ConvolutionShape& shape,
                                                  const std::string& where) {
    const std::string key = describe(shape);
    const std::lock_guard lock(cache.timing());
    if (const auto known = cache.find(key)) {
        if (auto plan = planFrom(library.get(), *known))
            return std::make_unique<CudnnConvolution>(library.get(), std::move(*plan), where);
    }
    std::vector<CudnnDescriptor> plans;
    const CudnnDescriptor graph = operationGraph(library.get(), shape);
    for (const CudnnDescriptor& configuration : configurations(graph, shape)) {
        if (static_cast<std::int64_t>(plans.size()) == kMostPlans) break;
        if (auto plan = planOf(library.get(), configuration)) plans.push_back(std::move(*plan));
    }
    if (plans.empty()) return nullptr;
    CudnnDescriptor& best = plans[fastest(library.get(), plans, shape)];
    if (const std::string json = jsonOf(best); !json.empty()) cache.add(key, json);
    return std::make_unique<CudnnConvolution>(library.get(), std::move(best), where);
}

}  // namespace lockstep::cuda
