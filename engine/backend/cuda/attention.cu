#include "engine/ops/attention.h"

#include <cmath>

#include "engine/backend/cuda/algorithm_names.h"
#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

constexpr int kTeam = 128;
constexpr int kMostWidth = 256;  // of a head

// One team for each row of scores, which is never kept: backward makes it again, so memory grows with the tokens alone.
struct Heads {
    std::int64_t samples, tokens, channels, heads, width;
    bool causal;
    float scale;

    explicit Heads(const Order& order) {
        const Shape& qkv = order.inputShape(0);
        const auto attrs = order.node.attrs.as<AttentionAttrs>();
        samples = qkv[0];
        tokens = qkv[1];
        channels = qkv[2] / 3;
        heads = attrs.heads;
        width = channels / heads;
        causal = attrs.causal;
        scale = 1 / std::sqrt(static_cast<float>(width));
        if (width > kMostWidth)
            throw EngineError(EngineError::Kind::Device, order.where(),
                              "heads are at most " + std::to_string(kMostWidth) + " wide on CUDA, not " +
                                  std::to_string(width) + "; use more heads");
    }

    std::int64_t rows() const { return samples * heads * tokens; }

    struct Row {
        std::int64_t sample, head, token;
    };
    LOCKSTEP_CARD Row rowOf(std::int64_t i) const { return {i / (heads * tokens), i / tokens % heads, i % tokens}; }
    // The query (0), key (1) or value (2) of a token.
    LOCKSTEP_CARD std::int64_t packed(int which, const Row& row, std::int64_t token) const {
        return (row.sample * tokens + token) * 3 * channels + which * channels + row.head * width;
    }
    LOCKSTEP_CARD std::int64_t place(const Row& row, std::int64_t token) const {
        return (row.sample * tokens + token) * channels + row.head * width;
    }
    LOCKSTEP_CARD std::int64_t statistic(const Row& row, std::int64_t token) const {
        return (row.sample * heads + row.head) * tokens + token;
    }
    LOCKSTEP_CARD std::int64_t lengthOf(const std::int32_t* lengths, const Row& row) const {
        const std::int64_t length = lengths ? lengths[row.sample] : tokens;
        return length < 1 ? 1 : length > tokens ? tokens : length;
    }
    // How many tokens, from the first, a query sees.
    LOCKSTEP_CARD std::int64_t seen(std::int64_t query, std::int64_t length) const {
        return causal && query + 1 < length ? query + 1 : length;
    }
    template <class T>
    LOCKSTEP_CARD float dot(const T* a, const T* b) const {
        float sum = 0;
        for (std::int64_t i = 0; i < width; ++i) sum += static_cast<float>(a[i]) * static_cast<float>(b[i]);
        return sum;
    }
};

// Tiles of as many keys (or queries) as a team has threads: first each thread finds the weight of one of them, then
// each takes an element of the head and adds up over the tile.
template <class T>
struct Attention {
    Heads heads;
    const T* qkv;
    const std::int32_t* lengths;  // may be null
    T* y;
    float* logSumExp;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const Heads::Row row = heads.rowOf(team.index());
        const T* const query = qkv + heads.packed(0, row, row.token);
        const std::int64_t seen = heads.seen(row.token, heads.lengthOf(lengths, row));
        float *const weight = team.template shared<float, kTeam, 0>(), *const sums =
                                                                           team.template shared<float, kMostWidth, 1>();
        team.forEach(heads.width, [&](std::int64_t i) { sums[i] = 0; });
        float largest = -INFINITY, total = 0;
        for (std::int64_t first = 0; first < seen; first += kTeam) {
            const std::int64_t keys = seen - first < kTeam ? seen - first : kTeam;
            team.barrier();
            team.forEach(keys, [&](std::int64_t j) {
                weight[j] = heads.scale * heads.dot(query, qkv + heads.packed(1, row, first + j));
            });
            const float here = team.reduce(
                keys, largest, [&](std::int64_t j) { return weight[j]; },
                [](float a, float b) { return a != a || a > b ? a : b; });
            const float fading = expf(largest - here);
            team.forEach(keys, [&](std::int64_t j) { weight[j] = expf(weight[j] - here); });
            total = total * fading + team.template sum<float>(keys, [&](std::int64_t j) { return weight[j]; });
            team.forEach(heads.width, [&](std::int64_t i) {
                float sum = sums[i] * fading;
                for (std::int64_t j = 0; j < keys; ++j)
                    sum += weight[j] * static_cast<float>(qkv[heads.packed(2, row, first + j) + i]);
                sums[i] = sum;
            });
            largest = here;
        }
        team.once([&] { logSumExp[heads.statistic(row, row.token)] = largest + logf(total); });
        team.forEach(heads.width, [&](std::int64_t i) { y[heads.place(row, row.token) + i] = T(sums[i] / total); });
    }
};

// p = exp(s - logSumExp); ds = p (dy·v - dy·y).
template <class T>
struct Gradients {
    Heads heads;
    const T *qkv, *y;
    const float* logSumExp;
    const T* dy;
    const std::int32_t* lengths;  // may be null
    T* dqkv;

    struct Weight {
        float p, ds;
    };
    LOCKSTEP_CARD Weight weightOf(const Heads::Row& row, std::int64_t query, std::int64_t key) const {
        const T* const g = dy + heads.place(row, query);
        const float score = heads.scale * heads.dot(qkv + heads.packed(0, row, query), qkv + heads.packed(1, row, key));
        const float p = expf(score - logSumExp[heads.statistic(row, query)]);
        const float outer = heads.dot(g, qkv + heads.packed(2, row, key)),
                    inner = heads.dot(g, y + heads.place(row, query));
        return {p, heads.scale * p * (outer - inner)};
    }
};

template <class T>
struct QueryGradients {
    Gradients<T> of;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const Heads& heads = of.heads;
        const Heads::Row row = heads.rowOf(team.index());
        const std::int64_t seen = heads.seen(row.token, heads.lengthOf(of.lengths, row));
        float *const ds = team.template shared<float, kTeam, 0>(), *const sums =
                                                                       team.template shared<float, kMostWidth, 1>();
        team.forEach(heads.width, [&](std::int64_t i) { sums[i] = 0; });
        for (std::int64_t first = 0; first < seen; first += kTeam) {
            const std::int64_t keys = seen - first < kTeam ? seen - first : kTeam;
            team.barrier();
            team.forEach(keys, [&](std::int64_t j) { ds[j] = of.weightOf(row, row.token, first + j).ds; });
            team.barrier();
            team.forEach(heads.width, [&](std::int64_t i) {
                for (std::int64_t j = 0; j < keys; ++j)
                    sums[i] += ds[j] * static_cast<float>(of.qkv[heads.packed(1, row, first + j) + i]);
            });
        }
        team.forEach(heads.width, [&](std::int64_t i) { of.dqkv[heads.packed(0, row, row.token) + i] = T(sums[i]); });
    }
};

template <class T>
struct KeyAndValueGradients {
    Gradients<T> of;

    LOCKSTEP_CARD void operator()(const Team<kTeam>& team) const {
        const Heads& heads = of.heads;
        const Heads::Row row = heads.rowOf(team.index());
        const std::int64_t key = row.token, begin = heads.causal ? key : 0;  // of the queries that see this key
        const std::int64_t end = key < heads.lengthOf(of.lengths, row) ? heads.tokens : begin;
        using Weight = typename Gradients<T>::Weight;
        Weight* const weight = team.template shared<Weight, kTeam, 0>();
        Sums<2>* const sums = team.template shared<Sums<2>, kMostWidth, 1>();
        team.forEach(heads.width, [&](std::int64_t i) { sums[i] = {}; });
        for (std::int64_t first = begin; first < end; first += kTeam) {
            const std::int64_t queries = end - first < kTeam ? end - first : kTeam;
            team.barrier();
            team.forEach(queries, [&](std::int64_t j) { weight[j] = of.weightOf(row, first + j, key); });
            team.barrier();
            team.forEach(heads.width, [&](std::int64_t i) {
                for (std::int64_t j = 0; j < queries; ++j) {
                    sums[i].at[0] += weight[j].ds * static_cast<float>(of.qkv[heads.packed(0, row, first + j) + i]);
                    sums[i].at[1] += weight[j].p * static_cast<float>(of.dy[heads.place(row, first + j) + i]);
                }
            });
        }
        team.forEach(heads.width, [&](std::int64_t i) {
            of.dqkv[heads.packed(1, row, key) + i] = T(sums[i].at[0]);
            of.dqkv[heads.packed(2, row, key) + i] = T(sums[i].at[1]);
        });
    }
};

// The library's, where it has one: it knows no lengths.
std::shared_ptr<FusedAttention> fromLibrary(const Order& order, const Heads& heads, bool backward, bool hasLengths) {
    if (hasLengths) return nullptr;
    return order.device.libraries().attention(
        {backward, order.input(0).type.dtype, heads.samples, heads.tokens, heads.heads, heads.width, heads.causal},
        order.where(), isByRule(order.node));
}

}  // namespace

std::unique_ptr<Kernel> makeAttention(const Order& order) {
    const Heads heads(order);
    const bool hasLengths = order.node.inputs.size() > 1;
    const auto library = fromLibrary(order, heads, false, hasLengths);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                if (library) {
                    const AttentionOperands of{
                        .qkv = call.inputs[0], .y = call.outputs[0], .logSumExp = call.outputs[1]};
                    return library->run(of, call.workspace, stream);
                }
                launchTeams<kTeam>(stream, heads.rows(),
                                   Attention<T>{heads, in<T>(call, 0), hasLengths ? in<std::int32_t>(call, 1) : nullptr,
                                                out<T>(call, 0), out<float>(call, 1)});
            },
            library ? library->workspaceBytes() : 0);
    });
}

std::unique_ptr<Kernel> makeAttentionBackward(const Order& order) {
    const Heads heads(order);
    const bool hasLengths = order.node.inputs.size() > 4;
    const auto library = fromLibrary(order, heads, true, hasLengths);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(
            order.where(),
            [=](const KernelCall& call, cudaStream_t stream) {
                if (library)
                    return library->run(
                        {call.inputs[0], call.inputs[1], call.inputs[2], call.inputs[3], call.outputs[0]},
                        call.workspace, stream);
                const Gradients<T> of{heads,          in<T>(call, 0),
                                      in<T>(call, 1), in<float>(call, 2),
                                      in<T>(call, 3), hasLengths ? in<std::int32_t>(call, 4) : nullptr,
                                      out<T>(call, 0)};
                launchTeams<kTeam>(stream, heads.rows(), QueryGradients<T>{of});
                launchTeams<kTeam>(stream, heads.rows(), KeyAndValueGradients<T>{of});
            },
            library ? library->workspaceBytes() : 0);
    });
}

}  // namespace lockstep::cuda
