#include "engine/ops/dense.h"

#include <algorithm>
#include <optional>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/library_product.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/product.h"

namespace lockstep::cpu {

namespace {

Matrix matrixOf(const Value& value) {
    const Shape& shape = value.type.shape;
    return Matrix::rowMajor(static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]));
}

// Ours, or the library's.
class DenseProduct {
public:
    DenseProduct(const Order& order, const Matrix& a, const Matrix& b, bool bias = false, bool relu = false) {
        if (order.node.algorithm == kLibraryBf16)
            m_library = std::make_shared<LibraryProduct>(order.machine, a, b, bias, relu);
        else m_own.emplace(order.machine, a, b, arithmeticOf(order.node));
    }
    std::size_t workspaceBytes() const { return m_own ? m_own->workspaceBytes() : m_library->workspaceBytes(); }
    void run(const float* a, const float* b, const ProductEnd& end, float* c, std::byte* workspace) const {
        m_own ? m_own->run(a, b, end, c, workspace) : m_library->run(a, b, end, c, workspace);
    }

private:
    std::optional<Product> m_own;
    std::shared_ptr<LibraryProduct> m_library;  // a kernel's alone
};

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
    const OpDef* op = order.node.op;
    const std::size_t addend = op == &kDenseAdd ? order.node.inputs.size() - 1 : 0;
    const bool hasBias = order.node.inputs.size() == (addend ? 4 : 3);
    const DenseProduct product(order, matrixOf(order.input(0)), matrixOf(order.input(1)).transposed(), hasBias,
                               op == &kDenseRelu);
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
    const DenseProduct product(order, matrixOf(order.input(0)), matrixOf(order.input(1)));
    return kernelOf(
        [product, hasGelu = order.node.op == &kDenseBackwardDataGelu](const KernelCall& call) {
            ProductEnd end;
            if (hasGelu) end.slopes = in(call, 2);
            product.run(in(call, 0), in(call, 1), end, out(call, 0), call.workspace);
        },
        product.workspaceBytes());
}

std::unique_ptr<Kernel> makeDenseBackwardWeights(const Order& order) {
    const Matrix x = matrixOf(order.input(0)), dy = matrixOf(order.input(1));
    const DenseProduct product(order, dy.transposed(), x);
    const bool hasBias = order.node.outputs.size() == 2;
    return kernelOf(
        [&machine = order.machine, product, dy, hasBias](const KernelCall& call) {
            product.run(in(call, 1), in(call, 0), {}, out(call, 0), call.workspace);
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
