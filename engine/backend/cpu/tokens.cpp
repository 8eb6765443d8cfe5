#include "engine/ops/tokens.h"

#include <algorithm>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/index_check.h"

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
               width = static_cast<std::size_t>(order.input(0).type.shape.count()) / samples;
    return kernelOf([&machine = order.machine, samples, width](const KernelCall& call) {
        inParallel(machine.threads, samples, samples * width, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n)
                machine.simd->floats.add(in(call, 0) + n * width, in(call, 1), out(call, 0) + n * width, width);
        });
    });
}

std::unique_ptr<Kernel> makePad(const Order& order) {
    const std::int64_t count = order.input(0).type.shape.count(), whole = order.output(0).type.shape.count();
    return kernelOf([count, whole](const KernelCall& call) {
        std::fill_n(std::copy_n(in(call, 0), count, out(call, 0)), whole - count, 0.0f);
    });
}

namespace {

struct Sequences {
    std::size_t samples, tokens, width;
    std::string where;

    Sequences(const Order& order, const Value& x)
        : samples(static_cast<std::size_t>(x.type.shape[0])),
          tokens(static_cast<std::size_t>(x.type.shape[1])),
          width(static_cast<std::size_t>(x.type.shape[2])),
          where(order.where()) {}

    // body(sample, how many of its tokens count)
    template <class Body>
    void forEachSample(int threads, const std::int32_t* lengths, Body body) const {
        expectBetween(where, "length", {lengths, samples}, 1, static_cast<std::int64_t>(tokens));
        inParallel(threads, samples, samples * tokens * width, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n) body(n, static_cast<std::size_t>(lengths[n]));
        });
    }
};

}  // namespace

std::unique_ptr<Kernel> makeSequenceMean(const Order& order) {
    return kernelOf([&machine = order.machine, x = Sequences(order, order.input(0))](const KernelCall& call) {
        x.forEachSample(machine.threads, in<std::int32_t>(call, 1), [&](std::size_t n, std::size_t length) {
            const float* row = in(call, 0) + n * x.tokens * x.width;
            float* y = out(call, 0) + n * x.width;
            std::copy_n(row, x.width, y);
            for (std::size_t token = 1; token < length; ++token)
                machine.simd->floats.addRow(y, row + token * x.width, x.width);
            machine.simd->floats.scale(y, 1 / static_cast<float>(length), y, x.width);
        });
    });
}

std::unique_ptr<Kernel> makeSequenceMeanBackward(const Order& order) {
    return kernelOf([&machine = order.machine, x = Sequences(order, order.output(0))](const KernelCall& call) {
        x.forEachSample(machine.threads, in<std::int32_t>(call, 1), [&](std::size_t n, std::size_t length) {
            float* row = out(call, 0) + n * x.tokens * x.width;
            for (std::size_t token = 0; token < length; ++token, row += x.width)
                machine.simd->floats.scale(in(call, 0) + n * x.width, 1 / static_cast<float>(length), row, x.width);
            std::fill_n(row, (x.tokens - length) * x.width, 0.0f);
        });
    });
}

}  // namespace lockstep::cpu
