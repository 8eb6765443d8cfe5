#include <QtTest>

#include <algorithm>
#include <cmath>

#include "tests/cpu/noise.h"
#include "tests/cpu/simd_tables.h"

using namespace lockstep;
using namespace lockstep::cpu;

namespace {

using Size = std::size_t;

constexpr float kUntouched = 777, kCeiling = 6;
constexpr Size kGuard = 16, kGap = 5;  // floats between two blocks of an image

// Of images of some pixels, the tiles: `inputs` and `outputs` blocks of `block` channels.
struct Case {
    Size block, inputs, outputs, tiles;

    Size stride() const { return tiles * block + kGap; }
    Size image(Size blocks) const { return blocks * stride(); }
    Size at(Size channel, Size tile) const { return channel / block * stride() + tile * block + channel % block; }
    Size filterStride() const { return inputs * block * block; }
    Size filter(Size output, Size channel) const {
        return output / block * filterStride() + channel * block + output % block;
    }
};

// Whole tiles of every instruction set and what is left of them; pairs of blocks and single ones.
std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Size block : {8, 16})
        for (const Size outputs : {1, 2, 3})
            for (const Size tiles : {1, 5, 6, 14, 29}) all.push_back({block, 2, outputs, tiles});
    return all;
}

bool isUntouched(const Floats& values, Size from) {
    return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(),
                       [](float each) { return each == kUntouched; });
}

// Of sums of some tens of products.
void compare(double value, double wanted) {
    QVERIFY2(std::abs(value - wanted) < 1e-4 * (1 + std::abs(wanted)),
             qPrintable(QString("%1, not %2").arg(value).arg(wanted)));
}

}  // namespace

// Every instruction set's products of channel blocks against sums of products in double.
class TstBlockProduct : public QObject {
    Q_OBJECT

private slots:
    void sums_data() { addSimdTables(); }
    void sums() {
        for (const Case& each : cases()) {
            checkProduct(each, false, false);
            checkProduct(each, true, false);
            checkProduct(each, false, true);
        }
    }

    // Of pairs: what is made as floats, rounded.
    void productsOfPairsMayBeHalves() {
        if (!bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
        for (const Case& each : cases())
            if (each.block == 16) checkHalves(each);
    }

    void gradients_data() { addSimdTables(); }
    void gradients() {
        for (const Case& each : cases()) {
            checkGradient(each, false);
            checkGradient(each, true);
        }
    }

private:
    // Sums as they are, added to what is there, or ended: times a scale, and a bias, and what is there, cut at 0 and 6.
    static void checkProduct(const Case& of, bool adds, bool ends) {
        const Floats data = noise(0, of.image(of.inputs)), filters = noise(1, of.outputs * of.filterStride()),
                     scale = noise(2, of.outputs * of.block), bias = noise(3, of.outputs * of.block),
                     before = noise(4, of.image(of.outputs));
        Floats products = before;
        products.resize(products.size() + kGuard, kUntouched);
        const SumEnd end{scale.data(), bias.data(), products.data(), true, kCeiling};
        table().blockProduct({.filters = filters.data(),
                              .data = data.data(),
                              .products = products.data(),
                              .filterStride = of.filterStride(),
                              .dataStride = of.stride(),
                              .productStride = of.stride(),
                              .blocks = of.outputs,
                              .channelBlocks = of.inputs,
                              .tiles = of.tiles,
                              .adds = adds,
                              .end = ends ? &end : nullptr,
                              .block = of.block});
        Floats gaps = products;
        for (Size k = 0; k < of.outputs * of.block; ++k)
            for (Size tile = 0; tile < of.tiles; ++tile) {
                const Size at = of.at(k, tile);
                double wanted = adds ? before[at] : 0;
                for (Size c = 0; c < of.inputs * of.block; ++c)
                    wanted += static_cast<double>(filters[of.filter(k, c)]) * data[of.at(c, tile)];
                if (ends) wanted = std::clamp<double>(wanted * scale[k] + bias[k] + before[at], 0, kCeiling);
                compare(products[at], wanted);
                gaps[at] = before[at];
            }
        QVERIFY(std::equal(before.begin(), before.end(), gaps.begin()));
        QVERIFY(isUntouched(products, before.size()));
    }

    static void checkHalves(const Case& of) {
        const Size rows = of.outputs * of.inputs * 16;
        const Floats scale = noise(2, of.outputs * 16), bias = noise(3, of.outputs * 16),
                     before = rounded(noise(4, of.image(of.outputs)));
        Floats filters = noise(1, rows * 16), data = noise(0, of.inputs * of.tiles * 16), products = before;
        bestBf16()->pairRows(filters.data(), nullptr, filters.data(), rows);
        bestBf16()->pairColumns(data.data(), nullptr, data.data(), of.inputs * of.tiles);
        std::vector<Bf16> halves = bf16Of(before);
        const SumEnd end{scale.data(), bias.data(), products.data(), true, kCeiling};
        const SumEndOf<Bf16> halfEnd{scale.data(), bias.data(), halves.data(), true, kCeiling};
        const auto run = [&]<class T>(std::vector<T>& made, const SumEndOf<T>* ending) {
            return BlockProductOf<T>{.filters = filters.data(),
                                     .data = data.data(),
                                     .products = made.data(),
                                     .filterStride = of.inputs * 128,
                                     .dataStride = of.tiles * 8,
                                     .productStride = of.stride(),
                                     .blocks = of.outputs,
                                     .channelBlocks = of.inputs,
                                     .tiles = of.tiles,
                                     .end = ending};
        };
        for (const bool ends : {false, true}) {  // the second from what the first made
            bestBf16()->blockProduct(run(products, ends ? &end : nullptr));
            bestBf16()->blockProductHalves(run(halves, ends ? &halfEnd : nullptr));
            QVERIFY(halves == bf16Of(products));
            bestSimd().roundToBf16(products.data(), products.size());
        }
        QVERIFY(products != before);
    }

    static void checkGradient(const Case& of, bool adds) {
        const Floats data = noise(5, of.image(of.inputs)), gradients = noise(6, of.image(of.outputs)),
                     before = noise(7, of.outputs * of.filterStride());
        Floats filters = before;
        filters.resize(filters.size() + kGuard, kUntouched);
        table().blockGradientProduct({.gradients = gradients.data(),
                                      .data = data.data(),
                                      .filters = filters.data(),
                                      .gradientStride = of.stride(),
                                      .dataStride = of.stride(),
                                      .filterStride = of.filterStride(),
                                      .blocks = of.outputs,
                                      .channelBlocks = of.inputs,
                                      .tiles = of.tiles,
                                      .adds = adds,
                                      .block = of.block});
        for (Size k = 0; k < of.outputs * of.block; ++k)
            for (Size c = 0; c < of.inputs * of.block; ++c) {
                double wanted = adds ? before[of.filter(k, c)] : 0;
                for (Size tile = 0; tile < of.tiles; ++tile)
                    wanted += static_cast<double>(gradients[of.at(k, tile)]) * data[of.at(c, tile)];
                compare(filters[of.filter(k, c)], wanted);
            }
        QVERIFY(isUntouched(filters, before.size()));
    }
};

QTEST_APPLESS_MAIN(TstBlockProduct)
#include "tst_block_product.moc"
