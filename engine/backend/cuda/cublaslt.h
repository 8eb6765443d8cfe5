#pragma once
#include <cublasLt.h>

#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/cuda/matmul.h"

namespace lockstep::cuda {

inline void check(cublasStatus_t status, const std::string& where) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw EngineError(kindOfLibraryFailure(status == CUBLAS_STATUS_ALLOC_FAILED), where,
                      cublasLtGetStatusString(status));
}

class CublasLt {
public:
    explicit CublasLt(const std::string& device) { check(cublasLtCreate(&m_handle), device); }
    ~CublasLt() { cublasLtDestroy(m_handle); }
    CublasLt(const CublasLt&) = delete;
    CublasLt& operator=(const CublasLt&) = delete;
    cublasLtHandle_t get() const { return m_handle; }

private:
    cublasLtHandle_t m_handle = nullptr;
};

// Throws EngineError(Device) where the library has no algorithm for it; with row sums, null.
std::unique_ptr<Matmul> makeCublasMatmul(const CublasLt& library, const MatmulShape& shape, const std::string& where);

}  // namespace lockstep::cuda
