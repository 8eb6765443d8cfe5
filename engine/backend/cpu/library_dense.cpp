#include <optional>

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/library_product.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/ops/dense.h"

namespace lockstep::cpu {

namespace {

using Operand = LibraryProduct::Operand;
using End = LibraryProduct::End;
using onednn::WithOther;

Operand operandOf(const Value& value) {
    const Shape& shape = value.type.shape;
    return {Matrix::rowMajor(static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1])), value.type.dtype};
}

Operand transposed(const Operand& operand) { return {operand.matrix.transposed(), operand.dtype}; }

// The transpose of a layer's weights: floats in rows, or bf16 as the library likes them.
Operand turnedWeightsOf(const Value& value) {
    Operand weights = transposed(operandOf(value));
    if (value.layout) weights.desc = descOf(value).transposed();
    return weights;
}

End productEndOf(const Node& node) {
    const bool adds = node.op == &kDenseAdd;
    return {.bias = node.inputs.size() == (adds ? 4 : 3),
            .with = adds ? WithOther::Added : WithOther::Nothing,
            .relu = node.op == &kDenseRelu,
            .dtype = DType::BF16};
}

// GELU of what a product left, in place or beside its slopes.
void geluOf(const Machine& machine, Bf16* x, Bf16* y, std::size_t count) {
    overFloats(machine.threads, count, [&](std::size_t begin, std::size_t end) {
        const Loops<Bf16>& loops = machine.simd->halves;
        if (x == y) loops.activation(ActivationKind::Gelu, x + begin, y + begin, end - begin);
        else loops.geluAndSlope(x + begin, y + begin, end - begin);
    });
}

}  // namespace

onednn::Desc libraryWeights(const onednn::Engine& engine, const Node& node, const Shape& x, const Shape& w) {
    const auto rows = Matrix::rowMajor(static_cast<std::size_t>(x[0]), static_cast<std::size_t>(x[1]));
    const auto weights = Matrix::rowMajor(static_cast<std::size_t>(w[0]), static_cast<std::size_t>(w[1]));
    return LibraryProduct::wantedOf(engine, {rows, DType::BF16}, weights.transposed(), productEndOf(node)).transposed();
}

std::unique_ptr<Kernel> makeLibraryDense(const Order& order) {
    const End end = productEndOf(order.node);
    const bool hasGelu = order.node.op == &kDenseGelu;
    const std::optional<std::size_t> other =
        end.with == WithOther::Added ? std::optional(order.node.inputs.size() - 1) : std::nullopt;
    LibraryProduct product(order.machine, operandOf(order.input(0)), turnedWeightsOf(order.input(1)), end);
    const std::size_t workspace = product.workspaceBytes();
    return kernelOf(
        [&machine = order.machine, product = std::move(product), other, end, hasGelu,
         last = order.node.outputs.size() - 1,
         count = static_cast<std::size_t>(order.output(0).type.shape.count())](const KernelCall& call) mutable {
            product.run({.a = call.inputs[0],
                         .b = call.inputs[1],
                         .bias = end.bias ? call.inputs[2] : nullptr,
                         .other = other ? call.inputs[*other] : nullptr,
                         .c = call.outputs[0]},
                        call.workspace);
            if (hasGelu) geluOf(machine, out<Bf16>(call, 0), out<Bf16>(call, last), count);
        },
        workspace);
}

std::unique_ptr<Kernel> makeLibraryDenseBackwardData(const Order& order) {
    const bool hasGelu = order.node.op == &kDenseBackwardDataGelu;
    LibraryProduct product(order.machine, operandOf(order.input(0)), operandOf(order.input(1)),
                           {.with = hasGelu ? WithOther::Multiplied : WithOther::Nothing, .dtype = DType::BF16});
    const std::size_t workspace = product.workspaceBytes();
    return kernelOf(
        [product = std::move(product), hasGelu](const KernelCall& call) mutable {
            product.run({.a = call.inputs[0],
                         .b = call.inputs[1],
                         .other = hasGelu ? call.inputs[2] : nullptr,
                         .c = call.outputs[0]},
                        call.workspace);
        },
        workspace);
}

std::unique_ptr<Kernel> makeLibraryDenseBackwardWeights(const Order& order) {
    const Operand x = operandOf(order.input(0)), dy = operandOf(order.input(1));
    LibraryProduct product(order.machine, transposed(dy), x, {});
    const std::size_t workspace = product.workspaceBytes();
    return kernelOf(
        [&machine = order.machine, product = std::move(product), dy = dy.matrix,
         hasBias = order.node.outputs.size() == 2](const KernelCall& call) mutable {
            product.run({.a = call.inputs[1], .b = call.inputs[0], .c = call.outputs[0]}, call.workspace);
            if (hasBias) sumColumns(machine, in<Bf16>(call, 1), dy.rows, dy.columns, out(call, 1));
        },
        workspace);
}

}  // namespace lockstep::cpu
