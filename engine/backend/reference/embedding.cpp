#include "engine/ops/embedding.h"

#include <algorithm>

#include "engine/backend/index_check.h"
#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

// visit(place of the token, its row of the table)
template <class Visit>
void forEachToken(const std::int32_t* tokens, std::int64_t count, std::int64_t vocabulary, Visit visit) {
    expectBetween("reference embedding", "token", {tokens, static_cast<std::size_t>(count)}, 0, vocabulary - 1);
    for (std::int64_t i = 0; i < count; ++i) visit(i, tokens[i]);
}

}  // namespace

std::unique_ptr<Kernel> makeEmbedding(const Graph& graph, const Node& node) {
    const std::int64_t count = inputShape(graph, node, 0).count();
    return kernelOf([count, table = inputShape(graph, node, 1)](const KernelCall& call) {
        forEachToken(input<std::int32_t>(call, 0), count, table[0], [&](std::int64_t place, std::int64_t row) {
            std::copy_n(input(call, 1) + row * table[1], table[1], output(call, 0) + place * table[1]);
        });
    });
}

std::unique_ptr<Kernel> makeEmbeddingBackward(const Graph& graph, const Node& node) {
    const std::int64_t count = inputShape(graph, node, 0).count();
    return kernelOf([count, table = outputShape(graph, node, 0)](const KernelCall& call) {
        std::fill_n(output(call, 0), table.count(), 0.0);
        forEachToken(input<std::int32_t>(call, 0), count, table[0], [&](std::int64_t place, std::int64_t row) {
            const double* dy = input(call, 1) + place * table[1];
            double* to = output(call, 0) + row * table[1];
            for (std::int64_t c = 0; c < table[1]; ++c) to[c] += dy[c];
        });
    });
}

}  // namespace lockstep::reference
