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

    // Floats of one packed tile: `depth` of the product by columns, whole panels.
    static std::size_t tileFloats(const Order& order) {
        const std::size_t panel = order.machine.simd->panelColumns;
        const auto width = static_cast<std::size_t>(order.input(0).type.shape[2]) / 3 /
                           static_cast<std::size_t>(order.node.attrs.as<AttentionAttrs>().heads);
        return kTile * ((width + panel - 1) / panel * panel);
    }

    void pack(const Block& b, std::size_t depth, std::size_t columns, float* panels) const {
        const std::size_t panel = m_simd.panelColumns;
        for (std::size_t at = 0; at < columns; at += panel)
            packPanel(m_simd, b.at + at * b.columnStride, b.rowStride, b.columnStride, depth,
                      std::min(panel, columns - at), panels + at * depth);
    }
    // c (+)= a b
    void multiply(const Block& a, std::size_t rows, const float* panels, std::size_t depth, std::size_t columns,
                  bool adds, float* c, std::size_t cStride) const {
        GemmRun run{.a = a.at, .aRowStride = a.rowStride, .aDepthStride = a.columnStride};
        run.rows = rows;
        run.depth = depth;
        run.cRowStride = cStride;
        run.adds = adds;
        for (std::size_t at = 0; at < columns; at += m_simd.panelColumns) {
            run.panel = panels + at * depth;
            run.columns = std::min(m_simd.panelColumns, columns - at);
            run.c = c + at;
            m_simd.gemmPanel(run);
        }
    }
};

class Forward final : public Kernel, FloatAttention {
public:
    explicit Forward(const Order& order)
        : FloatAttention(order, kTile * kTile + 2 * tileFloats(order) + 2 * rowFloats(order), 1),
          m_packed(tileFloats(order)),
          m_rows(rowFloats(order)) {}
    std::size_t workspaceBytes() const override { return Attention::workspaceBytes(); }

    void run(const KernelCall& call) override {
        forEachHead(call, [&](std::size_t item, std::size_t keys, float* scratch) {
            Head head{in(call, 0) + qkvAt(item), out(call, 0) + rowsAt(item), scratch};
            head.keys = scratch + kTile * kTile;
            head.values = head.keys + m_packed;
            head.largest = head.values + m_packed;
            head.sums = head.largest + m_rows;
            std::fill_n(head.largest, m_tokens, -std::numeric_limits<float>::infinity());
            forEachTile(0, keys, [&](std::size_t key, std::size_t columns) { addKeys(head, key, columns); });
            finish(head, out(call, 1) + item * m_tokens);
        });
    }

private:
    struct Head {
        const float* queries;
        float *y, *scores, *keys = nullptr, *values = nullptr, *largest = nullptr, *sums = nullptr;
    };

    void addKeys(const Head& head, std::size_t key, std::size_t columns) const {
        const float* keys = head.queries + m_channels + key * qkvStride();
        pack(Block{keys, qkvStride()}.transposed(), m_width, columns, head.keys);
        pack({keys + m_channels, qkvStride()}, columns, m_width, head.values);
        forEachTile(firstQuery(key), m_tokens, [&](std::size_t query, std::size_t rows) {
            float* y = head.y + query * m_channels;
            multiply({head.queries + query * qkvStride(), qkvStride()}, rows, head.keys, m_width, columns, false,
                     head.scores, kTile);
            m_simd.softmaxTile(tileOf(head.scores, query, rows, key, columns), head.largest + query, head.sums + query,
                               y, m_channels, m_width);
            multiply({head.scores, kTile}, rows, head.values, columns, m_width, key > 0, y, m_channels);
        });
    }

    void finish(const Head& head, float* logSumExp) const {
        for (std::size_t token = 0; token < m_tokens; ++token) {
            float* y = head.y + token * m_channels;
            m_simd.floats.scale(y, 1 / head.sums[token], y, m_width);
            logSumExp[token] = head.largest[token] + std::log(head.sums[token]);
        }
    }

    std::size_t m_packed, m_rows;
};

class Backward final : public Kernel, FloatAttention {
public:
    explicit Backward(const Order& order)
        : FloatAttention(order, 2 * kTile * kTile + 4 * tileFloats(order) + rowFloats(order), 4),
          m_packed(tileFloats(order)) {}
    std::size_t workspaceBytes() const override { return Attention::workspaceBytes(); }

    void run(const KernelCall& call) override {
        forEachHead(call, [&](std::size_t item, std::size_t keys, float* scratch) {
            Head head{.queries = in(call, 0) + qkvAt(item), .dy = in(call, 3) + rowsAt(item)};
            head.logSumExp = in(call, 2) + item * m_tokens;
            head.gradients = out(call, 0) + qkvAt(item);
            head.scores = scratch;
            head.dscores = scratch + kTile * kTile;
            head.keys = head.dscores + kTile * kTile;
            head.keysAcross = head.keys + m_packed;
            head.valuesAcross = head.keysAcross + m_packed;
            head.packed = head.valuesAcross + m_packed;
            head.inner = head.packed + m_packed;
            m_simd.floats.rowDots(in(call, 1) + rowsAt(item), head.dy, m_channels, m_tokens, m_width, head.inner);
            forEachTile(0, keys, [&](std::size_t key, std::size_t columns) { addKeys(head, key, columns); });
            for (std::size_t key = keys; key < m_tokens; ++key) clearKey(head.gradients + key * qkvStride());
        });
    }

private:
    struct Head {
        const float *queries, *dy, *logSumExp = nullptr;
        float* gradients = nullptr;
        float *scores = nullptr, *dscores = nullptr, *keys = nullptr, *keysAcross = nullptr, *valuesAcross = nullptr;
        float *packed = nullptr, *inner = nullptr;
    };

    void addKeys(const Head& head, std::size_t key, std::size_t columns) const {
        const Block keys{head.queries + m_channels + key * qkvStride(), qkvStride()};
        const Block values{keys.at + m_channels, qkvStride()};
        pack(keys, columns, m_width, head.keys);
        pack(keys.transposed(), m_width, columns, head.keysAcross);
        pack(values.transposed(), m_width, columns, head.valuesAcross);
        forEachTile(firstQuery(key), m_tokens,
                    [&](std::size_t query, std::size_t rows) { addTile(head, query, rows, key, columns); });
    }

    void clearKey(float* gradients) const {
        std::fill_n(gradients + m_channels, m_width, 0.0f);
        std::fill_n(gradients + 2 * m_channels, m_width, 0.0f);
    }

    void addTile(const Head& head, std::size_t query, std::size_t rows, std::size_t key, std::size_t columns) const {
        const Block queries{head.queries + query * qkvStride(), qkvStride()};
        const Block dy{head.dy + query * m_channels, m_channels};
        const Block scores{head.scores, kTile}, dscores{head.dscores, kTile};
        float *dqueries = head.gradients + query * qkvStride(),
              *dkeys = head.gradients + m_channels + key * qkvStride();
        multiply(queries, rows, head.keysAcross, m_width, columns, false, head.scores, kTile);
        multiply(dy, rows, head.valuesAcross, m_width, columns, false, head.dscores, kTile);
        m_simd.softmaxTileBackward(tileOf(head.scores, query, rows, key, columns), head.logSumExp + query,
                                   head.inner + query, head.dscores);
        const bool adds = query > firstQuery(key);
        pack(dy, rows, m_width, head.packed);
        multiply(scores.transposed(), columns, head.packed, rows, m_width, adds, dkeys + m_channels, qkvStride());
        pack(queries, rows, m_width, head.packed);
        multiply(dscores.transposed(), columns, head.packed, rows, m_width, adds, dkeys, qkvStride());
        multiply(dscores, rows, head.keys, columns, m_width, key > 0, dqueries, qkvStride());
    }

    std::size_t m_packed;
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
