#include "engine/ops/dense.h"

#include <algorithm>

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/product.h"

namespace lockstep::cpu {

namespace {

Matrix matrixOf(const Value& value) {
    const Shape& shape = value.type.shape;
    return Matrix::rowMajor(static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]));
}

// Each thread has columns of its own, so that sums do not depend on how many there are.
void addColumns(const Machine& machine, const float* rows, std::size_t count, std::size_t columns, float* sums) {
    inParallel(machine.threads, (columns + 15) / 16, count * columns, [&](std::size_t begin, std::size_t end) {
        const std::size_t at = begin * 16, width = std::min(end * 16, columns) - at;
        std::fill_n(sums + at, width, 0.0f);
        for (std::size_t n = 0; n < count; ++n) machine.simd->addRow(sums + at, rows + n * columns + at, width);
    });
}

}  // namespace

std::unique_ptr<Kernel> makeDense(const Order& order) {
    const Product product(order.machine, matrixOf(order.input(0)), matrixOf(order.input(1)).transposed());
    const bool hasBias = order.node.inputs.size() == 3, relu = order.node.op == &kDenseRelu;
    return kernelOf(
        [product, hasBias, relu](const KernelCall& call) {
            product.run(in(call, 0), in(call, 1), hasBias ? in(call, 2) : nullptr, relu, out(call, 0), call.workspace);
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardData(const Order& order) {
    const Product product(order.machine, matrixOf(order.input(0)), matrixOf(order.input(1)));
    return kernelOf(
        [product](const KernelCall& call) {
            product.run(in(call, 0), in(call, 1), nullptr, false, out(call, 0), call.workspace);
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order) {
    const Matrix x = matrixOf(order.input(0)), dy = matrixOf(order.input(1));
    const Product product(order.machine, dy.transposed(), x);
    const bool hasBias = order.node.outputs.size() == 2;
    return kernelOf(
        [&machine = order.machine, product, dy, hasBias](const KernelCall& call) {
            product.run(in(call, 1), in(call, 0), nullptr, false, out(call, 0), call.workspace);
            if (hasBias) addColumns(machine, in(call, 1), dy.rows, dy.columns, out(call, 1));
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardBias(const Order& order) {
    return kernelOf([&machine = order.machine, dy = matrixOf(order.input(0))](const KernelCall& call) {
        addColumns(machine, in(call, 0), dy.rows, dy.columns, out(call, 0));
    });
}

}  // namespace lockstep::cpu
