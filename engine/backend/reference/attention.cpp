#include "engine/ops/attention.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/index_check.h"
#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

struct Heads {
    Shape qkv;
    AttentionAttrs attrs;
    std::size_t lengthsAt;  // among the inputs; 0: all tokens count

    Heads(const Graph& graph, const Node& node, std::size_t inputs)
        : qkv(inputShape(graph, node, 0)),
          attrs(node.attrs.as<AttentionAttrs>()),
          lengthsAt(node.inputs.size() > inputs ? inputs : 0) {}
    std::int64_t tokens() const { return qkv[1]; }
    std::int64_t channels() const { return qkv[2] / 3; }
    std::int64_t width() const { return channels() / attrs.heads; }
    double scale() const { return 1 / std::sqrt(static_cast<double>(width())); }
    std::int64_t seenFrom(std::int64_t token, std::int64_t length) const {
        return attrs.causal ? std::min(token + 1, length) : length;
    }

    // Where the query (0), key (1) or value (2) of one token begins.
    std::int64_t packed(int which, std::int64_t n, std::int64_t head, std::int64_t token) const {
        return (n * tokens() + token) * qkv[2] + which * channels() + head * width();
    }
    std::int64_t row(std::int64_t n, std::int64_t head, std::int64_t token) const {
        return (n * tokens() + token) * channels() + head * width();
    }
    std::int64_t statistic(std::int64_t n, std::int64_t head, std::int64_t token) const {
        return (n * attrs.heads + head) * tokens() + token;
    }

    double dot(const double* a, const double* b) const {
        double sum = 0;
        for (std::int64_t i = 0; i < width(); ++i) sum += a[i] * b[i];
        return sum;
    }
    void add(double factor, const double* x, double* to) const {
        for (std::int64_t i = 0; i < width(); ++i) to[i] += factor * x[i];
    }

    // visit(sample, head, token, how many tokens it sees)
    template <class Visit>
    void forEachRow(const KernelCall& call, Visit visit) const {
        const auto* lengths = lengthsAt ? input<std::int32_t>(call, lengthsAt) : nullptr;
        if (lengths)
            expectBetween("reference attention", "length", {lengths, static_cast<std::size_t>(qkv[0])}, 1, tokens());
        for (std::int64_t n = 0; n < qkv[0]; ++n)
            for (std::int64_t head = 0; head < attrs.heads; ++head)
                for (std::int64_t token = 0; token < tokens(); ++token)
                    visit(n, head, token, seenFrom(token, lengths ? lengths[n] : tokens()));
    }
};

}  // namespace

std::unique_ptr<Kernel> makeAttention(const Graph& graph, const Node& node) {
    return kernelOf([heads = Heads(graph, node, 1)](const KernelCall& call) {
        const double* qkv = input(call, 0);
        heads.forEachRow(call, [&](std::int64_t n, std::int64_t head, std::int64_t token, std::int64_t seen) {
            const double* query = qkv + heads.packed(0, n, head, token);
            const auto score = [&](std::int64_t other) {
                return heads.scale() * heads.dot(query, qkv + heads.packed(1, n, head, other));
            };
            double largest = score(0), sum = 0, *y = output(call, 0) + heads.row(n, head, token);
            for (std::int64_t other = 0; other < seen; ++other) largest = std::max(largest, score(other));
            for (std::int64_t other = 0; other < seen; ++other) sum += std::exp(score(other) - largest);
            const double logSumExp = output(call, 1)[heads.statistic(n, head, token)] = largest + std::log(sum);
            std::fill_n(y, heads.width(), 0.0);
            for (std::int64_t other = 0; other < seen; ++other)
                heads.add(std::exp(score(other) - logSumExp), qkv + heads.packed(2, n, head, other), y);
        });
    });
}

// p = exp(s - logSumExp);  ds = p (dy·v - dy·y).
std::unique_ptr<Kernel> makeAttentionBackward(const Graph& graph, const Node& node) {
    return kernelOf([heads = Heads(graph, node, 4)](const KernelCall& call) {
        const double* qkv = input(call, 0);
        double* dqkv = output(call, 0);
        std::fill_n(dqkv, heads.qkv.count(), 0.0);
        heads.forEachRow(call, [&](std::int64_t n, std::int64_t head, std::int64_t token, std::int64_t seen) {
            const std::int64_t q = heads.packed(0, n, head, token), row = heads.row(n, head, token);
            const double *dy = input(call, 3) + row, inner = heads.dot(dy, input(call, 1) + row);
            const double logSumExp = input(call, 2)[heads.statistic(n, head, token)];
            for (std::int64_t other = 0; other < seen; ++other) {
                const std::int64_t k = heads.packed(1, n, head, other), v = heads.packed(2, n, head, other);
                const double p = std::exp(heads.scale() * heads.dot(qkv + q, qkv + k) - logSumExp);
                const double ds = heads.scale() * p * (heads.dot(dy, qkv + v) - inner);
                heads.add(ds, qkv + k, dqkv + q);
                heads.add(ds, qkv + q, dqkv + k);
                heads.add(p, dy, dqkv + v);
            }
        });
    });
}

}  // namespace lockstep::reference
