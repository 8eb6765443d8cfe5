#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/backend/cuda/cudnn_objects.h"

namespace lockstep::cuda {

// Operations on tensors of rank 4 that the library is to do as one, in the order in which they were added. Throws
// EngineError(Device) for an operation that it does not know; whether it has an engine for all of them is for
// cudnn_plan.h to find out.
class CudnnGraph {
public:
    using Extents = std::array<std::int64_t, 4>;
    struct Memory {
        std::int64_t uid;
        std::size_t bytes;
    };
    struct Constant {
        std::int64_t uid;
        float value;
    };

    // `key`, on one line, is what its plan is kept by; exact: f32 operands are not rounded.
    CudnnGraph(std::string key, bool exact) : m_key(std::move(key)), m_exact(exact) {}

    // Where the caller has it, 16-byte aligned: run() is given these in the order of the calls.
    CudnnDescriptor memory(const Extents& extents, const Extents& strides, cudnnDataType_t type);
    CudnnDescriptor constant(float value);
    // What one operation makes for another; packed where no strides are given.
    CudnnDescriptor between(const Extents& extents, cudnnDataType_t type = CUDNN_DATA_FLOAT);
    CudnnDescriptor between(const Extents& extents, const Extents& strides, cudnnDataType_t type);

    void add(CudnnDescriptor operation) { m_operations.push_back(std::move(operation)); }
    // x, and the operands that the mode has besides; axis: of an index.
    void pointwise(cudnnPointwiseMode_t mode, std::initializer_list<CudnnDescriptor> operands, const CudnnDescriptor& y,
                   cudnnDataType_t computed = CUDNN_DATA_FLOAT, std::int64_t axis = -1);
    // dx = dy where x is positive, else 0
    void reluBackward(const CudnnDescriptor& dy, const CudnnDescriptor& x, const CudnnDescriptor& dx);
    // By channel, over all else.
    void sums(const CudnnDescriptor& x, const CudnnDescriptor& sum, const CudnnDescriptor& squares);
    struct Norm {
        CudnnDescriptor x, mean, invStd, gamma;
    };
    // The gradients of a batch norm's gamma and beta from that of its output; the library's three further results, of
    // which dx could be made, too.
    void normGradients(const Norm& norm, const CudnnDescriptor& dy, const CudnnDescriptor& dgamma,
                       const CudnnDescriptor& dbeta, const std::array<CudnnDescriptor, 3>& further);
    void reduction(cudnnReduceTensorOp_t how, const CudnnDescriptor& x, const CudnnDescriptor& y);
    void matmul(const CudnnDescriptor& a, const CudnnDescriptor& b, const CudnnDescriptor& c);
    void reshape(const CudnnDescriptor& x, const CudnnDescriptor& y);

    const std::string& key() const { return m_key; }
    bool exact() const { return m_exact; }
    const std::vector<CudnnDescriptor>& operations() const { return m_operations; }
    const std::vector<Memory>& memory() const { return m_memory; }
    const std::vector<Constant>& constants() const { return m_constants; }

private:
    CudnnDescriptor tensor(const Extents& extents, const Extents& strides, cudnnDataType_t type);

    std::string m_key;
    bool m_exact;
    std::int64_t m_uid = 0;
    std::vector<CudnnDescriptor> m_operations;
    std::vector<Memory> m_memory;
    std::vector<Constant> m_constants;
};

}  // namespace lockstep::cuda
