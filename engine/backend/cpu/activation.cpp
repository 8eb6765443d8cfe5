#include "engine/ops/activation.h"

#include <algorithm>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kCost = 8;  // of an element, in floats that are only read and written

// loop(first, count) over parts of the elements.
template <class Loop>
void overElements(const Machine& machine, std::size_t count, Loop loop) {
    inParallel(machine.threads, (count + 15) / 16, count * kCost,
               [&](std::size_t begin, std::size_t end) { loop(begin * 16, std::min(end * 16, count) - begin * 16); });
}

}  // namespace

std::unique_ptr<Kernel> makeActivation(const Order& order) {
    return forElementsOf(order.output(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, count = order.output(0).bytes() / sizeof(T),
                         kind = activationKind(*order.node.op)](const KernelCall& call) {
            overElements(machine, count, [&](std::size_t at, std::size_t part) {
                machine.simd->of<T>().activation(kind, in<T>(call, 0) + at, out<T>(call, 0) + at, part);
            });
        });
    });
}

std::unique_ptr<Kernel> makeActivationBackward(const Order& order) {
    return forElementsOf(order.output(0), [&]<class T>(T) -> std::unique_ptr<Kernel> {
        return kernelOf([&machine = order.machine, count = order.output(0).bytes() / sizeof(T),
                         kind = activationKind(*order.node.op)](const KernelCall& call) {
            overElements(machine, count, [&](std::size_t at, std::size_t part) {
                machine.simd->of<T>().activationBackward(kind, in<T>(call, 0) + at, in<T>(call, 1) + at,
                                                         out<T>(call, 0) + at, part);
            });
        });
    });
}

}  // namespace lockstep::cpu
