#include "engine/backend/cuda/cublaslt.h"

#include "engine/backend/cuda/library_workspace.h"

namespace lockstep::cuda {

namespace {

constexpr std::size_t kWorkspace = 32u << 20;  // what NVIDIA advises for cards since sm_90

cudaDataType_t typeOf(DType dtype) {
    switch (dtype) {
        case DType::F16: return CUDA_R_16F;
        case DType::BF16: return CUDA_R_16BF;
        default: return CUDA_R_32F;
    }
}

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

// cuBLASLt's matrices are column-major, so ours are their transposes there: dᵀ = op(b)ᵀ op(a)ᵀ, with b first.
class CublasMatmul final : public Matmul {
public:
    CublasMatmul(cublasLtHandle_t library, const MatmulShape& shape, std::string where)
        : m_blas(library), m_where(std::move(where)) {
        describe(shape);
        m_isThere = choose();
    }

    bool isThere() const { return m_isThere; }

    std::size_t workspaceBytes() const override { return librarySlot(kWorkspace); }

    void run(const MatmulOperands& of, void* d, std::byte* workspace, cudaStream_t stream) override {
        if (of.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, of.bias);
        if (of.rowSums) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, of.rowSums);
        const float one = 1, beta = of.addend ? 1 : 0;
        check(cublasLtMatmul(m_blas, m_product.handle, &one, of.b, m_first.handle, of.a, m_second.handle, &beta,
                             of.addend ? of.addend : d, m_result.handle, d, m_result.handle, &m_algorithm,
                             libraryWorkspace(workspace), kWorkspace, stream),
              m_where);
    }

private:
    using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

    void describe(const MatmulShape& shape) {
        const cublasComputeType_t in = shape.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
        check(cublasLtMatmulDescCreate(&m_product.handle, in, CUDA_R_32F), m_where);
        set(CUBLASLT_MATMUL_DESC_TRANSA, shape.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_TRANSB, shape.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N);
        const cublasLtEpilogue_t withBias = shape.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
        const cublasLtEpilogue_t without = shape.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
        // The library's second matrix is a: the gradient of a bias, as it calls the sums, is that of its columns.
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, shape.rowSums ? CUBLASLT_EPILOGUE_BGRADB : shape.bias ? withBias : without);
        if (shape.bias || shape.rowSums) set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, typeOf(shape.dtype));
        layOut(m_first, shape.dtype, shape.transposeB ? shape.depth : shape.columns,
               shape.transposeB ? shape.columns : shape.depth);
        layOut(m_second, shape.dtype, shape.transposeA ? shape.rows : shape.depth,
               shape.transposeA ? shape.depth : shape.rows);
        layOut(m_result, shape.dtype, shape.columns, shape.rows);
    }

    template <class T>
    void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
        check(cublasLtMatmulDescSetAttribute(m_product.handle, attribute, &value, sizeof value), m_where);
    }

    void layOut(Layout& owned, DType dtype, std::int64_t rows, std::int64_t columns) {
        check(cublasLtMatrixLayoutCreate(&owned.handle, typeOf(dtype), static_cast<std::uint64_t>(rows),
                                         static_cast<std::uint64_t>(columns), rows),
              m_where);
    }

    bool choose() {
        Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference;
        check(cublasLtMatmulPreferenceCreate(&preference.handle), m_where);
        const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
            check(cublasLtMatmulPreferenceSetAttribute(preference.handle, attribute, &value, sizeof value), m_where);
        };
        prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kWorkspace});
        for (const auto matrix :
             {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
            prefer(matrix, std::uint32_t{kSlotAlignment});
        cublasLtMatmulHeuristicResult_t found{};
        int count = 0;
        const cublasStatus_t status =
            cublasLtMatmulAlgoGetHeuristic(m_blas, m_product.handle, m_first.handle, m_second.handle, m_result.handle,
                                           m_result.handle, preference.handle, 1, &found, &count);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0)) return false;
        check(status, m_where);
        m_algorithm = found.algo;
        return true;
    }

    cublasLtHandle_t m_blas;
    std::string m_where;
    Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> m_product;
    Layout m_first, m_second, m_result;
    cublasLtMatmulAlgo_t m_algorithm{};
    bool m_isThere = false;
};

}  // namespace

std::unique_ptr<Matmul> makeCublasMatmul(const CublasLt& library, const MatmulShape& shape, const std::string& where) {
    auto matmul = std::make_unique<CublasMatmul>(library.get(), shape, where);
    if (matmul->isThere()) return matmul;
    if (shape.rowSums) return nullptr;
    throw EngineError(EngineError::Kind::Device, where, "cuBLASLt has no algorithm for this product");
}

}  // namespace lockstep::cuda
