#include "engine/backend/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/panels.h"

namespace lockstep::cpu {

namespace {

// A matrix that is read where it lies.
struct Block {
    const float* at;
    std::size_t rowStride, columnStride = 1;

    Block transposed() const { return {at, columnStride, rowStride}; }
};

// Products of floats, which are read where they lie.
class FloatAttention : protected Attention {
protected:
    using Attention::Attention;

    // Of a tile's keys or queries, packed: whole panels.
    static std::size_t tileFloats(const Order& order, std::size_t tokens) {
        const auto width = static_cast<std::size_t>(order.input(0).type.shape[2]) / 3 /
                           static_cast<std::size_t>(order.node.attrs.as<AttentionAttrs>().heads);
        return tokens * roundUp(width, order.machine.simd->panelColumns);
    }

    // Columns of a matrix side by side, with room for so much depth.
    struct Panels {
        float* at;
        std::size_t depth;
    };
    void pack(const Block& b, std::size_t depth, std::size_t columns, const Panels& panels) const {
        const std::size_t panel = m_simd.panelColumns;
        for (std::size_t at = 0; at < columns; at += panel)
            packPanel(m_simd, b.at + at * b.columnStride, b.rowStride, b.columnStride, depth,
                      std::min(panel, columns - at), panels.at + at * panels.depth);
    }
    // c (+)= a b
    void multiply(const Block& a, std::size_t rows, const Panels& b, std::size_t depth, std::size_t columns, bool adds,
                  float* c, std::size_t cStride) const {
        GemmRun run{.a = a.at, .aRowStride = a.rowStride, .aDepthStride = a.columnStride};
        run.rows = rows;
        run.depth = depth;
        run.cRowStride = cStride;
        run.adds = adds;
        for (std::size_t at = 0; at < columns; at += m_simd.panelColumns) {
            run.panel = b.at + at * b.depth;
            run.columns = std::min(m_simd.panelColumns, columns - at);
            run.c = c + at;
            m_simd.gemmPanel(run);
        }
    }
};

class Forward final : public Kernel, FloatAttention {
public:
    explicit Forward(const Order& order)
        : FloatAttention(order, kTile, kTile.floats() + 2 * tileFloats(order, kTile.keys) + 2 * rowFloats(order), 1),
          m_keysFloats(tileFloats(order, kTile.keys)),
          m_rows(rowFloats(order)) {}
    std::size_t workspaceBytes() const override { return Attention::workspaceBytes(); }

    void run(const KernelCall& call) override {
        forEachHead(call, [&](std::size_t item, std::size_t keys, float* scratch) {
            Head head{.qkv = in(call, 0) + qkvAt(item), .y = out(call, 0) + rowsAt(item), .scores = scratch};
            head.keysAcross = {scratch + kTile.floats(), m_width};
            head.values = {head.keysAcross.at + m_keysFloats, kTile.keys};
            head.largest = head.values.at + m_keysFloats;
            head.sums = head.largest + m_rows;
            std::fill_n(head.largest, m_tokens, -std::numeric_limits<float>::infinity());
            std::fill_n(head.sums, m_tokens, 0.0f);
            forEachKeys(keys, [&](std::size_t key, std::size_t columns) { addKeys(head, key, columns); });
            finish(head, out(call, 1) + item * m_tokens);
        });
    }

private:
    static constexpr ScoreTileSize kTile = kForwardTile;
    struct Head {
        const float* qkv;
        float *y, *scores, *largest = nullptr, *sums = nullptr;
        Panels keysAcross{}, values{};
    };

    void addKeys(const Head& head, std::size_t key, std::size_t count) const {
        const float* keys = head.qkv + m_channels + key * qkvStride();
        pack(Block{keys, qkvStride()}.transposed(), m_width, count, head.keysAcross);
        pack({keys + m_channels, qkvStride()}, count, m_width, head.values);
        forEachQueries(key, count, [&](const Queries& queries) {
            float* y = head.y + queries.first * m_channels;
            const std::size_t rows = queries.count, columns = queries.columns;
            const Block own{head.qkv + queries.first * qkvStride(), qkvStride()};
            multiply(own, rows, head.keysAcross, m_width, columns, false, head.scores, kTile.keys);
            m_simd.floats.softmaxTile(tileOf(head.scores, queries, key), head.largest + queries.first,
                                      head.sums + queries.first, y, m_channels, m_width);
            multiply({head.scores, kTile.keys}, rows, head.values, columns, m_width, key > 0, y, m_channels);
        });
    }

    void finish(const Head& head, float* logSumExp) const {
        for (std::size_t token = 0; token < m_tokens; ++token) {
            float* y = head.y + token * m_channels;
            m_simd.floats.scale(y, 1 / head.sums[token], y, m_width);
            logSumExp[token] = head.largest[token] + std::log(head.sums[token]);
        }
    }

    std::size_t m_keysFloats, m_rows;
};

class Backward final : public Kernel, FloatAttention {
public:
    explicit Backward(const Order& order)
        : FloatAttention(order, kTile,
                         2 * kTile.floats() + tileFloats(order, kTile.queries) + 3 * tileFloats(order, kTile.keys) +
                             rowFloats(order),
                         4),
          m_queriesFloats(tileFloats(order, kTile.queries)),
          m_keysFloats(tileFloats(order, kTile.keys)) {}
    std::size_t workspaceBytes() const override { return Attention::workspaceBytes(); }

    void run(const KernelCall& call) override {
        forEachHead(call, [&](std::size_t item, std::size_t keys, float* scratch) {
            Head head{.qkv = in(call, 0) + qkvAt(item), .dy = in(call, 3) + rowsAt(item)};
            head.logSumExp = in(call, 2) + item * m_tokens;
            head.gradients = out(call, 0) + qkvAt(item);
            head.scores = scratch;
            head.dscores = scratch + kTile.floats();
            head.queryRows = {head.dscores + kTile.floats(), kTile.queries};
            head.keys = {head.queryRows.at + m_queriesFloats, kTile.keys};
            head.keysAcross = {head.keys.at + m_keysFloats, m_width};
            head.valuesAcross = {head.keysAcross.at + m_keysFloats, m_width};
            head.inner = head.valuesAcross.at + m_keysFloats;
            m_simd.floats.rowDots(in(call, 1) + rowsAt(item), head.dy, m_channels, m_tokens, m_width, head.inner);
            forEachKeys(keys, [&](std::size_t key, std::size_t columns) { addKeys(head, key, columns); });
            for (std::size_t key = keys; key < m_tokens; ++key) clearKey(head.gradients + key * qkvStride());
        });
    }

private:
    static constexpr ScoreTileSize kTile = kBackwardTile;
    struct Head {
        const float *qkv, *dy, *logSumExp = nullptr;
        float* gradients = nullptr;
        float *scores = nullptr, *dscores = nullptr, *inner = nullptr;
        Panels queryRows{}, keys{}, keysAcross{}, valuesAcross{};
    };

    void clearKey(float* gradients) const {
        std::fill_n(gradients + m_channels, m_width, 0.0f);
        std::fill_n(gradients + 2 * m_channels, m_width, 0.0f);
    }

    void addKeys(const Head& head, std::size_t key, std::size_t count) const {
        const Block keys{head.qkv + m_channels + key * qkvStride(), qkvStride()};
        const Block values{keys.at + m_channels, qkvStride()};
        pack(keys, count, m_width, head.keys);
        pack(keys.transposed(), m_width, count, head.keysAcross);
        pack(values.transposed(), m_width, count, head.valuesAcross);
        forEachQueries(key, count, [&](const Queries& queries) { addTile(head, queries, key); });
    }

    void addTile(const Head& head, const Queries& queries, std::size_t key) const {
        const std::size_t rows = queries.count, columns = queries.columns;
        const Block own{head.qkv + queries.first * qkvStride(), qkvStride()};
        const Block dy{head.dy + queries.first * m_channels, m_channels};
        const Block dscores{head.dscores, kTile.keys};
        float *dqueries = head.gradients + queries.first * qkvStride(),
              *dkeys = head.gradients + m_channels + key * qkvStride();
        multiply(own, rows, head.keysAcross, m_width, columns, false, head.scores, kTile.keys);
        multiply(dy, rows, head.valuesAcross, m_width, columns, false, head.dscores, kTile.keys);
        m_simd.floats.softmaxTileBackward(tileOf(head.scores, queries, key), head.logSumExp + queries.first,
                                          head.inner + queries.first, head.dscores);
        addColumns(head.scores, dy, queries, head.queryRows, dkeys + m_channels);
        addColumns(head.dscores, own, queries, head.queryRows, dkeys);
        multiply(dscores, rows, head.keys, columns, m_width, key > 0, dqueries, qkvStride());
    }

    // sums (+)= a tile of scores, turned, times rows: of those columns that others saw before, too.
    void addColumns(const float* scores, const Block& rows, const Queries& queries, const Panels& packed,
                    float* sums) const {
        pack(rows, queries.count, m_width, packed);
        const auto add = [&](std::size_t from, std::size_t end, bool adds) {
            multiply(Block{scores + from, kTile.keys}.transposed(), end - from, packed, queries.count, m_width, adds,
                     sums + from * qkvStride(), qkvStride());
        };
        add(0, queries.before, true);
        add(queries.before, queries.columns, false);
    }

    std::size_t m_queriesFloats, m_keysFloats;
};

}  // namespace

std::unique_ptr<Kernel> makeAttention(const Order& order) {
    if (operandsOf(order.node) == DType::BF16) return makeHalfAttention(order);
    return std::make_unique<Forward>(order);
}

std::unique_ptr<Kernel> makeAttentionBackward(const Order& order) {
    if (operandsOf(order.node) == DType::BF16) return makeHalfAttentionBackward(order);
    return std::make_unique<Backward>(order);
}

}  // namespace lockstep::cpu
