#include "engine/ops/activation.h"

#include <algorithm>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kCost = 8;  // of an element, in floats that are only read and written

std::size_t countOf(const Order& order) { return order.output(0).bytes() / sizeof(float); }

std::unique_ptr<Kernel> forward(const Order& order, decltype(SimdTable::gelu) function) {
    return kernelOf([threads = order.machine.threads, count = countOf(order), function](const KernelCall& call) {
        inParallel(threads, (count + 15) / 16, count * kCost, [&](std::size_t begin, std::size_t end) {
            function(in(call, 0) + begin * 16, out(call, 0) + begin * 16, std::min(end * 16, count) - begin * 16);
        });
    });
}

std::unique_ptr<Kernel> backward(const Order& order, decltype(SimdTable::geluBackward) function) {
    return kernelOf([threads = order.machine.threads, count = countOf(order), function](const KernelCall& call) {
        inParallel(threads, (count + 15) / 16, count * kCost, [&](std::size_t begin, std::size_t end) {
            const std::size_t at = begin * 16;
            function(in(call, 0) + at, in(call, 1) + at, out(call, 0) + at, std::min(end * 16, count) - at);
        });
    });
}

}  // namespace

std::unique_ptr<Kernel> makeGelu(const Order& order) { return forward(order, order.machine.simd->gelu); }

std::unique_ptr<Kernel> makeGeluBackward(const Order& order) {
    return backward(order, order.machine.simd->geluBackward);
}

std::unique_ptr<Kernel> makeSilu(const Order& order) { return forward(order, order.machine.simd->silu); }

std::unique_ptr<Kernel> makeSiluBackward(const Order& order) {
    return backward(order, order.machine.simd->siluBackward);
}

}  // namespace lockstep::cpu
