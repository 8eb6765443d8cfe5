#include "engine/ops/dense.h"

#include "engine/backend/cuda/column_sums.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/norm.h"
#include "engine/backend/fusion/fused_ops.h"
#include "engine/core/precision.h"

namespace lockstep::cuda {

namespace {

// The node as one product of its inputs a and b; behind these come the bias and the addend, if it has them.
std::unique_ptr<Kernel> product(const Order& order, MatmulShape shape, std::size_t a, std::size_t b) {
    shape.tf32 = order.node.algorithm == text(Precision::Tf32);
    std::shared_ptr<Matmul> matmul = order.device.libraries().matmul(shape, order.where());
    const std::size_t workspace = matmul->workspaceBytes();
    return kernelOf(
        order.where(),
        [=](const KernelCall& call, cudaStream_t stream) {
            MatmulOperands of{.a = call.inputs[a], .b = call.inputs[b]};
            if (shape.bias) of.bias = call.inputs[2];
            if (shape.addend) of.addend = call.inputs[shape.bias ? 3 : 2];
            matmul->run(of, call.outputs[0], call.workspace, stream);
        },
        workspace);
}

template <class T>
struct Element {
    const T* x;
    std::int64_t columns;
    LOCKSTEP_CARD Sums<1> operator()(std::int64_t row, std::int64_t column) const {
        return {{x[row * columns + column]}};
    }
};

template <class T>
struct StoreSum {
    T* sums;
    LOCKSTEP_CARD void operator()(std::int64_t column, const Sums<1, double>& sum) const {
        sums[column] = T(static_cast<float>(sum.at[0]));
    }
};

}  // namespace

std::unique_ptr<Kernel> makeDense(const Order& order) {
    const Shape &x = order.inputShape(0), &w = order.inputShape(1);
    MatmulShape shape{order.output(0).type.dtype, x[0], w[0], x[1], false, true};
    shape.addend = order.node.op == &kDenseAdd;
    shape.bias = order.node.inputs.size() == (shape.addend ? 4 : 3);
    shape.relu = order.node.op == &kDenseRelu;
    return product(order, shape, 0, 1);
}

std::unique_ptr<Kernel> makeDenseBackwardData(const Order& order) {
    const Shape &dy = order.inputShape(0), &w = order.inputShape(1);
    return product(order, {order.output(0).type.dtype, dy[0], w[1], dy[1], false, false}, 0, 1);
}

std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order) {
    const Shape &x = order.inputShape(0), &dy = order.inputShape(1);
    return product(order, {order.output(0).type.dtype, dy[1], x[1], x[0], true, false}, 1, 0);
}

std::unique_ptr<Kernel> makeBackwardBias(const Order& order) {
    const ColumnSums shape = channelSums(order.input(0));
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                launchColumnSums<1>(stream, shape, call.workspace, Element<T>{in<T>(call, 0), shape.columns},
                                    StoreSum<T>{out<T>(call, 0)});
            },
            shape.workspaceBytes(1));
    });
}

}  // namespace lockstep::cuda
