#include "engine/ops/pool2d.h"

#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

// One plane: a sample's channel block or a channel of sixteen samples, in x (the larger image) and in y.
struct Planes {
    PoolShape shape;
    int block = 1;
    std::size_t count = 0, xFloats = 0, yFloats = 0;
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

Planes planesOf(const Pool2dAttrs& attrs, const Value& x, const Value& y) {
    Planes planes;
    countPlanes(planes, x);
    planes.shape = {x.type.shape[2], x.type.shape[3], y.type.shape[2], y.type.shape[3],
                    attrs.window,    attrs.stride,    attrs.padding,   attrs.countPadding};
    const auto pixels = [&](const Shape& shape) {
        return static_cast<std::size_t>(shape[2] * shape[3] * planes.block);
    };
    planes.xFloats = pixels(x.type.shape);
    planes.yFloats = pixels(y.type.shape);
    return planes;
}

// body(offset in x, offset in y) for every plane.
template <class Body>
void forEachPlane(const Planes& planes, int threads, Body body) {
    inParallel(threads, planes.count, planes.count * planes.xFloats, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) body(i * planes.xFloats, i * planes.yFloats);
    });
}

}  // namespace

std::unique_ptr<Kernel> makeMaxPool2d(const Order& order) {
    const Planes planes = planesOf(order.node.attrs.as<Pool2dAttrs>(), order.input(0), order.output(0));
    return kernelOf([&machine = order.machine, planes](const KernelCall& call) {
        forEachPlane(planes, machine.threads, [&](std::size_t x, std::size_t y) {
            machine.simd->maxPool(planes.shape, planes.block, in(call, 0) + x, out(call, 0) + y,
                                  out<std::int32_t>(call, 1) + y);
        });
    });
}

std::unique_ptr<Kernel> makeMaxPool2dBackward(const Order& order) {
    const Planes planes = planesOf(order.node.attrs.as<Pool2dBackwardAttrs>().pool, order.output(0), order.input(0));
    const bool relu = order.node.op == &kMaxPool2dBackwardRelu;
    return kernelOf([&machine = order.machine, planes, relu](const KernelCall& call) {
        forEachPlane(planes, machine.threads, [&](std::size_t x, std::size_t y) {
            machine.simd->maxPoolBackward(planes.shape, planes.block, in(call, 0) + y, in<std::int32_t>(call, 1) + y,
                                          relu ? in(call, 2) + y : nullptr, out(call, 0) + x);
        });
    });
}

std::unique_ptr<Kernel> makeAveragePool2d(const Order& order) {
    const Planes planes = planesOf(order.node.attrs.as<Pool2dAttrs>(), order.input(0), order.output(0));
    return kernelOf([&machine = order.machine, planes](const KernelCall& call) {
        forEachPlane(planes, machine.threads, [&](std::size_t x, std::size_t y) {
            machine.simd->averagePool(planes.shape, planes.block, in(call, 0) + x, out(call, 0) + y);
        });
    });
}

std::unique_ptr<Kernel> makeAveragePool2dBackward(const Order& order) {
    const Planes planes = planesOf(order.node.attrs.as<Pool2dBackwardAttrs>().pool, order.output(0), order.input(0));
    return kernelOf([&machine = order.machine, planes](const KernelCall& call) {
        forEachPlane(planes, machine.threads, [&](std::size_t x, std::size_t y) {
            machine.simd->averagePoolBackward(planes.shape, planes.block, in(call, 0) + y, out(call, 0) + x);
        });
    });
}

namespace {

// body(sample, channel block) over all of them.
template <class Body>
void forEachBlock(const ChannelRuns& runs, int threads, Body body) {
    const auto count = static_cast<std::size_t>(runs.samples * runs.blocks);
    inParallel(threads, count, runs.floats(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto item = static_cast<std::int64_t>(i);
            body(item / runs.blocks, item % runs.blocks);
        }
    });
}

}  // namespace

std::unique_ptr<Kernel> makeGlobalAveragePool2d(const Order& order) {
    return kernelOf([&machine = order.machine, runs = channelRuns(order.input(0))](const KernelCall& call) {
        forEachBlock(runs, machine.threads, [&](std::int64_t n, std::int64_t b) {
            double sums[16] = {};
            machine.simd->sum(in(call, 0) + runs.at(n, b), runs.length(b), sums);
            runs.fold(sums);
            float* y = out(call, 0) + n * runs.channels;
            for (int lane = 0; lane < runs.block && runs.channel(b, lane) < runs.channels; ++lane)
                y[runs.channel(b, lane)] = static_cast<float>(sums[lane] / static_cast<double>(runs.pixels));
        });
    });
}

std::unique_ptr<Kernel> makeGlobalAveragePool2dBackward(const Order& order) {
    return kernelOf([&machine = order.machine, runs = channelRuns(order.output(0))](const KernelCall& call) {
        forEachBlock(runs, machine.threads, [&](std::int64_t n, std::int64_t b) {
            float share[16];
            runs.spread(in(call, 0) + n * runs.channels, b, share);
            for (float& value : share) value /= static_cast<float>(runs.pixels);
            float* dx = out(call, 0) + runs.at(n, b);
            for (std::size_t i = 0; i < runs.length(b); ++i) dx[i] = share[i % 16];
        });
    });
}

}  // namespace lockstep::cpu
