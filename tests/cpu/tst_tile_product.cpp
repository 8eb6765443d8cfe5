#include <QtTest>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "engine/backend/cpu/onednn.h"
#include "engine/core/random.h"

#define LOCKSTEP_SIMD of_test
#include "engine/backend/cpu/simd/tile_product.h"

using namespace lockstep;
using namespace lockstep::cpu;

// Products of rows of pairs of bf16: how tiles are gone through, with what they do in plain code in their place; the
// processor's own instructions for pairs, and its tiles where it has them.
class tst_tile_product : public QObject {
    Q_OBJECT
private slots:
    void productsAreSums_data();
    void productsAreSums();
};

namespace {

constexpr std::size_t kPanel = 32;

// Eight tiles of sixteen rows of sixteen pairs or floats; nothing is known of them before they are loaded or cleared.
class PlainTiles {
public:
    PlainTiles() {
        for (auto& tile : m_tiles) tile.fill(std::nanf(""));
    }
    template <int kTile>
    void clear() {
        m_tiles[kTile].fill(0);
    }
    template <int kTile>
    void load(const float* at, std::size_t stride) {
        for (std::size_t i = 0; i < 256; ++i) m_tiles[kTile][i] = at[i / 16 * stride + i % 16];
    }
    template <int kTile>
    void store(float* at, std::size_t stride) {
        for (std::size_t i = 0; i < 256; ++i) at[i / 16 * stride + i % 16] = m_tiles[kTile][i];
    }
    template <int kC, int kA, int kB>
    void multiply() {
        for (std::size_t row = 0; row < 16; ++row) {
            for (std::size_t column = 0; column < 16; ++column) {
                for (std::size_t k = 0; k < 16; ++k) {
                    const auto a = halvesOf(m_tiles[kA][row * 16 + k]), b = halvesOf(m_tiles[kB][k * 16 + column]);
                    m_tiles[kC][row * 16 + column] += a[0] * b[0] + a[1] * b[1];
                }
            }
        }
    }

    static std::array<float, 2> halvesOf(float pair) {
        const auto bits = std::bit_cast<std::uint32_t>(pair);
        return {std::bit_cast<float>(bits << 16), std::bit_cast<float>(bits & 0xffff0000u)};
    }

private:
    std::array<std::array<float, 256>, 8> m_tiles;
};

struct Extent {
    std::size_t rows, columns, depth;  // in pairs

    std::size_t panels() const { return (columns + kPanel - 1) / kPanel; }
};

// Pairs of small numbers, whose products and sums are exact; zero outside rows x columns.
std::vector<float> pairs(std::uint64_t stream, std::size_t rows, std::size_t columns, std::size_t stride,
                         std::size_t wholeRows) {
    std::vector<float> all(wholeRows * stride);
    const CounterRng rng(7, stream, 0, 0);
    const auto half = [&](std::size_t at) {
        const auto value = static_cast<float>(std::lround(8 * rng.normal(static_cast<std::uint32_t>(at)))) / 8;
        return std::bit_cast<std::uint32_t>(value) >> 16;
    };
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            const std::size_t at = i * stride + j;
            all[at] = std::bit_cast<float>(half(2 * at) | half(2 * at + 1) << 16);
        }
    }
    return all;
}

}  // namespace

void tst_tile_product::productsAreSums_data() {
    QTest::addColumn<int>("unit");
    QTest::newRow("plain tiles") << 0;
    QTest::newRow("pairs") << 1;
    QTest::newRow("tiles") << 2;
}

void tst_tile_product::productsAreSums() {
    QFETCH(int, unit);
    if (unit == 1 && !bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
    if (unit == 2 && onednn::bf16Units() != onednn::Bf16Units::Tiles) QSKIP("this processor has no tiles of bf16");
    const GemmRows all[] = {
        {of_test::tileProduct<PlainTiles>}, {bestBf16() ? bestBf16()->gemmRows : nullptr}, v4_amx::kGemmRows};
    const GemmRows& rows = all[unit];
    for (const Extent& e : std::initializer_list<Extent>{{1, 1, 1},
                                                         {16, 16, 16},
                                                         {32, 32, 32},
                                                         {17, 20, 33},
                                                         {33, 32, 10},
                                                         {64, 5, 16},
                                                         {50, 31, 17},
                                                         {20, 50, 20},
                                                         {64, 64, 32}}) {
        const std::size_t wholeRows = (e.rows + 15) / 16 * 16, wholeDepth = (e.depth + 15) / 16 * 16;
        const std::size_t aStride = wholeDepth + 5, cStride = e.panels() * kPanel + 3;
        const std::vector<float> a = pairs(1, e.rows, e.depth, aStride, wholeRows);
        std::vector<float> b;
        for (std::size_t i = 0; i < e.panels(); ++i) {
            const std::size_t columns = std::min(kPanel, e.columns - i * kPanel);
            const std::vector<float> panel = pairs(2 + i, e.depth, columns, kPanel, wholeDepth);
            b.insert(b.end(), panel.begin(), panel.end());
        }
        for (const bool adds : {false, true}) {
            std::vector<float> c(wholeRows * cStride, 0.5f);
            rows.begin();
            rows.multiply({.a = a.data(),
                           .aRowStride = aStride,
                           .aDepthStride = 1,
                           .panel = b.data(),
                           .c = c.data(),
                           .cRowStride = cStride,
                           .rows = e.rows,
                           .depth = e.depth,
                           .columns = e.columns,
                           .adds = adds},
                          wholeDepth * kPanel);
            rows.end();
            for (std::size_t i = 0; i < e.rows; ++i) {
                for (std::size_t j = 0; j < e.columns; ++j) {
                    const float* column = b.data() + j / kPanel * wholeDepth * kPanel + j % kPanel;
                    float sum = adds ? 0.5f : 0;
                    for (std::size_t k = 0; k < e.depth; ++k) {
                        const auto x = PlainTiles::halvesOf(a[i * aStride + k]);
                        const auto w = PlainTiles::halvesOf(column[k * kPanel]);
                        sum += x[0] * w[0] + x[1] * w[1];
                    }
                    QCOMPARE(c[i * cStride + j], sum);
                }
                for (std::size_t j = e.panels() * kPanel; j < cStride; ++j) QCOMPARE(c[i * cStride + j], 0.5f);
            }
        }
    }
}

QTEST_APPLESS_MAIN(tst_tile_product)
#include "tst_tile_product.moc"
