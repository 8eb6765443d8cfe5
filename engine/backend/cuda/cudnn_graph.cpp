#include "engine/backend/cuda/cudnn_graph.h"

#include <span>

namespace lockstep::cuda {

namespace {

std::size_t sizeOf(cudnnDataType_t type) { return type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16 ? 2 : 4; }

CudnnGraph::Extents packed(const CudnnGraph::Extents& extents) {
    const auto [a, b, c, d] = extents;
    return {b * c * d, c * d, d, 1};
}

// Not finalized.
CudnnDescriptor pointwiseOf(cudnnPointwiseMode_t mode, cudnnDataType_t computed) {
    CudnnDescriptor made(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    made.set<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, {&mode, 1})
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, computed);
    return made;
}

}  // namespace

// Not finalized: what is special about it is yet to be set.
CudnnDescriptor CudnnGraph::tensor(const Extents& extents, const Extents& strides, cudnnDataType_t type) {
    CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const std::int64_t>(extents))
        .set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const std::int64_t>(strides))
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, ++m_uid)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
    return made;
}

CudnnDescriptor CudnnGraph::memory(const Extents& extents, const Extents& strides, cudnnDataType_t type) {
    CudnnDescriptor made = tensor(extents, strides, type);
    std::int64_t last = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) last += (extents[i] - 1) * strides[i];
    m_memory.push_back({m_uid, static_cast<std::size_t>(last + 1) * sizeOf(type)});
    return made.finalize("cuDNN tensor");
}

CudnnDescriptor CudnnGraph::constant(float value) {
    CudnnDescriptor made = tensor({1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_FLOAT);
    m_constants.push_back({m_uid, value});
    return made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true).finalize("cuDNN constant");
}

CudnnDescriptor CudnnGraph::between(const Extents& extents, cudnnDataType_t type) {
    return between(extents, packed(extents), type);
}

CudnnDescriptor CudnnGraph::between(const Extents& extents, const Extents& strides, cudnnDataType_t type) {
    CudnnDescriptor made = tensor(extents, strides, type);
    return made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true).finalize("cuDNN tensor");
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, std::initializer_list<CudnnDescriptor> operands,
                           const CudnnDescriptor& y, cudnnDataType_t computed, std::int64_t axis) {
    CudnnDescriptor how = pointwiseOf(mode, computed);
    if (axis >= 0) how.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how.finalize("cuDNN pointwise"));
    constexpr std::array kOperands{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                   CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
    const auto* name = kOperands.begin();
    for (const CudnnDescriptor& operand : operands) operation.set(*name++, operand);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    add(operation.finalize("cuDNN pointwise of " + m_key));
}

void CudnnGraph::reluBackward(const CudnnDescriptor& dy, const CudnnDescriptor& x, const CudnnDescriptor& dx) {
    CudnnDescriptor how = pointwiseOf(CUDNN_POINTWISE_RELU_BWD, CUDNN_DATA_FLOAT);
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how.finalize("cuDNN ReLU"))
        .set(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, dy)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, dx);
    add(operation.finalize("cuDNN ReLU of " + m_key));
}

void CudnnGraph::sums(const CudnnDescriptor& x, const CudnnDescriptor& sum, const CudnnDescriptor& squares) {
    const cudnnGenStatsMode_t mode = CUDNN_GENSTATS_SUM_SQSUM;
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
    operation.set<cudnnGenStatsMode_t>(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, {&mode, 1})
        .set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum)
        .set(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares);
    add(operation.finalize("cuDNN sums of " + m_key));
}

void CudnnGraph::normGradients(const Norm& norm, const CudnnDescriptor& dy, const CudnnDescriptor& dgamma,
                               const CudnnDescriptor& dbeta, const std::array<CudnnDescriptor, 3>& further) {
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, norm.x)
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, norm.mean)
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, norm.invStd)
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, norm.gamma)
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, dy)
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC, dgamma)
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC, dbeta)
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC, further[0])
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC, further[1])
        .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, further[2]);
    add(operation.finalize("cuDNN gradients of the norm of " + m_key));
}

void CudnnGraph::reduction(cudnnReduceTensorOp_t how, const CudnnDescriptor& x, const CudnnDescriptor& y) {
    CudnnDescriptor reduction(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    reduction.set<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, {&how, 1})
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction.finalize("cuDNN reduction"))
        .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    add(operation.finalize("cuDNN reduction of " + m_key));
}

void CudnnGraph::matmul(const CudnnDescriptor& a, const CudnnDescriptor& b, const CudnnDescriptor& c) {
    CudnnDescriptor product(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, product.finalize("cuDNN product"))
        .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    add(operation.finalize("cuDNN product of " + m_key));
}

void CudnnGraph::reshape(const CudnnDescriptor& x, const CudnnDescriptor& y) {
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x).set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    add(operation.finalize("cuDNN reshape of " + m_key));
}

}  // namespace lockstep::cuda
