#include "engine/ops/tokens.h"

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

std::unique_ptr<Kernel> makeTranspose(const Graph& graph, const Node& node) {
    const Shape shape = inputShape(graph, node, 0);
    return loops([shape](const KernelCall& call) {
        const std::int64_t rows = shape[1], columns = shape[2];
        for (std::int64_t n = 0; n < shape[0]; ++n) {
            const double* x = input(call, 0) + n * rows * columns;
            double* y = output(call, 0) + n * rows * columns;
            for (std::int64_t i = 0; i < rows; ++i)
                for (std::int64_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
        }
    });
}

std::unique_ptr<Kernel> makeBroadcastAdd(const Graph& graph, const Node& node) {
    const std::int64_t count = inputShape(graph, node, 0).count(), width = inputShape(graph, node, 1).count();
    return loops([=](const KernelCall& call) {
        const double *x = input(call, 0), *row = input(call, 1);
        double* y = output(call, 0);
        for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] + row[i % width];
    });
}

}  // namespace lockstep::reference
