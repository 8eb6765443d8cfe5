#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/index_check.h"
#include "engine/ops/attention.h"

namespace lockstep::cpu {

// Of a tile of scores, which then stays in the first-level cache. ownQueries: as many at once where causal attention
// has queries see keys up to their own, for half of that square is hidden, and small ones waste less.
struct ScoreTileSize {
    std::size_t keys, queries, ownQueries;

    std::size_t floats() const { return keys * queries; }
};
// Forward a row's softmax costs the more the more tiles there are; backward there are two tiles at a time.
constexpr ScoreTileSize kForwardTile{128, 64, 32}, kBackwardTile{64, 64, 32};

// What forward and backward share. A head of a sample is one item of work; keys are gone over on the outside, so that
// each of their tiles is packed once, queries on the inside. A tile has the keys that the last of its queries sees.
class Attention {
public:
    Attention(const Order& order, const ScoreTileSize& size, std::size_t partFloats, std::size_t inputs)
        : m_size(size),
          m_simd(*order.machine.simd),
          m_attrs(order.node.attrs.as<AttentionAttrs>()),
          m_where(order.where()),
          m_lengthsAt(order.node.inputs.size() > inputs ? inputs : 0),
          m_partFloats(partFloats) {
        const Shape& qkv = order.input(0).type.shape;
        m_tokens = static_cast<std::size_t>(qkv[1]);
        m_channels = static_cast<std::size_t>(qkv[2] / 3);
        m_heads = static_cast<std::size_t>(m_attrs.heads);
        m_width = m_channels / m_heads;
        m_items = static_cast<std::size_t>(qkv[0]) * m_heads;
        m_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(m_width)));
        const bool isSmall = m_items * m_tokens * m_tokens * m_width < kSmallWork * 16;
        m_parts = isSmall ? 1 : static_cast<int>(std::min(m_items, static_cast<std::size_t>(order.machine.threads)));
    }

    std::size_t workspaceBytes() const { return static_cast<std::size_t>(m_parts) * m_partFloats * sizeof(float); }

    static std::size_t rowFloats(const Order& order) {
        return (static_cast<std::size_t>(order.input(0).type.shape[1]) + 15) / 16 * 16;
    }

protected:
    // body(item, how many keys count, scratch)
    template <class Body>
    void forEachHead(const KernelCall& call, Body body) const {
        const auto* lengths = m_lengthsAt ? in<std::int32_t>(call, m_lengthsAt) : nullptr;
        if (lengths)
            expectBetween(m_where, "length", {lengths, m_items / m_heads}, 1, static_cast<std::int64_t>(m_tokens));
        inParts(m_parts, m_items, [&](std::size_t part, std::size_t begin, std::size_t end) {
            float* scratch = reinterpret_cast<float*>(call.workspace) + part * m_partFloats;
            for (std::size_t item = begin; item < end; ++item)
                body(item, lengths ? static_cast<std::size_t>(lengths[item / m_heads]) : m_tokens, scratch);
        });
    }
    // body(begin, count): the first `end` keys by tiles
    template <class Body>
    void forEachKeys(std::size_t end, Body body) const {
        for (std::size_t at = 0; at < end; at += m_size.keys) body(at, std::min(m_size.keys, end - at));
    }
    // Some who see a tile's keys: the last of them its first `columns`, of which others saw `before` already.
    struct Queries {
        std::size_t first, count, columns, before;
    };
    template <class Body>
    void forEachQueries(std::size_t key, std::size_t columns, Body body) const {
        std::size_t at = m_attrs.causal ? key : 0;
        while (at < m_tokens) {
            const bool isOwn = m_attrs.causal && at < key + columns;
            const std::size_t count = std::min(isOwn ? m_size.ownQueries : m_size.queries, m_tokens - at);
            if (isOwn) body(Queries{at, count, std::min(columns, at + count - key), at - key});
            else body(Queries{at, count, columns, at > 0 ? columns : 0});
            at += count;
        }
    }

    std::size_t qkvStride() const { return 3 * m_channels; }
    std::size_t qkvAt(std::size_t item) const {
        return item / m_heads * m_tokens * qkvStride() + item % m_heads * m_width;
    }
    std::size_t rowsAt(std::size_t item) const {
        return item / m_heads * m_tokens * m_channels + item % m_heads * m_width;
    }

    ScoreTile tileOf(float* scores, const Queries& queries, std::size_t key) const {
        const std::size_t seen = m_attrs.causal ? queries.first + 1 - key : queries.columns;
        return {scores, queries.count, queries.columns, m_size.keys, seen, m_scale};
    }

    ScoreTileSize m_size;
    const SimdTable& m_simd;
    AttentionAttrs m_attrs;
    std::string m_where;
    std::size_t m_lengthsAt, m_partFloats, m_tokens = 0, m_channels = 0, m_heads = 1, m_width = 0, m_items = 0;
    float m_scale = 1;
    int m_parts = 1;
};

}  // namespace lockstep::cpu
