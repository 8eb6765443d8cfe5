#include "engine/ops/tokens.h"

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

// Sixteen rows at a time become sixteen columns next to each other.
std::unique_ptr<Kernel> makeTranspose(const Order& order) {
    const Shape& shape = order.input(0).type.shape;
    const auto samples = static_cast<std::size_t>(shape[0]), rows = static_cast<std::size_t>(shape[1]),
               columns = static_cast<std::size_t>(shape[2]);
    return kernelOf([&machine = order.machine, samples, rows, columns](const KernelCall& call) {
        const std::size_t groups = (rows + 15) / 16;
        inParallel(machine.threads, samples * groups, samples * rows * columns,
                   [&](std::size_t begin, std::size_t end) {
                       for (std::size_t item = begin; item < end; ++item) {
                           const std::size_t sample = item / groups * rows * columns, row = item % groups * 16;
                           const float* x = in(call, 0) + sample + row * columns;
                           float* y = out(call, 0) + sample + row;
                           if (row + 16 <= rows) {
                               machine.simd->rowsToLanes(x, columns, 16, y, rows, columns);
                               continue;
                           }
                           for (std::size_t i = 0; i < rows - row; ++i)
                               for (std::size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
                       }
                   });
    });
}

std::unique_ptr<Kernel> makeBroadcastAdd(const Order& order) {
    const auto samples = static_cast<std::size_t>(order.input(0).type.shape[0]),
               width = static_cast<std::size_t>(order.input(1).type.shape.count());
    return kernelOf([&machine = order.machine, samples, width](const KernelCall& call) {
        inParallel(machine.threads, samples, samples * width, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n)
                machine.simd->add(in(call, 0) + n * width, in(call, 1), out(call, 0) + n * width, width);
        });
    });
}

}  // namespace lockstep::cpu
