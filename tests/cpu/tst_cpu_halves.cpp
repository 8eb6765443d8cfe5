#include <QtTest>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/cpu/noise.h"
#include "tests/cpu/simd_tables.h"

using namespace lockstep;
using namespace lockstep::cpu;

// Loops over images of bf16, channels last, and over rows of it against those over the same numbers as floats, whose
// results are rounded: the same bits, in one block of channels or up to the end, and nothing written beside it. Sums
// are of the same numbers in another order.
class tst_cpu_halves : public QObject {
    Q_OBJECT
private slots:
    void sums_data() { addSimdTables(); }
    void sums();
    void norms_data() { addSimdTables(); }
    void norms();
    void normGradients_data() { addSimdTables(); }
    void normGradients();
    void blocksSideBySide_data() { addSimdTables(); }
    void blocksSideBySide();
    void elementwise_data() { addSimdTables(); }
    void elementwise();
    void smoothActivations_data() { addSimdTables(); }
    void smoothActivations();
    void rows_data() { addSimdTables(); }
    void rows();
    void layerNorms_data() { addSimdTables(); }
    void layerNorms();
    void softmaxOfTiles_data() { addSimdTables(); }
    void softmaxOfTiles();
    void pairsOfRows_data() { addSimdTables(); }
    void pairsOfRows();
    void pairsOfRowsInPanels_data() { addSimdTables(); }
    void pairsOfRowsInPanels();
    void sumsBecomePixels_data() { addSimdTables(); }
    void sumsBecomePixels();
    void pools_data() { addSimdTables(); }
    void pools();
};

namespace {

constexpr std::size_t kStep = 48, kBlock = 16;  // three blocks a pixel, of which the second is at hand
constexpr auto kUntouched = static_cast<Bf16>(0x4242);
const std::vector<std::size_t> kPixels{1, 2, 3, 37, 300};

using Halves = std::vector<Bf16>;

float asFloat(Bf16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }

// The second block of an image, sixteen floats a pixel, and the rest untouched.
Halves image(const Floats& block) {
    Halves image(block.size() / kBlock * kStep, kUntouched);
    for (std::size_t i = 0; i < block.size(); ++i)
        image[i / kBlock * kStep + kBlock + i % kBlock] =
            static_cast<Bf16>(std::bit_cast<std::uint32_t>(block[i]) >> 16);
    return image;
}
Halves untouched(std::size_t pixels) { return Halves(pixels * kStep, kUntouched); }

// Elements one behind the other, and of what is written to, two that must stay as they are.
Halves halvesOf(const Floats& floats) {
    Halves halves(floats.size());
    for (std::size_t i = 0; i < floats.size(); ++i)
        halves[i] = static_cast<Bf16>(std::bit_cast<std::uint32_t>(floats[i]) >> 16);
    return halves;
}
Halves untouchedRow(std::size_t count) { return Halves(count + 2, kUntouched); }

void compareRow(const Halves& row, const Floats& floats) {
    const Floats expected = rounded(floats);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::isnan(expected[i])) QVERIFY(std::isnan(asFloat(row[i])));
        else QCOMPARE(asFloat(row[i]), expected[i]);
    }
    for (std::size_t i = expected.size(); i < row.size(); ++i) QCOMPARE(row[i], kUntouched);
}

void compare(const Halves& image, const Floats& block) {
    const Floats expected = rounded(block);
    for (std::size_t i = 0; i < image.size(); ++i) {
        const std::size_t pixel = i / kStep, channel = i % kStep;
        if (channel < kBlock || channel >= 2 * kBlock) QCOMPARE(image[i], kUntouched);
        else QCOMPARE(asFloat(image[i]), expected[pixel * kBlock + channel - kBlock]);
    }
}

// Sums of `count` floats in each lane.
void compareSums(const double* found, const double* expected, std::size_t count) {
    for (std::size_t lane = 0; lane < 16; ++lane) {
        const double error = std::abs(found[lane] - expected[lane]);
        QVERIFY2(error <= 1e-6 * (std::abs(expected[lane]) + static_cast<double>(count)),
                 qPrintable(QString::number(error)));
    }
}

}  // namespace

void tst_cpu_halves::sums() {
    const SimdTable& simd = table();
    const Floats shift = noise(2, 16);
    for (const std::size_t pixels : kPixels) {
        const Floats x = rounded(noise(1, pixels * kBlock));
        const Halves halves = image(x);
        double found[3][16] = {}, expected[3][16] = {};
        simd.halves.moments({.x = halves.data() + kBlock, .count = x.size(), .step = kStep, .shift = shift.data()},
                            {found[0], found[1]});
        simd.halves.sum(halves.data() + kBlock, x.size(), kStep, found[2]);
        simd.floats.moments({.x = x.data(), .count = x.size(), .shift = shift.data()}, {expected[0], expected[1]});
        simd.floats.sum(x.data(), x.size(), kBlock, expected[2]);
        for (const int i : {0, 1}) compareSums(found[i], expected[i], pixels);
        QCOMPARE(std::memcmp(found[2], expected[2], sizeof found[2]), 0);
    }
}

void tst_cpu_halves::norms() {
    const SimdTable& simd = table();
    const Floats mean = noise(3, 16), scale = noise(4, 16), offset = noise(5, 16), mean2 = noise(6, 16),
                 scale2 = noise(7, 16);
    const auto run = [&]<class T>(const T* x, const T* r, T* y, std::size_t count, std::size_t step) {
        return NormRunOf<T>{.x = x,
                            .r = r,
                            .y = y,
                            .count = count,
                            .step = step,
                            .mean = mean.data(),
                            .scale = scale.data(),
                            .offset = offset.data(),
                            .mean2 = mean2.data(),
                            .scale2 = scale2.data()};
    };
    for (const std::size_t pixels : kPixels) {
        const Floats x = rounded(noise(1, pixels * kBlock)), r = rounded(noise(2, pixels * kBlock));
        const Halves halfX = image(x), halfR = image(r);
        for (const int residual : {0, 1, 2}) {
            for (const bool relu : {false, true}) {
                Floats y(x.size());
                Halves halfY = untouched(pixels);
                simd.floats.norm(run(x.data(), r.data(), y.data(), x.size(), kBlock), residual, relu);
                simd.halves.norm(
                    run(halfX.data() + kBlock, halfR.data() + kBlock, halfY.data() + kBlock, x.size(), kStep), residual,
                    relu);
                compare(halfY, y);
            }
        }
    }
}

void tst_cpu_halves::normGradients() {
    const SimdTable& simd = table();
    std::vector<Floats> patterns;
    for (std::uint64_t i = 0; i < 9; ++i) patterns.push_back(noise(20 + i, 16));
    const auto pattern = [&](std::size_t i) { return patterns[i].data(); };
    const auto settled = [&](auto run, std::size_t count, std::size_t step) {
        run.count = count, run.step = step;
        run.mean = pattern(0), run.scale = pattern(1), run.offset = pattern(2);
        run.slope = pattern(3), run.shift = pattern(4);
        run.mean2 = pattern(5), run.scale2 = pattern(6), run.slope2 = pattern(7), run.shift2 = pattern(8);
        return run;
    };
    for (const std::size_t pixels : kPixels) {
        std::vector<Floats> read;
        std::vector<Halves> halfRead;
        for (std::uint64_t i = 0; i < 5; ++i) {
            read.push_back(rounded(noise(10 + i, pixels * kBlock)));
            halfRead.push_back(image(read.back()));
        }
        for (const GradMask mask : {GradMask::None, GradMask::Recomputed, GradMask::FromOutput}) {
            for (const bool pair : {false, true}) {
                for (const GradOther other : {GradOther::None, GradOther::Kept, GradOther::Norm, GradOther::Added}) {
                    Floats out(pixels * kBlock), dx(pixels * kBlock);
                    Halves halfOut = untouched(pixels), halfDx = untouched(pixels);
                    GradRun run{.g1 = read[0].data(),
                                .g2 = read[1].data(),
                                .x = read[2].data(),
                                .z = read[3].data(),
                                .x2 = read[4].data(),
                                .out = out.data(),
                                .dx = dx.data()};
                    const auto at = [&](std::size_t i) { return halfRead[i].data() + kBlock; };
                    GradRunOf<Bf16> halfRun{.g1 = at(0),
                                            .g2 = at(1),
                                            .x = at(2),
                                            .z = at(3),
                                            .x2 = at(4),
                                            .out = halfOut.data() + kBlock,
                                            .dx = halfDx.data() + kBlock};
                    run = settled(run, dx.size(), kBlock);
                    halfRun = settled(halfRun, dx.size(), kStep);
                    const bool keeps = other == GradOther::Kept || other == GradOther::Norm;
                    double found[3][16] = {}, expected[3][16] = {};
                    simd.halves.gradSums(halfRun, {found[0], found[1], found[2]}, mask, pair, other);
                    simd.floats.gradSums(run, {expected[0], expected[1], expected[2]}, mask, pair, other);
                    if (keeps) {
                        // What is kept is rounded, and it is what is summed and goes on.
                        compare(halfOut, out);
                        std::ranges::copy(rounded(out), out.begin());
                        GradRun kept = run;
                        kept.g1 = out.data();
                        std::memset(expected, 0, sizeof expected);
                        simd.floats.gradSums(kept, {expected[0], expected[1], expected[2]}, GradMask::None, false,
                                             other);
                    }
                    for (const int i : {0, 1, 2}) compareSums(found[i], expected[i], pixels);
                    simd.floats.gradApply(run, mask, pair, other);
                    simd.halves.gradApply(halfRun, mask, pair, other);
                    compare(halfDx, dx);
                    if (keeps) compare(halfOut, out);
                    else QCOMPARE(halfOut, untouched(pixels));
                }
            }
        }
    }
}

// Three blocks at once are as one after the other, to the bit, whatever lies between their patterns and sums.
void tst_cpu_halves::blocksSideBySide() {
    constexpr std::size_t kBlocks = kStep / kBlock, kApart = 24;
    const SimdTable& simd = table();
    std::vector<Floats> patterns;
    for (std::uint64_t i = 0; i < 9; ++i) patterns.push_back(noise(20 + i, kBlocks * kApart));
    using Sums = std::array<double, kBlocks * kApart>;
    const auto make = [&](std::size_t pixels, std::size_t blocks) {
        std::vector<Halves> read, written;
        for (std::uint64_t i = 0; i < 5; ++i) read.push_back(halvesOf(rounded(noise(10 + i, pixels * kStep))));
        std::vector<Sums> sums(5, Sums{});
        for (int i = 0; i < 3; ++i) written.push_back(untouched(pixels));
        for (std::size_t block = 0; block < kBlocks; block += blocks) {
            const auto pattern = [&](std::size_t i) { return patterns[i].data() + block * kApart; };
            const auto from = [&](std::size_t i) { return read[i].data() + block * kBlock; };
            const auto to = [&](std::size_t i) { return written[i].data() + block * kBlock; };
            const auto sum = [&](std::size_t i) { return sums[i].data() + block * kApart; };
            const auto over = [&](auto run) {
                run.count = pixels * kBlock, run.step = kStep, run.blocks = blocks, run.apart = kApart;
                return run;
            };
            simd.halves.moments(over(MomentsRunOf<Bf16>{.x = from(0), .shift = pattern(0)}), {sum(0), sum(1), kApart});
            NormRunOf<Bf16> norm{.x = from(0), .r = from(1), .y = to(0)};
            norm.mean = pattern(0), norm.scale = pattern(1), norm.offset = pattern(2);
            norm.mean2 = pattern(3), norm.scale2 = pattern(4);
            simd.halves.norm(over(norm), 2, true);
            GradRunOf<Bf16> grad{
                .g1 = from(0), .g2 = from(1), .x = from(2), .z = from(3), .x2 = from(4), .out = to(1), .dx = to(2)};
            grad.mean = pattern(0), grad.scale = pattern(1), grad.offset = pattern(2);
            grad.slope = pattern(3), grad.shift = pattern(4);
            grad.mean2 = pattern(5), grad.scale2 = pattern(6), grad.slope2 = pattern(7), grad.shift2 = pattern(8);
            simd.halves.gradSums(over(grad), {sum(2), sum(3), sum(4), kApart}, GradMask::Recomputed, true,
                                 GradOther::Norm);
            simd.halves.gradApply(over(grad), GradMask::Recomputed, true, GradOther::Norm);
        }
        return std::pair(written, sums);
    };
    for (const std::size_t pixels : kPixels) {
        const auto [written, sums] = make(pixels, kBlocks);
        QVERIFY(std::pair(written, sums) == make(pixels, 1));
        for (const Halves& image : written) QVERIFY(std::ranges::count(image, kUntouched) < 16);
        for (const Sums& each : sums) QVERIFY(each[kBlock] == 0 && each[kApart] != 0);
    }
}

// All elements one behind the other, however many; ties go to the even one, and NaN stays NaN.
void tst_cpu_halves::elementwise() {
    const SimdTable& simd = table();
    for (const std::size_t count : {1u, 15u, 16u, 37u, 592u}) {
        Floats a = rounded(noise(1, count)), b = rounded(noise(2, count)), y(count);
        for (std::size_t i = 0; i < count; i += 3) a[i] *= 4;
        if (count > 16) {
            a[5] = std::nanf(""), a[7] = INFINITY, a[9] = 1, b[9] = 0x1p-8f, a[11] = 1 + 0x1p-7f, b[11] = 0x1p-8f;
            a[count - 1] = 1 + 0x1p-7f, b[count - 1] = 0x1p-8f;
        }
        const Halves halfA = halvesOf(a), halfB = halvesOf(b);
        Halves halfY = untouchedRow(count);
        simd.floats.add(a.data(), b.data(), y.data(), count);
        simd.halves.add(halfA.data(), halfB.data(), halfY.data(), count);
        compareRow(halfY, y);
        if (count > 16) {
            QCOMPARE(asFloat(halfY[9]), 1.0f);
            QCOMPARE(asFloat(halfY[11]), 1 + 0x1p-6f);
            QCOMPARE(asFloat(halfY[count - 1]), 1 + 0x1p-6f);
        }
        simd.floats.multiply(a.data(), b.data(), y.data(), count);
        simd.halves.multiply(halfA.data(), halfB.data(), halfY.data(), count);
        compareRow(halfY, y);
        simd.floats.relu(a.data(), y.data(), count);
        simd.halves.relu(halfA.data(), halfY.data(), count);
        compareRow(halfY, y);
        simd.floats.relu6(a.data(), y.data(), count);
        simd.halves.relu6(halfA.data(), halfY.data(), count);
        compareRow(halfY, y);
        simd.floats.reluBackward(a.data(), b.data(), y.data(), count);
        simd.halves.reluBackward(halfA.data(), halfB.data(), halfY.data(), count);
        compareRow(halfY, y);
        simd.floats.relu6Backward(a.data(), b.data(), y.data(), count);
        simd.halves.relu6Backward(halfA.data(), halfB.data(), halfY.data(), count);
        compareRow(halfY, y);
    }
}

void tst_cpu_halves::smoothActivations() {
    const SimdTable& simd = table();
    for (const std::size_t count : {3u, 16u, 61u}) {
        const Floats x = rounded(noise(1, count)), dy = rounded(noise(2, count));
        const Halves halfX = halvesOf(x), halfDy = halvesOf(dy);
        Floats y(count);
        Halves halfY = untouchedRow(count);
        for (const ActivationKind kind : {ActivationKind::Gelu, ActivationKind::Silu}) {
            simd.floats.activation(kind, x.data(), y.data(), count);
            simd.halves.activation(kind, halfX.data(), halfY.data(), count);
            compareRow(halfY, y);
            simd.floats.activationBackward(kind, x.data(), dy.data(), y.data(), count);
            simd.halves.activationBackward(kind, halfX.data(), halfDy.data(), halfY.data(), count);
            compareRow(halfY, y);
        }
        Floats slope = x;
        Halves halfSlope = untouchedRow(count);
        std::copy_n(halfX.begin(), count, halfSlope.begin());
        simd.floats.geluAndSlope(slope.data(), y.data(), count);
        simd.halves.geluAndSlope(halfSlope.data(), halfY.data(), count);
        compareRow(halfY, y);
        compareRow(halfSlope, slope);
    }
}

// Between floats and halves: what is scaled, added to sums and multiplied with each other.
void tst_cpu_halves::rows() {
    const SimdTable& simd = table();
    for (const std::size_t width : {1u, 5u, 16u, 24u, 70u}) {
        const Floats x = noise(1, width);
        Floats y(width);
        Halves halfY = untouchedRow(width);
        simd.floats.scale(x.data(), 0.7f, y.data(), width);
        simd.halves.scale(x.data(), 0.7f, halfY.data(), width);
        compareRow(halfY, y);
        const Floats row = rounded(noise(2, width));
        Floats sums = x, expected = x;
        simd.floats.addRow(expected.data(), row.data(), width);
        simd.halves.addRow(sums.data(), halvesOf(row).data(), width);
        QCOMPARE(sums, expected);
        const std::size_t stride = width + 3, rows = 4;
        const Floats a = rounded(noise(3, rows * stride)), b = rounded(noise(4, rows * stride));
        Floats dots(rows), expectedDots(rows);
        simd.floats.rowDots(a.data(), b.data(), stride, rows, width, expectedDots.data());
        simd.halves.rowDots(halvesOf(a).data(), halvesOf(b).data(), stride, rows, width, dots.data());
        QCOMPARE(dots, expectedDots);
    }
}

void tst_cpu_halves::layerNorms() {
    const SimdTable& simd = table();
    constexpr std::size_t rows = 3;
    for (const std::size_t width : {1u, 7u, 16u, 40u}) {
        const std::size_t count = rows * width;
        const Floats x = rounded(noise(1, count)), dy = rounded(noise(2, count)), addends = rounded(noise(3, count)),
                     gamma = noise(4, width), beta = noise(5, width);
        const Halves halfX = halvesOf(x), halfDy = halvesOf(dy), halfAddends = halvesOf(addends);
        struct Found {
            Floats mean = Floats(rows), invStd = Floats(rows), dgamma, dbeta;
        } found, expected;
        found.dgamma = expected.dgamma = noise(6, width), found.dbeta = expected.dbeta = noise(7, width);
        // Compilers may fuse other products with their sums.
        const auto agree = [](const Floats& a, const Floats& b) {
            return std::ranges::equal(
                a, b, [](float is, float wanted) { return std::abs(is - wanted) < 1e-6f * (1 + std::abs(wanted)); });
        };
        const auto forward = [&]<class T>(const T* from, T* to, Found& at) {
            simd.of<T>().layerNorm(
                {from, gamma.data(), beta.data(), to, at.mean.data(), at.invStd.data(), rows, width, 1e-3f});
        };
        Floats y(count), dx(count);
        Halves halfY = untouchedRow(count), halfDx = untouchedRow(count);
        forward(x.data(), y.data(), expected);
        forward(halfX.data(), halfY.data(), found);
        compareRow(halfY, y);
        QVERIFY(agree(found.mean, expected.mean) && agree(found.invStd, expected.invStd));
        for (const bool adds : {false, true}) {
            const auto backward = [&]<class T>(const T* from, const T* gradient, const T* other, T* to, Found& at) {
                simd.of<T>().layerNormBackward({.x = from,
                                                .dy = gradient,
                                                .addends = adds ? other : nullptr,
                                                .gamma = gamma.data(),
                                                .mean = at.mean.data(),
                                                .invStd = at.invStd.data(),
                                                .dx = to,
                                                .dgamma = at.dgamma.data(),
                                                .dbeta = at.dbeta.data(),
                                                .rows = rows,
                                                .width = width});
            };
            backward(x.data(), dy.data(), addends.data(), dx.data(), expected);
            backward(halfX.data(), halfDy.data(), halfAddends.data(), halfDx.data(), found);
            compareRow(halfDx, dx);
            QVERIFY(agree(found.dgamma, expected.dgamma) && agree(found.dbeta, expected.dbeta));
        }
    }
}

// Weights and gradients lie at the front of the rows where scores lay, with zeros up to whole panels behind them; what
// stays in floats is the same.
void tst_cpu_halves::softmaxOfTiles() {
    const SimdTable& simd = table();
    constexpr std::size_t rows = 19, columns = 37, stride = 64, width = 5;
    struct Made {
        Floats scores, gradients, largest = Floats(rows, -std::numeric_limits<float>::infinity()), sums = Floats(rows),
                                  y = Floats(rows * width, 1);
    };
    const auto forward = [&]<class T>(T, Made& made, std::uint64_t seed) {
        made.scores = noise(seed, rows * stride, static_cast<double>(seed));
        const ScoreTile tile{made.scores.data(), rows, columns, stride, 20, 0.5f};
        simd.of<T>().softmaxTile(tile, made.largest.data(), made.sums.data(), made.y.data(), width, width);
    };
    const auto backward = [&]<class T>(T, Made& made) {
        made.scores = noise(3, rows * stride), made.gradients = noise(4, rows * stride);
        const Floats logSumExp = noise(5, rows), inner = noise(6, rows);
        const ScoreTile tile{made.scores.data(), rows, columns, stride, 20, 0.5f};
        simd.of<T>().softmaxTileBackward(tile, logSumExp.data(), inner.data(), made.gradients.data());
    };
    const auto compareRows = [&](const Floats& halves, const Floats& floats) {
        for (std::size_t row = 0; row < rows; ++row) {
            Halves found(stride);
            std::memcpy(found.data(), halves.data() + row * stride, stride * sizeof(Bf16));
            const auto from = floats.begin() + static_cast<std::ptrdiff_t>(row * stride);
            compareRow(found, Floats(from, from + stride));
            for (std::size_t i = columns; i < stride; ++i) QCOMPARE(asFloat(found[i]), 0.0f);
        }
    };
    Made floats, halves;
    for (const std::uint64_t tile : {1, 2}) {
        forward(float(), floats, tile);
        forward(Bf16(), halves, tile);
        compareRows(halves.scores, floats.scores);
        QVERIFY(halves.largest == floats.largest && halves.sums == floats.sums && halves.y == floats.y);
    }
    QVERIFY(floats.y != Floats(rows * width, 1));
    backward(float(), floats);
    backward(Bf16(), halves);
    compareRows(halves.scores, floats.scores);
    compareRows(halves.gradients, floats.gradients);
}

void tst_cpu_halves::pairsOfRows() {
    for (const std::size_t count : {16u, 48u}) {
        const Halves even = halvesOf(noise(1, count)), odd = halvesOf(noise(2, count));
        Floats pairs(count);
        table().interleave(even.data(), odd.data(), pairs.data(), count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto pair = std::bit_cast<std::uint32_t>(pairs[i]);
            QCOMPARE(pair & 0xffff, static_cast<std::uint32_t>(even[i]));
            QCOMPARE(pair >> 16, static_cast<std::uint32_t>(odd[i]));
        }
    }
}

void tst_cpu_halves::pairsOfRowsInPanels() {
    constexpr std::size_t kRows = 3, kColumns = 96, kStride = 2 * kColumns + 7, kRowStride = 40, kPanelStride = 200;
    const Halves image = halvesOf(noise(1, kRows * kStride + kColumns));
    const float untouched = -1;
    Floats pairs(3 * kPanelStride, untouched);
    table().interleaveRows({.even = image.data(),
                            .odd = image.data() + kColumns,
                            .stride = kStride,
                            .count = kRows,
                            .columns = kColumns,
                            .to = pairs.data(),
                            .rowStride = kRowStride,
                            .panelStride = kPanelStride});
    Floats expected(pairs.size(), untouched);
    for (std::size_t n = 0; n < kRows; ++n) {
        for (std::size_t i = 0; i < kColumns; ++i) {
            const auto even = static_cast<std::uint32_t>(image[n * kStride + i]);
            const auto odd = static_cast<std::uint32_t>(image[n * kStride + kColumns + i]);
            expected[n * kRowStride + i / 32 * kPanelStride + i % 32] = std::bit_cast<float>(odd << 16 | even);
        }
    }
    QCOMPARE(std::memcmp(pairs.data(), expected.data(), pairs.size() * sizeof(float)), 0);
}

// Places of pixels in any order; scales are powers of two, by which products are exact.
void tst_cpu_halves::sumsBecomePixels() {
    constexpr std::size_t kColumns = EndedRows::kColumns, kRows = 37, kApart = kColumns + 16;
    const Floats sums = noise(1, kRows * kColumns), bias = noise(2, kColumns),
                 addends = rounded(noise(3, kRows * kApart));
    const Halves halfAddends = halvesOf(addends);
    Floats scale(kColumns);
    for (std::size_t i = 0; i < kColumns; ++i) scale[i] = std::ldexp(1.0f, static_cast<int>(i % 4));
    std::vector<std::size_t> at;
    for (std::size_t row = 0; row < kRows; ++row) at.push_back(row * 8 % kRows * kApart);
    for (int what = 0; what < 32; ++what) {
        const bool scales = what & 1, hasBias = what & 2, adds = what & 4, clamps = what & 8;
        const float ceiling = what & 16 ? 2.5f : INFINITY;
        Halves y(kRows * kApart, kUntouched);
        table().endRows({.sums = sums.data(),
                         .rows = kRows,
                         .at = at.data(),
                         .end = {.scale = scales ? scale.data() : nullptr,
                                 .bias = hasBias ? bias.data() : nullptr,
                                 .addends = adds ? halfAddends.data() : nullptr,
                                 .relu = clamps,
                                 .ceiling = ceiling},
                         .y = y.data()});
        for (std::size_t row = 0; row < kRows; ++row) {
            Floats pixel(kColumns);
            for (std::size_t i = 0; i < kColumns; ++i) {
                float& value = pixel[i] = sums[row * kColumns + i];
                if (scales) value *= scale[i];
                if (hasBias) value += bias[i];
                if (adds) value += addends[at[row] + i];
                if (clamps) value = std::clamp(value, 0.0f, ceiling);
            }
            const auto first = y.begin() + static_cast<std::ptrdiff_t>(at[row]);
            compareRow(Halves(first, first + kApart), pixel);
        }
    }
}

void tst_cpu_halves::pools() {
    const SimdTable& simd = table();
    const PoolShape apart{.height = 6,
                          .width = 7,
                          .rows = 3,
                          .columns = 3,
                          .window = {2, 2},
                          .stride = {2, 2},
                          .padding = {0, 0},
                          .step = kStep};
    const PoolShape overlapping{.height = 7,
                                .width = 5,
                                .rows = 4,
                                .columns = 3,
                                .window = {3, 3},
                                .stride = {2, 2},
                                .padding = {1, 1},
                                .step = kStep};
    for (const PoolShape& shape : {apart, overlapping}) {
        const auto pixels = static_cast<std::size_t>(shape.height * shape.width),
                   results = static_cast<std::size_t>(shape.rows * shape.columns);
        const Floats x = rounded(noise(1, pixels * kBlock)), dy = rounded(noise(2, results * kBlock));
        const Halves halfX = image(x), halfDy = image(dy);
        Floats y(results * kBlock), dx(pixels * kBlock);
        Halves halfY = untouched(results), halfDx = untouched(pixels);
        std::vector<std::int32_t> places(y.size()), halfPlaces(results * kStep);
        simd.floats.averagePool(shape, kBlock, x.data(), y.data());
        simd.halves.averagePool(shape, kBlock, halfX.data() + kBlock, halfY.data() + kBlock);
        compare(halfY, y);
        simd.floats.maxPool(shape, kBlock, x.data(), y.data(), places.data());
        simd.halves.maxPool(shape, kBlock, halfX.data() + kBlock, halfY.data() + kBlock, halfPlaces.data() + kBlock);
        compare(halfY, y);
        for (std::size_t i = 0; i < places.size(); ++i)
            QCOMPARE(halfPlaces[i / kBlock * kStep + kBlock + i % kBlock], places[i]);
        PoolShape wide = shape;  // all groups of channels at once are each by itself
        wide.groups = kStep / kBlock;
        Halves wideY = untouched(results);
        std::vector<std::int32_t> widePlaces(results * kStep);
        const Halves wideX = halvesOf(noise(3, pixels * kStep));
        simd.halves.maxPool(wide, kBlock, wideX.data(), wideY.data(), widePlaces.data());
        for (std::size_t group = 0; group < kStep; group += kBlock) {
            Halves own = wideY;
            std::vector<std::int32_t> ownPlaces = widePlaces;
            simd.halves.maxPool(shape, kBlock, wideX.data() + group, own.data() + group, ownPlaces.data() + group);
            QVERIFY(own == wideY && ownPlaces == widePlaces);
        }
        for (const bool relu : {false, true}) {
            simd.floats.maxPoolBackward(shape, kBlock, dy.data(), places.data(), relu ? y.data() : nullptr, dx.data());
            simd.halves.maxPoolBackward(shape, kBlock, halfDy.data() + kBlock, halfPlaces.data() + kBlock,
                                        relu ? halfY.data() + kBlock : nullptr, halfDx.data() + kBlock);
            compare(halfDx, dx);
        }
        if (shape.padding[0] > 0) continue;  // the averages' gradients of overlapping windows are added up in floats
        simd.floats.averagePoolBackward(shape, kBlock, dy.data(), dx.data());
        simd.halves.averagePoolBackward(shape, kBlock, halfDy.data() + kBlock, halfDx.data() + kBlock);
        compare(halfDx, dx);
    }
}

QTEST_APPLESS_MAIN(tst_cpu_halves)
#include "tst_cpu_halves.moc"
