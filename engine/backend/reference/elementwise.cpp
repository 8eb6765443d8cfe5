#include "engine/ops/elementwise.h"

#include <algorithm>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

std::int64_t countOf(const Graph& graph, const Node& node) { return outputShape(graph, node, 0).count(); }

// Calls use with a value of the C++ type behind `type`.
template <class Use>
std::unique_ptr<Kernel> withType(DType type, Use use) {
    switch (type) {
        case DType::F32: return use(float{});
        case DType::F64: return use(double{});
        case DType::I32: return use(std::int32_t{});
        case DType::I64: return use(std::int64_t{});
        case DType::U8: return use(std::uint8_t{});
        case DType::F16:
        case DType::BF16: break;  // refused by the lowering
    }
    return nullptr;
}

}  // namespace

// std::max and std::min keep their first argument when the two do not compare, so a NaN is not lost.
std::unique_ptr<Kernel> makeRelu(const Graph& graph, const Node& node) {
    return kernelOf([count = countOf(graph, node)](const KernelCall& call) {
        const double* x = input(call, 0);
        double* y = output(call, 0);
        for (std::int64_t i = 0; i < count; ++i) y[i] = std::max(x[i], 0.0);
    });
}

std::unique_ptr<Kernel> makeReluBackward(const Graph& graph, const Node& node) {
    return kernelOf([count = countOf(graph, node)](const KernelCall& call) {
        const double *y = input(call, 0), *dy = input(call, 1);
        double* dx = output(call, 0);
        for (std::int64_t i = 0; i < count; ++i) dx[i] = y[i] > 0 ? dy[i] : 0;
    });
}

std::unique_ptr<Kernel> makeRelu6(const Graph& graph, const Node& node) {
    return kernelOf([count = countOf(graph, node)](const KernelCall& call) {
        const double* x = input(call, 0);
        double* y = output(call, 0);
        for (std::int64_t i = 0; i < count; ++i) y[i] = std::min(std::max(x[i], 0.0), 6.0);
    });
}

std::unique_ptr<Kernel> makeRelu6Backward(const Graph& graph, const Node& node) {
    return kernelOf([count = countOf(graph, node)](const KernelCall& call) {
        const double *y = input(call, 0), *dy = input(call, 1);
        double* dx = output(call, 0);
        for (std::int64_t i = 0; i < count; ++i) dx[i] = y[i] > 0 && y[i] < 6 ? dy[i] : 0;
    });
}

std::unique_ptr<Kernel> makeAdd(const Graph& graph, const Node& node) {
    return kernelOf([count = countOf(graph, node)](const KernelCall& call) {
        const double *a = input(call, 0), *b = input(call, 1);
        double* y = output(call, 0);
        for (std::int64_t i = 0; i < count; ++i) y[i] = a[i] + b[i];
    });
}

std::unique_ptr<Kernel> makeFillNode(const Graph& graph, const Node& node) {
    const auto attrs = node.attrs.as<FillAttrs>();
    return withType(graph.typeOf(node.outputs[0]).dtype, [&]<class T>(T) {
        return kernelOf([count = attrs.type.shape.count(), value = static_cast<T>(attrs.value)](
                            const KernelCall& call) { std::fill_n(output<T>(call, 0), count, value); });
    });
}

std::unique_ptr<Kernel> makeCast(const Graph& graph, const Node& node) {
    const std::int64_t count = countOf(graph, node);
    return withType(graph.typeOf(node.inputs[0]).dtype, [&]<class From>(From) {
        return withType(graph.typeOf(node.outputs[0]).dtype, [&]<class To>(To) {
            return kernelOf([count](const KernelCall& call) {
                const From* x = input<From>(call, 0);
                To* y = output<To>(call, 0);
                for (std::int64_t i = 0; i < count; ++i) y[i] = static_cast<To>(x[i]);
            });
        });
    });
}

}  // namespace lockstep::reference
