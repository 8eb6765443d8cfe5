#include "engine/ops/tokens.h"

#include <algorithm>

#include "engine/backend/index_check.h"
#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

std::unique_ptr<Kernel> makeTranspose(const Graph& graph, const Node& node) {
    const Shape shape = inputShape(graph, node, 0);
    return kernelOf([shape](const KernelCall& call) {
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
    const std::int64_t count = inputShape(graph, node, 0).count(), width = count / inputShape(graph, node, 0)[0];
    return kernelOf([=](const KernelCall& call) {
        const double *x = input(call, 0), *table = input(call, 1);
        double* y = output(call, 0);
        for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] + table[i % width];
    });
}

std::unique_ptr<Kernel> makePad(const Graph& graph, const Node& node) {
    const std::int64_t count = inputShape(graph, node, 0).count(), whole = outputShape(graph, node, 0).count();
    return kernelOf([=](const KernelCall& call) {
        std::fill_n(std::copy_n(input(call, 0), count, output(call, 0)), whole - count, 0.0);
    });
}

namespace {

// visit(sample, token, its share of the mean)
template <class Visit>
void forEachToken(const Shape& x, const std::int32_t* lengths, Visit visit) {
    expectBetween("reference sequence_mean", "length", {lengths, static_cast<std::size_t>(x[0])}, 1, x[1]);
    for (std::int64_t n = 0; n < x[0]; ++n)
        for (std::int64_t token = 0; token < lengths[n]; ++token) visit(n, token, 1.0 / lengths[n]);
}

}  // namespace

std::unique_ptr<Kernel> makeSequenceMean(const Graph& graph, const Node& node) {
    return kernelOf([x = inputShape(graph, node, 0)](const KernelCall& call) {
        std::fill_n(output(call, 0), x[0] * x[2], 0.0);
        forEachToken(x, input<std::int32_t>(call, 1), [&](std::int64_t n, std::int64_t token, double share) {
            const double* row = input(call, 0) + (n * x[1] + token) * x[2];
            for (std::int64_t c = 0; c < x[2]; ++c) output(call, 0)[n * x[2] + c] += share * row[c];
        });
    });
}

std::unique_ptr<Kernel> makeSequenceMeanBackward(const Graph& graph, const Node& node) {
    return kernelOf([x = outputShape(graph, node, 0)](const KernelCall& call) {
        std::fill_n(output(call, 0), x.count(), 0.0);
        forEachToken(x, input<std::int32_t>(call, 1), [&](std::int64_t n, std::int64_t token, double share) {
            double* row = output(call, 0) + (n * x[1] + token) * x[2];
            for (std::int64_t c = 0; c < x[2]; ++c) row[c] = share * input(call, 0)[n * x[2] + c];
        });
    });
}

}  // namespace lockstep::reference
