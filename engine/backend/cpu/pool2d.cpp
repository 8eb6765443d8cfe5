#include "engine/ops/pool2d.h"

#include <algorithm>

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/size.h"

namespace lockstep::cpu {

namespace {

// One plane: a sample's channel block or a channel of sixteen samples, in x (the larger image) and in y. Channels last,
// the `blocks` of a sample lie side by side.
struct Planes {
    PoolShape shape;
    int block = 1;
    std::size_t count = 0, blocks = 1, xElements = 0, yElements = 0;  // elements: of a sample's blocks

    std::size_t at(std::size_t plane, std::size_t elements) const {
        return plane / blocks * elements + plane % blocks * 16;
    }
};

// Sixteen samples side by side are to these loops what sixteen channels are.
void countPlanes(Planes& planes, const Value& x) {
    const Shape& shape = x.type.shape;
    const onednn::Desc desc = descOf(x);
    const bool lanes = desc.isSampleLanes();
    planes.block = lanes ? 16 : desc.channelBlock();
    planes.count = static_cast<std::size_t>(lanes ? (shape[0] + 15) / 16 * shape[1]
                                                  : shape[0] * ((shape[1] + planes.block - 1) / planes.block));
}

void countChannelsLast(Planes& planes, const Shape& shape) {
    planes.block = 16;
    planes.blocks = static_cast<std::size_t>(shape[1] / 16);
    planes.count = static_cast<std::size_t>(shape[0]) * planes.blocks;
    planes.shape.step = static_cast<std::size_t>(shape[1]);
}

Planes planesOf(const Pool2dAttrs& attrs, const Value& x, const Value& y) {
    Planes planes;
    planes.shape = {x.type.shape[2], x.type.shape[3], y.type.shape[2], y.type.shape[3],
                    attrs.window,    attrs.stride,    attrs.padding,   attrs.countPadding};
    if (x.type.dtype == DType::BF16 && descOf(x).channelBlock() != 16) countChannelsLast(planes, x.type.shape);
    else countPlanes(planes, x);
    const auto elements = [&](const Shape& shape) {
        return static_cast<std::size_t>(shape[2] * shape[3] * planes.block) * planes.blocks;
    };
    planes.xElements = elements(x.type.shape);
    planes.yElements = elements(y.type.shape);
    return planes;
}

// body(shape, offset in x, offset in y) for every plane, or all that lie side by side.
template <class Body>
void forEachPlane(const Planes& planes, int threads, Body body) {
    inParallel(threads, planes.count, planes.count / planes.blocks * planes.xElements,
               [&](std::size_t begin, std::size_t end) {
                   PoolShape shape = planes.shape;
                   for (std::size_t i = begin; i < end; i += shape.groups) {
                       shape.groups = std::min(planes.blocks - i % planes.blocks, end - i);
                       body(shape, planes.at(i, planes.xElements), planes.at(i, planes.yElements));
                   }
               });
}

}  // namespace

std::unique_ptr<Kernel> makeMaxPool2d(const Order& order) {
    const Planes planes = planesOf(order.node.attrs.as<Pool2dAttrs>(), order.input(0), order.output(0));
    const bool keepsPlaces = order.isRead(1);
    return forElementsOf(order.input(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, planes, keepsPlaces](const KernelCall& call) {
            forEachPlane(planes, machine.threads, [&](const PoolShape& shape, std::size_t x, std::size_t y) {
                machine.simd->of<T>().maxPool(shape, planes.block, in<T>(call, 0) + x, out<T>(call, 0) + y,
                                              keepsPlaces ? out<std::int32_t>(call, 1) + y : nullptr);
            });
        });
    });
}

std::unique_ptr<Kernel> makeMaxPool2dBackward(const Order& order) {
    const Planes planes = planesOf(order.node.attrs.as<Pool2dBackwardAttrs>().pool, order.output(0), order.input(0));
    const bool relu = order.node.op == &kMaxPool2dBackwardRelu;
    return forElementsOf(order.input(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, planes, relu](const KernelCall& call) {
            forEachPlane(planes, machine.threads, [&](const PoolShape& shape, std::size_t x, std::size_t y) {
                machine.simd->of<T>().maxPoolBackward(shape, planes.block, in<T>(call, 0) + y,
                                                      in<std::int32_t>(call, 1) + y,
                                                      relu ? in<T>(call, 2) + y : nullptr, out<T>(call, 0) + x);
            });
        });
    });
}

std::unique_ptr<Kernel> makeAveragePool2d(const Order& order) {
    const Planes planes = planesOf(order.node.attrs.as<Pool2dAttrs>(), order.input(0), order.output(0));
    return forElementsOf(order.input(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, planes](const KernelCall& call) {
            forEachPlane(planes, machine.threads, [&](const PoolShape& shape, std::size_t x, std::size_t y) {
                machine.simd->of<T>().averagePool(shape, planes.block, in<T>(call, 0) + x, out<T>(call, 0) + y);
            });
        });
    });
}

std::unique_ptr<Kernel> makeAveragePool2dBackward(const Order& order) {
    const Planes planes = planesOf(order.node.attrs.as<Pool2dBackwardAttrs>().pool, order.output(0), order.input(0));
    return forElementsOf(order.input(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, planes](const KernelCall& call) {
            forEachPlane(planes, machine.threads, [&](const PoolShape& shape, std::size_t x, std::size_t y) {
                machine.simd->of<T>().averagePoolBackward(shape, planes.block, in<T>(call, 0) + y, out<T>(call, 0) + x);
            });
        });
    });
}

namespace {

// body(sample, channel block) over all of them.
template <class Body>
void forEachBlock(const ChannelRuns& runs, int threads, Body body) {
    const auto count = static_cast<std::size_t>(runs.samples * runs.blocks);
    inParallel(threads, count, runs.elements(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto item = static_cast<std::int64_t>(i);
            body(item / runs.blocks, item % runs.blocks);
        }
    });
}

}  // namespace

std::unique_ptr<Kernel> makeGlobalAveragePool2d(const Order& order) {
    return forElementsOf(order.input(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, runs = channelRuns(order.input(0))](const KernelCall& call) {
            forEachBlock(runs, machine.threads, [&](std::int64_t n, std::int64_t b) {
                double sums[16] = {};
                machine.simd->of<T>().sum(in<T>(call, 0) + runs.at(n, b), runs.length(b), runs.step, sums);
                runs.fold(sums);
                float* y = out(call, 0) + n * runs.channels;
                for (int lane = 0; lane < runs.block && runs.channel(b, lane) < runs.channels; ++lane)
                    y[runs.channel(b, lane)] = static_cast<float>(sums[lane] / static_cast<double>(runs.pixels));
            });
        });
    });
}

namespace {

// A channel block's pattern at every pixel.
void spreadOver(const SimdTable&, const ChannelRuns& runs, std::int64_t block, const float* share, float* dx) {
    for (std::size_t i = 0; i < runs.length(block); ++i) dx[i] = share[i % 16];
}

void spreadOver(const SimdTable& simd, const ChannelRuns& runs, std::int64_t, const float* share, Bf16* dx) {
    constexpr float kZeros[16] = {};
    constexpr Bf16 kNothing[16] = {};
    Bf16 rounded[16];
    simd.halves.norm({.x = kNothing, .y = rounded, .count = 16, .mean = kZeros, .scale = kZeros, .offset = share}, 0,
                     false);
    for (std::int64_t i = 0; i < runs.pixels; ++i) std::ranges::copy(rounded, dx + size(i) * runs.step);
}

}  // namespace

std::unique_ptr<Kernel> makeGlobalAveragePool2dBackward(const Order& order) {
    return forElementsOf(order.output(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, runs = channelRuns(order.output(0))](const KernelCall& call) {
            forEachBlock(runs, machine.threads, [&](std::int64_t n, std::int64_t b) {
                float share[16];
                runs.spread(in(call, 0) + n * runs.channels, b, share);
                for (float& value : share) value /= static_cast<float>(runs.pixels);
                spreadOver(*machine.simd, runs, b, share, out<T>(call, 0) + runs.at(n, b));
            });
        });
    });
}

}  // namespace lockstep::cpu
