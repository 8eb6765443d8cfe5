#include "engine/ops/embedding.h"

#include <algorithm>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/index_check.h"

namespace lockstep::cpu {

namespace {

struct Table {
    std::size_t rows, width, tokens;
    std::string where;

    Table(const Order& order, const Value& table)
        : rows(static_cast<std::size_t>(table.type.shape[0])),
          width(static_cast<std::size_t>(table.type.shape[1])),
          tokens(static_cast<std::size_t>(order.input(0).type.shape.count())),
          where(order.where()) {}

    const std::int32_t* tokensOf(const KernelCall& call) const {
        const auto* numbers = in<std::int32_t>(call, 0);
        expectBetween(where, "token", {numbers, tokens}, 0, static_cast<std::int64_t>(rows) - 1);
        return numbers;
    }
};

}  // namespace

std::unique_ptr<Kernel> makeEmbedding(const Order& order) {
    return kernelOf([threads = order.machine.threads, table = Table(order, order.input(1))](const KernelCall& call) {
        const auto* tokens = table.tokensOf(call);
        inParallel(threads, table.tokens, table.tokens * table.width, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                std::copy_n(in(call, 1) + static_cast<std::size_t>(tokens[i]) * table.width, table.width,
                            out(call, 0) + i * table.width);
        });
    });
}

// Each thread has columns of its own, so that sums do not depend on how many there are.
std::unique_ptr<Kernel> makeEmbeddingBackward(const Order& order) {
    return kernelOf([&machine = order.machine, table = Table(order, order.output(0))](const KernelCall& call) {
        const auto* tokens = table.tokensOf(call);
        const std::size_t blocks = (table.width + 15) / 16, work = (table.tokens + table.rows) * table.width;
        inParallel(machine.threads, blocks, work, [&](std::size_t begin, std::size_t end) {
            const std::size_t at = begin * 16, width = std::min(end * 16, table.width) - at;
            const float* dy = in(call, 1) + at;
            float* sums = out(call, 0) + at;
            for (std::size_t row = 0; row < table.rows; ++row) std::fill_n(sums + row * table.width, width, 0.0f);
            for (std::size_t i = 0; i < table.tokens; ++i)
                machine.simd->floats.addRow(sums + static_cast<std::size_t>(tokens[i]) * table.width,
                                            dy + i * table.width, width);
        });
    });
}

}  // namespace lockstep::cpu
