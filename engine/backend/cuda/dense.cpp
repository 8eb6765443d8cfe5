#include <cublasLt.h>

#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/kernels.h"

namespace lockstep {

namespace {

constexpr std::size_t kWorkspace = 4u << 20;

// D = op(A) op(B) as cuBLASLt sees it: column-major. Our row-major matrices are their transposes there.
struct Product {
    bool transposeA = false, transposeB = false;
    std::int64_t rows = 0, columns = 0, inner = 0;      // of D, and the summed extent
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
};

template <class Handle, cublasStatus_t (*Destroy)(Handle)>
struct Owned {
    Handle handle = nullptr;
    Owned() = default;
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() {
        if (handle) Destroy(handle);
    }
};

class DenseKernel final : public Kernel {
public:
    DenseKernel(cublasLtHandle_t blas, const Product& product, std::string where, int a, int b, int bias)
        : m_blas(blas), m_where(std::move(where)), m_a(a), m_b(b), m_bias(bias) {
        describe(product);
        choose();
    }

    std::size_t workspaceBytes() const override { return kWorkspace; }

    void run(const KernelCall& call) override {
        if (m_bias >= 0) {
            const void* bias = call.inputs[static_cast<std::size_t>(m_bias)];
            check(cublasLtMatmulDescSetAttribute(m_product.handle, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
                  m_where);
        }
        const float one = 1, zero = 0;
        check(cublasLtMatmul(m_blas, m_product.handle, &one, in<float>(call, m_a), m_layoutA.handle, in<float>(call, m_b),
                             m_layoutB.handle, &zero, out<float>(call, 0), m_layoutD.handle, out<float>(call, 0),
                             m_layoutD.handle, &m_algorithm, call.workspace, kWorkspace, CudaStream::of(call.stream)),
              m_where);
    }

private:
    void describe(const Product& p) {
        check(cublasLtMatmulDescCreate(&m_product.handle, CUBLAS_COMPUTE_32F, CUDA_R_32F), m_where);
        const cublasOperation_t a = p.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N, b = p.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N;
        set(CUBLASLT_MATMUL_DESC_TRANSA, a);
        set(CUBLASLT_MATMUL_DESC_TRANSB, b);
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.epilogue);
        layout(m_layoutA, p.transposeA ? p.inner : p.rows, p.transposeA ? p.rows : p.inner);
        layout(m_layoutB, p.transposeB ? p.columns : p.inner, p.transposeB ? p.inner : p.columns);
        layout(m_layoutD, p.rows, p.columns);
    }

    template <class T>
    void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
        check(cublasLtMatmulDescSetAttribute(m_product.handle, attribute, &value, sizeof value), m_where);
    }

    using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
    void layout(Layout& owned, std::int64_t rows, std::int64_t columns) {
        check(cublasLtMatrixLayoutCreate(&owned.handle, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                         static_cast<std::uint64_t>(columns), rows),
              m_where);
    }

    void choose() {
        Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference;
        check(cublasLtMatmulPreferenceCreate(&preference.handle), m_where);
        check(cublasLtMatmulPreferenceSetAttribute(preference.handle, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                                   sizeof kWorkspace),
              m_where);
        cublasLtMatmulHeuristicResult_t found{};
        int count = 0;
        check(cublasLtMatmulAlgoGetHeuristic(m_blas, m_product.handle, m_layoutA.handle, m_layoutB.handle, m_layoutD.handle,
                                             m_layoutD.handle, preference.handle, 1, &found, &count),
              m_where);
        if (count == 0) throw EngineError(EngineError::Kind::Device, m_where, "cuBLASLt has no algorithm for this product");
        m_algorithm = found.algo;
    }

    cublasLtHandle_t m_blas;
    std::string m_where;
    int m_a, m_b, m_bias;
    Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> m_product;
    Layout m_layoutA, m_layoutB, m_layoutD;
    cublasLtMatmulAlgo_t m_algorithm{};
};

}  // namespace

std::unique_ptr<Kernel> makeCudaColumnSum(std::int64_t rows, std::int64_t columns);

std::unique_ptr<Kernel> makeCudaDense(CudaDevice& device, const Graph& graph, const Node& node) {
    const std::string where = std::string(node.op->name) + " " + node.scope;
    const Shape& first = graph.typeOf(node.inputs[0]).shape;
    const auto make = [&](const Product& product, int a, int b, int bias) {
        return std::make_unique<DenseKernel>(device.blas(), product, where, a, b, bias);
    };
    if (node.op->name == "dense_backward_bias") return makeCudaColumnSum(first[0], first[1]);
    const Shape& second = graph.typeOf(node.inputs[1]).shape;
    if (node.op->name == "dense_backward_data") {        // dxᵀ [I,N] = wᵀ [I,O] dyᵀ [O,N]
        return make({false, false, second[1], first[0], first[1]}, 1, 0, -1);
    }
    if (node.op->name == "dense_backward_weights") {     // dwᵀ [I,O] = xᵀ [I,N] dy [N,O]
        return make({false, true, first[1], second[1], first[0]}, 0, 1, -1);
    }
    const bool bias = node.inputs.size() == 3;           // yᵀ [O,N] = w [O,I] xᵀ [I,N]
    const auto epilogue = node.op->name == "cuda_dense_relu" ? CUBLASLT_EPILOGUE_RELU_BIAS
                          : bias                             ? CUBLASLT_EPILOGUE_BIAS
                                                             : CUBLASLT_EPILOGUE_DEFAULT;
    return make({true, false, second[0], first[0], first[1], epilogue}, 1, 0, bias ? 2 : -1);
}

}  // namespace lockstep
