#include "engine/ops/elementwise.h"

#include <algorithm>
#include <functional>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/primitive_kernel.h"

namespace lockstep::cpu {

namespace {

void requireImages(const Order& order) {
    const DType dtype = order.output(0).type.dtype;
    if (dtype != DType::F32 && dtype != DType::BF16)
        throw EngineError(EngineError::Kind::Device, order.where(), "the CPU computes this in f32 and bf16 only");
}

template <class T>
std::size_t elementsOf(const Value& value) {
    return value.bytes() / sizeof(T);
}

}  // namespace

std::unique_ptr<Kernel> makeRelu(const Order& order) {
    requireImages(order);
    return forElementsOf(order.output(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        const Loops<T>& loops = order.machine.simd->of<T>();
        const auto run = order.node.op == &kRelu6 ? loops.relu6 : loops.relu;
        return kernelOf(
            [&machine = order.machine, run, count = elementsOf<T>(order.output(0))](const KernelCall& call) {
                overFloats(machine.threads, count, [&](std::size_t begin, std::size_t end) {
                    run(in<T>(call, 0) + begin, out<T>(call, 0) + begin, end - begin);
                });
            });
    });
}

std::unique_ptr<Kernel> makeReluBackward(const Order& order) {
    requireImages(order);
    return forElementsOf(order.output(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        const Loops<T>& loops = order.machine.simd->of<T>();
        const auto run = order.node.op == &kRelu6Backward ? loops.relu6Backward : loops.reluBackward;
        return kernelOf(
            [&machine = order.machine, run, count = elementsOf<T>(order.output(0))](const KernelCall& call) {
                overFloats(machine.threads, count, [&](std::size_t begin, std::size_t end) {
                    run(in<T>(call, 0) + begin, in<T>(call, 1) + begin, out<T>(call, 0) + begin, end - begin);
                });
            });
    });
}

std::unique_ptr<Kernel> makeAdd(const Order& order) {
    const Value& y = order.output(0);
    if (y.type.dtype == DType::F64) {
        return kernelOf([count = y.type.shape.count()](const KernelCall& call) {
            std::transform(in<double>(call, 0), in<double>(call, 0) + count, in<double>(call, 1), out<double>(call, 0),
                           std::plus<>());
        });
    }
    requireImages(order);
    return forElementsOf(y, [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, count = elementsOf<T>(y)](const KernelCall& call) {
            overFloats(machine.threads, count, [&](std::size_t begin, std::size_t end) {
                machine.simd->of<T>().add(in<T>(call, 0) + begin, in<T>(call, 1) + begin, out<T>(call, 0) + begin,
                                          end - begin);
            });
        });
    });
}

namespace {

template <class To>
std::unique_ptr<Kernel> fillOf(std::size_t count, double value) {
    return kernelOf([count, element = static_cast<To>(value)](const KernelCall& call) {
        std::fill_n(out<To>(call, 0), count, element);
    });
}

template <class From, class To>
std::unique_ptr<Kernel> castOf(const Order& order, std::size_t count) {
    return kernelOf([threads = order.machine.threads, count](const KernelCall& call) {
        overFloats(threads, count, [&](std::size_t begin, std::size_t end) {
            std::transform(in<From>(call, 0) + begin, in<From>(call, 0) + end, out<To>(call, 0) + begin,
                           [](From x) { return static_cast<To>(x); });
        });
    });
}

template <class From>
std::unique_ptr<Kernel> castFrom(const Order& order, std::size_t count) {
    switch (order.output(0).type.dtype) {
        case DType::F32: return castOf<From, float>(order, count);
        case DType::F64: return castOf<From, double>(order, count);
        case DType::I32: return castOf<From, std::int32_t>(order, count);
        case DType::I64: return castOf<From, std::int64_t>(order, count);
        default: return castOf<From, std::uint8_t>(order, count);
    }
}

}  // namespace

std::unique_ptr<Kernel> makeFill(const Order& order) {
    const double value = order.node.attrs.as<FillAttrs>().value;
    const TensorType& type = order.output(0).type;
    const auto count = static_cast<std::size_t>(type.shape.count());
    switch (type.dtype) {
        case DType::F32: return fillOf<float>(count, value);
        case DType::F64: return fillOf<double>(count, value);
        case DType::I32: return fillOf<std::int32_t>(count, value);
        case DType::I64: return fillOf<std::int64_t>(count, value);
        default: return fillOf<std::uint8_t>(count, value);
    }
}

std::unique_ptr<Kernel> makeCast(const Order& order) {
    const auto count = static_cast<std::size_t>(order.output(0).type.shape.count());
    switch (order.input(0).type.dtype) {
        case DType::F32: return castFrom<float>(order, count);
        case DType::F64: return castFrom<double>(order, count);
        case DType::I32: return castFrom<std::int32_t>(order, count);
        case DType::I64: return castFrom<std::int64_t>(order, count);
        default: return castFrom<std::uint8_t>(order, count);
    }
}

namespace {

// Between row-major and samples in lanes: sixteen rows at a time, transposed.
std::unique_ptr<Kernel> makeTransposition(const Order& order, bool toLanes) {
    const Shape& shape = order.input(0).type.shape;
    const auto samples = static_cast<std::size_t>(shape[0]),
               elements = static_cast<std::size_t>(shape.count()) / samples;
    return kernelOf([&machine = order.machine, toLanes, samples, elements](const KernelCall& call) {
        inParallel(machine.threads, (samples + 15) / 16, samples * elements, [&](std::size_t begin, std::size_t end) {
            for (std::size_t group = begin; group < end; ++group) {
                const std::size_t at = group * 16 * elements, rows = std::min<std::size_t>(16, samples - group * 16);
                if (toLanes)
                    machine.simd->rowsToLanes(in(call, 0) + at, elements, rows, out(call, 0) + at, 16, elements);
                else machine.simd->lanesToRows(in(call, 0) + at, out(call, 0) + at, elements, rows, elements);
            }
        });
    });
}

// From the first input's layout to the output's, whose extents may group the same elements otherwise.
template <class Plan>
std::unique_ptr<Kernel> planned(const Order& order, const Plan& plan) {
    const onednn::Desc from = descOf(order.input(0)), to = descOf(order.output(0));
    const auto dims = from.isRowMajor() ? to.dims() : from.dims();
    return primitiveKernel(order, plan(order.machine.engine, reshaped(from, dims), reshaped(to, dims)));
}

}  // namespace

std::unique_ptr<Kernel> makeReorder(const Order& order) {
    const onednn::Desc from = descOf(order.input(0)), to = descOf(order.output(0));
    const bool areFloats = from.dtype() == DType::F32 && to.dtype() == DType::F32;
    if (areFloats && from.isRowMajor() && to.isSampleLanes()) return makeTransposition(order, true);
    if (areFloats && from.isSampleLanes() && to.isRowMajor()) return makeTransposition(order, false);
    if (auto panels = makeFilterPanels(order)) return panels;
    return planned(order, onednn::planReorder);
}

std::unique_ptr<Kernel> makeScaleFilters(const Order& order) { return planned(order, onednn::planScaling); }

}  // namespace lockstep::cpu
