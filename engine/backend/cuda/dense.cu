#include "engine/ops/dense.h"

#include <algorithm>

#include "engine/backend/cuda/algorithm_names.h"
#include "engine/backend/cuda/column_sums.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/norm.h"
#include "engine/backend/fusion/fused_ops.h"
#include "engine/core/precision.h"

namespace lockstep::cuda {

namespace {

// Of the node's first output, by its type and precision.
MatmulShape shapeOf(const Order& order, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
    MatmulShape shape{order.output(0).type.dtype, rows, columns, depth};
    shape.tf32 = readsTf32(order.node);
    return shape;
}

// dw = dyT x
MatmulShape weightsShape(const Order& order) {
    const Shape &x = order.inputShape(0), &dy = order.inputShape(1);
    MatmulShape shape = shapeOf(order, dy[1], x[1], x[0]);
    shape.transposeA = true;
    return shape;
}

// The node as one product of its inputs a and b; behind these come the bias and the addend, if it has them.
std::unique_ptr<Kernel> product(const Order& order, const MatmulShape& shape, std::size_t a, std::size_t b) {
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

// Of an input's channels, into an output.
std::unique_ptr<Kernel> columnSums(const Order& order, std::size_t input, std::size_t output) {
    const ColumnSums shape = channelSums(order.input(input));
    return withFloat(order.input(input).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                launchColumnSums<1>(stream, shape, call.workspace, Element<T>{in<T>(call, input), shape.columns},
                                    StoreSum<T>{out<T>(call, output)});
            },
            shape.workspaceBytes(1));
    });
}

}  // namespace

std::unique_ptr<Kernel> makeDense(const Order& order) {
    const Shape &x = order.inputShape(0), &w = order.inputShape(1);
    MatmulShape shape = shapeOf(order, x[0], w[0], x[1]);
    shape.transposeB = true;
    shape.addend = order.node.op == &kDenseAdd;
    shape.bias = order.node.inputs.size() == (shape.addend ? 4 : 3);
    shape.relu = order.node.op == &kDenseRelu;
    return product(order, shape, 0, 1);
}

std::unique_ptr<Kernel> makeDenseBackwardData(const Order& order) {
    const Shape &dy = order.inputShape(0), &w = order.inputShape(1);
    return product(order, shapeOf(order, dy[0], w[1], dy[1]), 0, 1);
}

std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order) {
    return product(order, weightsShape(order), 1, 0);
}

std::unique_ptr<Kernel> makeBackwardBias(const Order& order) { return columnSums(order, 0, 0); }

// The library makes the bias' gradient of what its product reads anyway, where it has an algorithm that does.
std::unique_ptr<Kernel> makeDenseBackwardWeightsBias(const Order& order) {
    MatmulShape shape = weightsShape(order);
    shape.rowSums = true;
    if (const std::shared_ptr<Matmul> both = order.device.libraries().matmul(shape, order.where()))
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                const MatmulOperands of{.a = call.inputs[1], .b = call.inputs[0], .rowSums = call.outputs[1]};
                both->run(of, call.outputs[0], call.workspace, stream);
            },
            both->workspaceBytes());
    const std::shared_ptr<Kernel> weights = makeDenseBackwardWeights(order), bias = columnSums(order, 1, 1);
    return kernelOf(
        order.where(),
        [=](const KernelCall& call, cudaStream_t) {
            weights->run(call);
            bias->run(call);
        },
        std::max(weights->workspaceBytes(), bias->workspaceBytes()));
}

}  // namespace lockstep::cuda
