#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backend/cpu/attention.h"

namespace lockstep::cpu {

namespace {

constexpr std::size_t kPanel = 32;

// Takes a part's scratch bit by bit, or counts what will be taken of it.
class Scratch {
public:
    explicit Scratch(float* at = nullptr) : m_at(at) {}
    float* take(std::size_t floats) {
        float* const taken = m_at ? m_at + m_taken : nullptr;
        m_taken += roundUp(floats, 16);
        return taken;
    }
    std::size_t taken() const { return m_taken; }

private:
    float* m_at;
    std::size_t m_taken = 0;
};

// What is packed of a head: all tokens and features, filled up with zeros to whole panels of columns and whole tiles.
struct Packed {
    std::size_t tokens, width;

    explicit Packed(const Order& order)
        : tokens(roundUp(static_cast<std::size_t>(order.input(0).type.shape[1]), kPanel)),
          width(roundUp(static_cast<std::size_t>(order.input(0).type.shape[2]) / 3 /
                            static_cast<std::size_t>(order.node.attrs.as<AttentionAttrs>().heads),
                        kPanel)) {}
    std::size_t pairs() const { return tokens * width / 2; }
};

// What all that a head has takes.
template <class Head>
std::size_t floatsOf(const Packed& packed) {
    Scratch scratch;
    Head(scratch, packed);
    return scratch.taken();
}

// Attention whose products are of operands rounded to bf16, in pairs or in tiles: scores, their softmax, sums and all
// that is added up stay f32. Memory is of floats or of bf16. A head is packed once, as rows of pairs (what a product
// calls a) or as panels of 32 columns of pairs (b), where a pair is of neighbours in the product's depth: features
// for scores, tokens for weighted sums.
class HalfAttention : protected Attention {
protected:
    HalfAttention(const Order& order, const ScoreTileSize& size, std::size_t partFloats, std::size_t inputs)
        : Attention(order, size, partFloats, inputs),
          m_packed(order),
          m_products(order.machine.gemmRows),
          m_isHalf(order.input(0).type.dtype == DType::BF16) {}

    const std::byte* at(const std::byte* values, std::size_t element) const {
        return values + element * (m_isHalf ? sizeof(Bf16) : sizeof(float));
    }
    std::byte* at(std::byte* values, std::size_t element) const {
        return const_cast<std::byte*>(at(static_cast<const std::byte*>(values), element));
    }
    void writeRow(const float* row, float factor, std::byte* to) const {
        if (m_isHalf) m_simd.halves.scale(row, factor, reinterpret_cast<Bf16*>(to), m_width);
        else m_simd.floats.scale(row, factor, reinterpret_cast<float*>(to), m_width);
    }

    // Tokens as rows: pairs of features.
    void packRows(const std::byte* from, std::size_t stride, float* pairs) const {
        auto* row = reinterpret_cast<Bf16*>(pairs);
        const bool arePairs = m_isHalf && m_width % 2 == 0;
        if (arePairs)
            m_simd.copyRows(reinterpret_cast<const float*>(from), stride / 2, m_width / 2, pairs, m_packed.width / 2,
                            m_tokens);
        for (std::size_t token = 0; token < m_tokens; ++token, row += m_packed.width) {
            const std::byte* values = at(from, token * stride);
            if (!m_isHalf) m_simd.halves.scale(reinterpret_cast<const float*>(values), 1, row, m_width);
            else if (!arePairs) std::copy_n(reinterpret_cast<const Bf16*>(values), m_width, row);
            std::fill(row + m_width, row + m_packed.width, Bf16{});
        }
        std::fill_n(row, (m_packed.tokens - m_tokens) * m_packed.width, Bf16{});
    }
    // Of such rows: tokens as columns, pairs of features.
    void packAcross(const float* rows, float* panels) const {
        const std::size_t depth = m_packed.width / 2;
        for (std::size_t token = 0; token < m_packed.tokens; token += 16)
            m_simd.rowsToLanes(rows + token * depth, depth, 16,
                               panels + token / kPanel * kPanel * depth + token % kPanel, kPanel, depth);
    }
    // Of such rows: features as columns, pairs of tokens.
    void packFeatures(const float* rows, float* panels) const {
        packPairsOfRows(reinterpret_cast<const Bf16*>(rows), m_packed.width, m_packed.tokens, m_packed.width, panels,
                        featurePanel());
    }
    // Of such panels: features as rows, pairs of tokens.
    void packTurned(const float* panels, float* rows) const {
        const std::size_t depth = m_packed.tokens / 2;
        for (std::size_t feature = 0; feature < m_packed.width; feature += 16) {
            const float* columns = panels + feature / kPanel * featurePanel() + feature % kPanel;
            for (std::size_t pair = 0; pair < depth; pair += 16)
                m_simd.rowsToLanes(columns + pair * kPanel, kPanel, 16, rows + feature * depth + pair, depth, 16);
        }
    }
    // Rows, an even number of them, as panels of their columns.
    void packPairsOfRows(const Bf16* rows, std::size_t stride, std::size_t count, std::size_t columns, float* panels,
                         std::size_t panelFloats) const {
        PairedRows pairs{.even = rows, .odd = rows + stride, .stride = 2 * stride, .count = count / 2};
        pairs.columns = columns;
        pairs.to = panels;
        pairs.rowStride = kPanel;
        pairs.panelStride = panelFloats;
        m_simd.interleaveRows(pairs);
    }

    std::size_t tokenPanel() const { return kPanel * m_packed.width / 2; }     // floats of a panel of tokens
    std::size_t featurePanel() const { return kPanel * m_packed.tokens / 2; }  // and of features
    const float* tokenColumns(const float* panels, std::size_t token) const {
        return panels + token / kPanel * tokenPanel();
    }
    static const float* fromToken(const float* featurePanels, std::size_t token) {
        return featurePanels + token / 2 * kPanel;
    }

    struct Rows {
        const float* at;
        std::size_t stride, count;
    };
    struct Panels {
        const float* at;
        std::size_t panelFloats, columns;
    };
    // c (+)= a b over `depth` elements
    void multiply(const Rows& a, const Panels& b, std::size_t depth, bool adds, float* c, std::size_t cStride) const {
        GemmRun run{.a = a.at, .aRowStride = a.stride, .aDepthStride = 1, .panel = b.at, .c = c};
        run.cRowStride = cStride;
        run.rows = a.count;
        run.depth = divideUp(depth, 2);
        run.columns = b.columns;
        run.adds = adds;
        m_products.multiply(run, b.panelFloats);
    }
    Rows tokenRows(const float* rows, std::size_t token, std::size_t count) const {
        return {rows + token * m_packed.width / 2, m_packed.width / 2, count};
    }
    Rows featureRows(const float* turned, std::size_t token) const {
        return {turned + token / 2, m_packed.tokens / 2, m_width};
    }

    Packed m_packed;
    const GemmRows& m_products;
    bool m_isHalf;
};

class HalfForward final : public Kernel, HalfAttention {
public:
    explicit HalfForward(const Order& order) : HalfAttention(order, kTile, floatsOf<Head>(Packed(order)), 1) {}
    std::size_t workspaceBytes() const override { return Attention::workspaceBytes(); }

    void run(const KernelCall& call) override {
        forEachHead(call, [&](std::size_t item, std::size_t keys, float* scratch) {
            const RowProducts products(m_products);
            Scratch all(scratch);
            const Head head(all, m_packed);
            const std::byte* queries = at(call.inputs[0], qkvAt(item));
            packRows(queries, qkvStride(), head.queries);
            packRows(at(queries, m_channels), qkvStride(), head.rows);
            packAcross(head.rows, head.keys);
            packRows(at(queries, 2 * m_channels), qkvStride(), head.rows);
            packFeatures(head.rows, head.values);
            std::fill_n(head.largest, m_tokens, -std::numeric_limits<float>::infinity());
            std::fill_n(head.sums, m_tokens, 0.0f);
            forEachKeys(keys, [&](std::size_t key, std::size_t columns) { addKeys(head, key, columns); });
            finish(head, at(call.outputs[0], rowsAt(item)), out(call, 1) + item * m_tokens);
        });
    }

private:
    static constexpr ScoreTileSize kTile = kForwardTile;
    struct Head {
        Head(Scratch& scratch, const Packed& packed)
            : queries(scratch.take(packed.pairs())),
              rows(scratch.take(packed.pairs())),
              keys(scratch.take(packed.pairs())),
              values(scratch.take(packed.pairs())),
              y(scratch.take(packed.tokens * packed.width)),
              scores(scratch.take(kTile.floats())),
              largest(scratch.take(packed.tokens)),
              sums(scratch.take(packed.tokens)) {}
        float *queries, *rows, *keys, *values, *y, *scores, *largest, *sums;
    };

    void addKeys(const Head& head, std::size_t key, std::size_t count) const {
        forEachQueries(key, count, [&](const Queries& queries) {
            float* y = head.y + queries.first * m_packed.width;
            const std::size_t rows = queries.count, columns = queries.columns;
            multiply(tokenRows(head.queries, queries.first, rows),
                     {tokenColumns(head.keys, key), tokenPanel(), columns}, m_width, false, head.scores, kTile.keys);
            m_simd.halves.softmaxTile(tileOf(head.scores, queries, key), head.largest + queries.first,
                                      head.sums + queries.first, y, m_packed.width, m_width);
            multiply({head.scores, kTile.keys, rows}, {fromToken(head.values, key), featurePanel(), m_width}, columns,
                     key > 0, y, m_packed.width);
        });
    }

    void finish(const Head& head, std::byte* y, float* logSumExp) const {
        for (std::size_t token = 0; token < m_tokens; ++token) {
            writeRow(head.y + token * m_packed.width, 1 / head.sums[token], at(y, token * m_channels));
            logSumExp[token] = head.largest[token] + std::log(head.sums[token]);
        }
    }
};

class HalfBackward final : public Kernel, HalfAttention {
public:
    explicit HalfBackward(const Order& order) : HalfAttention(order, kTile, floatsOf<Head>(Packed(order)), 4) {}
    std::size_t workspaceBytes() const override { return Attention::workspaceBytes(); }

    void run(const KernelCall& call) override {
        forEachHead(call, [&](std::size_t item, std::size_t keys, float* scratch) {
            const RowProducts products(m_products);
            Scratch all(scratch);
            Head head(all, m_packed);
            head.logSumExp = in(call, 2) + item * m_tokens;
            const std::byte *y = at(call.inputs[1], rowsAt(item)), *dy = at(call.inputs[3], rowsAt(item));
            packHead(head, at(call.inputs[0], qkvAt(item)), dy);
            dotRows(y, dy, head.inner);
            std::byte* const gradients = at(call.outputs[0], qkvAt(item));
            forEachKeys(keys, [&](std::size_t key, std::size_t columns) {
                addKeys(head, key, columns);
                writeKeys(head.dkeys, head.rows, columns, at(gradients, m_channels + key * qkvStride()));
                writeKeys(head.dvalues, head.rows, columns, at(gradients, 2 * m_channels + key * qkvStride()));
            });
            for (std::size_t key = keys; key < m_tokens; ++key) clearKey(at(gradients, key * qkvStride()));
            for (std::size_t token = 0; token < m_tokens; ++token)
                writeRow(head.dqueries + token * m_packed.width, 1, at(gradients, token * qkvStride()));
        });
    }

private:
    static constexpr ScoreTileSize kTile = kBackwardTile;
    // Gradients of keys and values are made as their columns: what the scores' gradients are multiplied with is turned
    // once, and they themselves never are.
    struct Head {
        Head(Scratch& scratch, const Packed& packed)
            : queries(scratch.take(packed.pairs())),
              queriesTurned(scratch.take(packed.pairs())),
              dy(scratch.take(packed.pairs())),
              dyTurned(scratch.take(packed.pairs())),
              keys(scratch.take(packed.pairs())),
              keysAcross(scratch.take(packed.pairs())),
              valuesAcross(scratch.take(packed.pairs())),
              rows(scratch.take(std::max(packed.pairs(), kTile.keys * packed.width))),
              panels(scratch.take(packed.pairs())),
              dqueries(scratch.take(packed.tokens * packed.width)),
              dkeys(scratch.take(packed.width * kTile.keys)),
              dvalues(scratch.take(packed.width * kTile.keys)),
              scores(scratch.take(kTile.floats())),
              dscores(scratch.take(kTile.floats())),
              scorePanels(scratch.take(kTile.floats() / 2)),
              inner(scratch.take(packed.tokens)) {}
        const float* logSumExp = nullptr;
        float *queries, *queriesTurned, *dy, *dyTurned, *keys, *keysAcross, *valuesAcross, *rows, *panels, *dqueries,
            *dkeys, *dvalues, *scores, *dscores, *scorePanels, *inner;
    };

    void packHead(const Head& head, const std::byte* queries, const std::byte* dy) const {
        packRows(queries, qkvStride(), head.queries);
        packFeatures(head.queries, head.panels);
        packTurned(head.panels, head.queriesTurned);
        packRows(dy, m_channels, head.dy);
        packFeatures(head.dy, head.panels);
        packTurned(head.panels, head.dyTurned);
        packRows(at(queries, m_channels), qkvStride(), head.rows);
        packFeatures(head.rows, head.keys);
        packAcross(head.rows, head.keysAcross);
        packRows(at(queries, 2 * m_channels), qkvStride(), head.rows);
        packAcross(head.rows, head.valuesAcross);
    }

    void dotRows(const std::byte* y, const std::byte* dy, float* inner) const {
        const auto dots = [&]<class T>(T) {
            m_simd.of<T>().rowDots(reinterpret_cast<const T*>(y), reinterpret_cast<const T*>(dy), m_channels, m_tokens,
                                   m_width, inner);
        };
        m_isHalf ? dots(Bf16()) : dots(float());
    }

    void addKeys(const Head& head, std::size_t key, std::size_t count) const {
        forEachQueries(key, count, [&](const Queries& queries) { addTile(head, queries, key); });
    }

    void addTile(const Head& head, const Queries& queries, std::size_t key) const {
        const std::size_t query = queries.first, rows = queries.count, columns = queries.columns;
        multiply(tokenRows(head.queries, query, rows), {tokenColumns(head.keysAcross, key), tokenPanel(), columns},
                 m_width, false, head.scores, kTile.keys);
        multiply(tokenRows(head.dy, query, rows), {tokenColumns(head.valuesAcross, key), tokenPanel(), columns},
                 m_width, false, head.dscores, kTile.keys);
        m_simd.halves.softmaxTileBackward(tileOf(head.scores, queries, key), head.logSumExp + query, head.inner + query,
                                          head.dscores);
        addColumns(head, head.scores, featureRows(head.dyTurned, query), queries, head.dvalues);
        addColumns(head, head.dscores, featureRows(head.queriesTurned, query), queries, head.dkeys);
        multiply({head.dscores, kTile.keys, rows}, {fromToken(head.keys, key), featurePanel(), m_width}, columns,
                 key > 0, head.dqueries + query * m_packed.width, m_packed.width);
    }

    // sums (+)= features times a tile of scores: of those columns that others saw before, too.
    void addColumns(const Head& head, float* scores, const Rows& features, const Queries& queries, float* sums) const {
        constexpr std::size_t kPanelFloats = kPanel * kTile.queries / 2;
        static_assert(kTile.ownQueries % kPanel == 0, "which tells where they begin");
        const std::size_t rows = roundUp(queries.count, kPanel);
        std::fill(scores + queries.count * kTile.keys, scores + rows * kTile.keys, 0.0f);
        packPairsOfRows(reinterpret_cast<const Bf16*>(scores), 2 * kTile.keys, rows, roundUp(queries.columns, kPanel),
                        head.scorePanels, kPanelFloats);
        const auto add = [&](std::size_t from, std::size_t end, bool adds) {
            const float* panels = head.scorePanels + from / kPanel * kPanelFloats;
            if (from < end)
                multiply(features, {panels, kPanelFloats, end - from}, queries.count, adds, sums + from, kTile.keys);
        };
        add(0, queries.before, true);
        add(queries.before, queries.columns, false);
    }

    // Columns of sums become rows of memory.
    void writeKeys(const float* sums, float* rows, std::size_t columns, std::byte* to) const {
        for (std::size_t feature = 0; feature < m_width; feature += 16)
            m_simd.rowsToLanes(sums + feature * kTile.keys, kTile.keys, 16, rows + feature, m_packed.width, columns);
        for (std::size_t i = 0; i < columns; ++i) writeRow(rows + i * m_packed.width, 1, at(to, i * qkvStride()));
    }

    void clearKey(std::byte* gradients) const {
        for (const std::size_t part : {1, 2}) {
            std::byte* const from = at(gradients, part * m_channels);
            std::fill(from, at(from, m_width), std::byte{});
        }
    }
};

}  // namespace

std::unique_ptr<Kernel> makeHalfAttention(const Order& order) { return std::make_unique<HalfForward>(order); }

std::unique_ptr<Kernel> makeHalfAttentionBackward(const Order& order) { return std::make_unique<HalfBackward>(order); }

}  // namespace lockstep::cpu
