#include "engine/ops/activation.h"

#include <algorithm>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kCost = 8;  // of an element, in floats that are only read and written

std::size_t countOf(const Order& order) { return order.output(0).bytes() / sizeof(float); }

}  // namespace

std::unique_ptr<Kernel> makeActivation(const Order& order) {
    return kernelOf([&machine = order.machine, count = countOf(order),
                     kind = activationKind(*order.node.op)](const KernelCall& call) {
        inParallel(machine.threads, (count + 15) / 16, count * kCost, [&](std::size_t begin, std::size_t end) {
            const std::size_t at = begin * 16;
            machine.simd->activation(kind, in(call, 0) + at, out(call, 0) + at, std::min(end * 16, count) - at);
        });
    });
}

std::unique_ptr<Kernel> makeActivationBackward(const Order& order) {
    return kernelOf([&machine = order.machine, count = countOf(order),
                     kind = activationKind(*order.node.op)](const KernelCall& call) {
        inParallel(machine.threads, (count + 15) / 16, count * kCost, [&](std::size_t begin, std::size_t end) {
            const std::size_t at = begin * 16;
            machine.simd->activationBackward(kind, in(call, 0) + at, in(call, 1) + at, out(call, 0) + at,
                                             std::min(end * 16, count) - at);
        });
    });
}

}  // namespace lockstep::cpu
