#include "engine/ops/dense.h"

#include <algorithm>

#include "engine/backend/backend.h"
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

// The transpose of a layer's weights, which may lie in panels of it.
Matrix weightsOf(const Value& value) {
    const Matrix rows = matrixOf(value);
    const onednn::Desc desc = descOf(value);
    if (desc.isRowMajor()) return rows.transposed();
    return Matrix::inPanels(rows.columns, rows.rows, bestSimd().panelColumns, desc.dtype() == DType::BF16);
}

bool isLibrarys(const Order& order) { return order.node.algorithm == kLibraryBf16; }

}  // namespace

// Each thread has columns of its own, so that sums do not depend on how many there are.
template <class T>
void sumColumns(const Machine& machine, const T* rows, std::size_t count, std::size_t columns, float* sums) {
    inParallel(machine.threads, (columns + 15) / 16, count * columns, [&](std::size_t begin, std::size_t end) {
        const std::size_t at = begin * 16, width = std::min(end * 16, columns) - at;
        std::fill_n(sums + at, width, 0.0f);
        for (std::size_t n = 0; n < count; ++n) machine.simd->of<T>().addRow(sums + at, rows + n * columns + at, width);
    });
}
template void sumColumns(const Machine&, const float*, std::size_t, std::size_t, float*);
template void sumColumns(const Machine&, const Bf16*, std::size_t, std::size_t, float*);

std::unique_ptr<Kernel> makeDense(const Order& order) {
    if (isLibrarys(order)) return makeLibraryDense(order);
    const OpDef* op = order.node.op;
    const std::size_t addend = op == &kDenseAdd ? order.node.inputs.size() - 1 : 0;
    const bool hasBias = order.node.inputs.size() == (addend ? 4 : 3);
    const Product product(order.machine, matrixOf(order.input(0)), weightsOf(order.input(1)), arithmeticOf(order.node));
    return kernelOf(
        [product, op, addend, hasBias, last = order.node.outputs.size() - 1](const KernelCall& call) {
            ProductEnd end;
            if (hasBias) end.bias = in(call, 2);
            if (addend) end.addends = in(call, addend);
            if (op == &kDenseGelu) end.gelu = out(call, last);
            end.relu = op == &kDenseRelu;
            product.run(in(call, 0), in(call, 1), end, out(call, 0), call.workspace);
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardData(const Order& order) {
    if (isLibrarys(order)) return makeLibraryDenseBackwardData(order);
    const Product product(order.machine, matrixOf(order.input(0)), matrixOf(order.input(1)), arithmeticOf(order.node));
    return kernelOf(
        [product, hasGelu = order.node.op == &kDenseBackwardDataGelu](const KernelCall& call) {
            ProductEnd end;
            if (hasGelu) end.slopes = in(call, 2);
            product.run(in(call, 0), in(call, 1), end, out(call, 0), call.workspace);
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order) {
    if (isLibrarys(order)) return makeLibraryDenseBackwardWeights(order);
    const Matrix x = matrixOf(order.input(0)), dy = matrixOf(order.input(1));
    const Product product(order.machine, dy.transposed(), x, arithmeticOf(order.node));
    const bool hasBias = order.node.outputs.size() == 2;
    return kernelOf(
        [&machine = order.machine, product, dy, hasBias](const KernelCall& call) {
            product.run(in(call, 1), in(call, 0), {}, out(call, 0), call.workspace);
            if (hasBias) sumColumns(machine, in(call, 1), dy.rows, dy.columns, out(call, 1));
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardBias(const Order& order) {
    return forElementsOf(order.input(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, dy = matrixOf(order.input(0))](const KernelCall& call) {
            sumColumns(machine, in<T>(call, 0), dy.rows, dy.columns, out(call, 0));
        });
    });
}

}  // namespace lockstep::cpu
