#include <QtTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/ops/activation.h"
#include "tests/cpu/noise.h"
#include "tests/cpu/simd_tables.h"

using namespace lockstep;
using namespace lockstep::cpu;

// Every instruction set's loops against plain ones in double, for runs of every length, and nothing written behind
// them.
class tst_cpu_simd : public QObject {
    Q_OBJECT
private slots:
    void sums_data() { addSimdTables(); }
    void sums();
    void norms_data() { addSimdTables(); }
    void norms();
    void normGradients_data() { addSimdTables(); }
    void normGradients();
    void elementwise_data() { addSimdTables(); }
    void elementwise();
    void activations_data() { addSimdTables(); }
    void activations();
    void layerNorms_data() { addSimdTables(); }
    void layerNorms();
    void softmaxOfTiles_data() { addSimdTables(); }
    void softmaxOfTiles();
    void rowsOfLogits_data() { addSimdTables(); }
    void rowsOfLogits();
    void pools_data() { addSimdTables(); }
    void pools();
    void transpositions_data() { addSimdTables(); }
    void transpositions();
    void products_data() { addSimdTables(); }
    void products();
    void laneConvolutions_data() { addSimdTables(); }
    void laneConvolutions();
    void updates_data() { addSimdTables(); }
    void updates();
};

namespace {

constexpr std::size_t kGuard = 16;
constexpr float kUntouched = 777;
const std::vector<std::size_t> kLengths{1, 7, 8, 15, 16, 17, 31, 32, 40, 200, 4096 + 16, 9001};

Floats guarded(std::size_t count) { return Floats(count + kGuard, kUntouched); }

void compare(const Floats& actual, std::size_t count, const std::function<double(std::size_t)>& expected) {
    for (std::size_t i = 0; i < count; ++i) {
        const double want = expected(i);
        QVERIFY2(std::abs(actual[i] - want) <= 2e-5 * (1 + std::abs(want)), std::to_string(i).c_str());
    }
    for (std::size_t i = count; i < actual.size(); ++i) QCOMPARE(actual[i], kUntouched);
}

}  // namespace

void tst_cpu_simd::sums() {
    const SimdTable& simd = table();
    for (const std::size_t count : kLengths) {
        const Floats x = noise(1, count, 3), shift = noise(2, 16, 3);
        double sum[16] = {}, square[16] = {}, plain[16] = {}, wantSum[16] = {}, wantSquare[16] = {}, wantPlain[16] = {};
        double squares = 0;
        simd.floats.moments({.x = x.data(), .count = count, .shift = shift.data()}, {sum, square});
        simd.floats.sum(x.data(), count, 16, plain);
        for (std::size_t i = 0; i < count; ++i) {
            const double centred = static_cast<double>(x[i]) - shift[i % 16];
            wantSum[i % 16] += centred;
            wantSquare[i % 16] += centred * centred;
            wantPlain[i % 16] += x[i];
            squares += static_cast<double>(x[i]) * x[i];
        }
        for (int lane = 0; lane < 16; ++lane) {
            QVERIFY(std::abs(sum[lane] - wantSum[lane]) <= 1e-6 * (static_cast<double>(count) + 1));
            QVERIFY(std::abs(square[lane] - wantSquare[lane]) <= 2e-6 * (static_cast<double>(count) + 1));
            QVERIFY(std::abs(plain[lane] - wantPlain[lane]) <= 2e-6 * (static_cast<double>(count) + 1));
        }
        QVERIFY(std::abs(simd.squareSum(x.data(), count) - squares) <= 1e-12 * squares);
    }
}

void tst_cpu_simd::norms() {
    const SimdTable& simd = table();
    const Floats mean = noise(3, 16), scale = noise(4, 16), offset = noise(5, 16), mean2 = noise(6, 16),
                 scale2 = noise(7, 16);
    for (const std::size_t count : kLengths) {
        const Floats x = noise(1, count), r = noise(2, count);
        for (const int residual : {0, 1, 2}) {
            for (const bool relu : {false, true}) {
                Floats y = guarded(count);
                simd.floats.norm({.x = x.data(),
                                  .r = r.data(),
                                  .y = y.data(),
                                  .count = count,
                                  .mean = mean.data(),
                                  .scale = scale.data(),
                                  .offset = offset.data(),
                                  .mean2 = mean2.data(),
                                  .scale2 = scale2.data()},
                                 residual, relu);
                compare(y, count, [&](std::size_t i) {
                    const std::size_t k = i % 16;
                    double want = (static_cast<double>(x[i]) - mean[k]) * scale[k] + offset[k];
                    if (residual == 1) want += r[i];
                    if (residual == 2) want += (static_cast<double>(r[i]) - mean2[k]) * scale2[k];
                    return relu ? std::max(want, 0.0) : want;
                });
            }
        }
    }
}

void tst_cpu_simd::normGradients() {
    const SimdTable& simd = table();
    const Floats mean = noise(3, 16), scale = noise(4, 16), offset = noise(5, 16), slope = noise(6, 16),
                 shift = noise(7, 16);
    const Floats mean2 = noise(8, 16), scale2 = noise(9, 16), slope2 = noise(10, 16), shift2 = noise(11, 16);
    for (const std::size_t count : kLengths) {
        const Floats g1 = noise(12, count), g2 = noise(13, count), x = noise(14, count), z = noise(15, count),
                     x2 = noise(16, count);
        for (const GradMask mask : {GradMask::None, GradMask::Recomputed, GradMask::FromOutput}) {
            for (const bool pair : {false, true}) {
                for (const GradOther other : {GradOther::None, GradOther::Kept, GradOther::Norm, GradOther::Added}) {
                    Floats out = guarded(count), dx = guarded(count);
                    const GradRun run{.g1 = g1.data(),
                                      .g2 = pair ? g2.data() : nullptr,
                                      .x = x.data(),
                                      .z = z.data(),
                                      .x2 = x2.data(),
                                      .out = out.data(),
                                      .dx = dx.data(),
                                      .count = count,
                                      .mean = mean.data(),
                                      .scale = scale.data(),
                                      .offset = offset.data(),
                                      .slope = slope.data(),
                                      .shift = shift.data(),
                                      .mean2 = mean2.data(),
                                      .scale2 = scale2.data(),
                                      .slope2 = slope2.data(),
                                      .shift2 = shift2.data()};
                    const auto gradient = [&](std::size_t i) {
                        const std::size_t k = i % 16;
                        const float seen = mask == GradMask::FromOutput ? z[i]
                                           : mask == GradMask::None     ? 1
                                                                        : (x[i] - mean[k]) * scale[k] + offset[k];
                        return seen > 0 ? static_cast<double>(g1[i]) + (pair ? g2[i] : 0) : 0.0;
                    };
                    double s[16] = {}, q[16] = {}, r[16] = {}, wantS[16] = {}, wantQ[16] = {}, wantR[16] = {};
                    simd.floats.gradSums(run, {s, q, r}, mask, pair, other);
                    const bool keeps = other == GradOther::Kept || other == GradOther::Norm;
                    compare(out, keeps ? count : 0, gradient);
                    for (std::size_t i = 0; i < count; ++i) {
                        wantS[i % 16] += gradient(i);
                        wantQ[i % 16] += gradient(i) * (static_cast<double>(x[i]) - mean[i % 16]);
                        if (other == GradOther::Norm)
                            wantR[i % 16] += gradient(i) * (static_cast<double>(x2[i]) - mean2[i % 16]);
                    }
                    for (int lane = 0; lane < 16; ++lane) {
                        const double tolerance = 2e-6 * (static_cast<double>(count) + 1);
                        QVERIFY(std::abs(s[lane] - wantS[lane]) <= tolerance);
                        QVERIFY(std::abs(q[lane] - wantQ[lane]) <= tolerance);
                        QVERIFY(std::abs(r[lane] - wantR[lane]) <= tolerance);
                    }
                    simd.floats.gradApply(run, mask, pair, other);
                    compare(dx, count, [&](std::size_t i) {
                        const std::size_t k = i % 16;
                        const double branch = other == GradOther::Added ? x2[i] : 0;
                        return gradient(i) * scale[k] + (static_cast<double>(x[i]) - mean[k]) * slope[k] + shift[k] +
                               branch;
                    });
                    compare(out, keeps ? count : 0, [&](std::size_t i) {
                        const std::size_t k = i % 16;
                        if (other == GradOther::Kept) return gradient(i);
                        return gradient(i) * scale2[k] + (static_cast<double>(x2[i]) - mean2[k]) * slope2[k] +
                               shift2[k];
                    });
                }
            }
        }
    }
}

void tst_cpu_simd::elementwise() {
    const SimdTable& simd = table();
    for (const std::size_t count : kLengths) {
        const Floats a = noise(1, count), b = noise(2, count);
        Floats y = guarded(count);
        simd.floats.relu(a.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return std::max(a[i], 0.0f); });
        simd.floats.reluBackward(a.data(), b.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return a[i] > 0 ? b[i] : 0; });
        Floats wide = a;
        for (float& value : wide) value *= 5;
        simd.floats.relu6(wide.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return std::clamp(wide[i], 0.0f, 6.0f); });
        simd.floats.relu6Backward(wide.data(), b.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return wide[i] > 0 && wide[i] < 6 ? b[i] : 0; });
        simd.floats.add(a.data(), b.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return static_cast<double>(a[i]) + b[i]; });
        simd.floats.scale(a.data(), 3, y.data(), count);
        compare(y, count, [&](std::size_t i) { return 3.0 * a[i]; });
    }
    const float nan = std::nanf("");
    float y[17];
    const Floats nans(17, nan);
    simd.floats.relu(nans.data(), y, 17);
    QVERIFY(std::isnan(y[0]) && std::isnan(y[16]));
    simd.floats.relu6(nans.data(), y, 17);
    QVERIFY(std::isnan(y[0]) && std::isnan(y[16]));
}

namespace {

// Pixels of one window that lie in the image, by their place in the window and in the image.
struct Tap {
    int place;
    std::size_t pixel;
};
std::vector<Tap> tapsOf(const PoolShape& s, std::int64_t row, std::int64_t column) {
    std::vector<Tap> taps;
    for (int r = 0; r < s.window[0]; ++r) {
        for (int c = 0; c < s.window[1]; ++c) {
            const std::int64_t h = row * s.stride[0] - s.padding[0] + r, w = column * s.stride[1] - s.padding[1] + c;
            if (h >= 0 && h < s.height && w >= 0 && w < s.width)
                taps.push_back({r * s.window[1] + c, static_cast<std::size_t>(h * s.width + w)});
        }
    }
    return taps;
}

void checkPools(const SimdTable& simd, const PoolShape& s, std::size_t block) {
    const auto pixels = static_cast<std::size_t>(s.height * s.width),
               results = static_cast<std::size_t>(s.rows * s.columns);
    const Floats x = noise(1, pixels * block), dy = noise(2, results * block);
    Floats most = guarded(results * block), mean = guarded(results * block), dMost = guarded(pixels * block);
    Floats dMean = guarded(pixels * block), wantMost(results * block), wantMean(results * block);
    Floats wantDMost(pixels * block), wantDMean(pixels * block);
    std::vector<std::int32_t> argmax(results * block + kGuard, 777), wantPlace(results * block);
    for (std::size_t at = 0; at < results; ++at) {
        const auto taps =
            tapsOf(s, static_cast<std::int64_t>(at) / s.columns, static_cast<std::int64_t>(at) % s.columns);
        const auto divisor =
            static_cast<float>(s.countPadding ? s.window[0] * s.window[1] : static_cast<int>(taps.size()));
        for (std::size_t lane = 0; lane < block; ++lane) {
            const auto value = [&](const Tap& tap) { return x[tap.pixel * block + lane]; };
            const Tap best = *std::ranges::max_element(taps, {}, value);
            const std::size_t to = at * block + lane;
            wantMost[to] = value(best);
            wantPlace[to] = best.place;
            if (value(best) > 0) wantDMost[best.pixel * block + lane] += dy[to];
            for (const Tap& tap : taps) {
                wantMean[to] += value(tap) / divisor;
                wantDMean[tap.pixel * block + lane] += dy[to] / divisor;
            }
        }
    }
    const auto is = [](const Floats& want) { return [&want](std::size_t i) { return static_cast<double>(want[i]); }; };
    const int channels = static_cast<int>(block);
    simd.floats.maxPool(s, channels, x.data(), most.data(), argmax.data());
    compare(most, results * block, is(wantMost));
    QVERIFY(std::equal(wantPlace.begin(), wantPlace.end(), argmax.begin()));
    QCOMPARE(argmax[results * block], 777);
    simd.floats.maxPool(s, channels, x.data(), mean.data(), nullptr);
    QVERIFY(std::equal(mean.begin(), mean.end(), most.begin()));
    simd.floats.maxPoolBackward(s, channels, dy.data(), argmax.data(), most.data(), dMost.data());
    compare(dMost, pixels * block, is(wantDMost));
    simd.floats.averagePool(s, channels, x.data(), mean.data());
    compare(mean, results * block, is(wantMean));
    simd.floats.averagePoolBackward(s, channels, dy.data(), dMean.data());
    compare(dMean, pixels * block, is(wantDMean));
}

// The first NaN of a window, else the first of its largest numbers, which may be infinite.
void checkPoolsOfAllNumbers(const SimdTable& simd, const PoolShape& s, std::size_t block, float special) {
    const auto pixels = static_cast<std::size_t>(s.height * s.width),
               results = static_cast<std::size_t>(s.rows * s.columns);
    for (std::size_t odd = 0; odd < pixels * block; odd += 5) {
        Floats x = noise(1, pixels * block), most(results * block), alone(results * block);
        x[odd] = x[(odd + 2 * block) % x.size()] = special;
        std::vector<std::int32_t> argmax(results * block);
        simd.floats.maxPool(s, static_cast<int>(block), x.data(), most.data(), argmax.data());
        simd.floats.maxPool(s, static_cast<int>(block), x.data(), alone.data(), nullptr);
        for (std::size_t i = 0; i < results * block; ++i) {
            const auto at = static_cast<std::int64_t>(i / block);
            const auto taps = tapsOf(s, at / s.columns, at % s.columns);
            const auto value = [&](const Tap& tap) { return x[tap.pixel * block + i % block]; };
            const auto isNan = [&](const Tap& tap) { return std::isnan(value(tap)); };
            const auto nan = std::ranges::find_if(taps, isNan);
            const Tap best = nan != taps.end() ? *nan : *std::ranges::max_element(taps, {}, value);
            QCOMPARE(argmax[i], best.place);
            QVERIFY(std::bit_cast<std::uint32_t>(most[i]) == std::bit_cast<std::uint32_t>(value(best)));
            QVERIFY(std::bit_cast<std::uint32_t>(alone[i]) == std::bit_cast<std::uint32_t>(value(best)));
        }
    }
}

}  // namespace

void tst_cpu_simd::activations() {
    const SimdTable& simd = table();
    const auto phi = [](double v) { return std::erfc(-v / std::sqrt(2.0)) / 2; };
    const auto density = [](double v) { return std::exp(-v * v / 2) / std::sqrt(2 * M_PI); };
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (const std::size_t count : kLengths) {
        Floats x = noise(1, count), y = guarded(count);
        const Floats dy = noise(2, count);
        for (std::size_t i = 0; i < count; ++i) x[i] *= static_cast<float>(i % 5 == 4 ? 40 : 2);
        simd.floats.activation(ActivationKind::Gelu, x.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return x[i] * phi(x[i]); });
        simd.floats.activation(ActivationKind::Silu, x.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return x[i] * sigmoid(x[i]); });
        simd.floats.activationBackward(ActivationKind::Gelu, x.data(), dy.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return dy[i] * (phi(x[i]) + x[i] * density(x[i])); });
        Floats slope = guarded(count);
        std::copy_n(x.begin(), count, slope.begin());
        simd.floats.geluAndSlope(slope.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return x[i] * phi(x[i]); });
        compare(slope, count, [&](std::size_t i) { return phi(x[i]) + x[i] * density(x[i]); });
        simd.floats.multiply(x.data(), dy.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return x[i] * dy[i]; });
        simd.floats.activationBackward(ActivationKind::Silu, x.data(), dy.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return dy[i] * sigmoid(x[i]) * (1 + x[i] * (1 - sigmoid(x[i]))); });
    }
    Floats special{std::nanf(""), -200, 200}, y(3);
    for (const Activation& each : kActivations) {
        simd.floats.activation(each.kind, special.data(), y.data(), 3);
        QVERIFY(std::isnan(y[0]) && y[1] == 0 && y[2] == 200);
    }
}

void tst_cpu_simd::layerNorms() {
    const SimdTable& simd = table();
    constexpr std::size_t rows = 3;
    for (const std::size_t width : {1, 2, 7, 15, 16, 17, 64, 100}) {
        const Floats x = noise(1, rows * width, 2), gamma = noise(2, width), beta = noise(3, width);
        Floats y = guarded(rows * width), mean = guarded(rows), invStd = guarded(rows);
        simd.floats.layerNorm(
            {x.data(), gamma.data(), beta.data(), y.data(), mean.data(), invStd.data(), rows, width, 1e-3f});
        const auto moment = [&](std::size_t row, double shift, int power) {
            double sum = 0;
            for (std::size_t i = 0; i < width; ++i) sum += std::pow(x[row * width + i] - shift, power);
            return sum / static_cast<double>(width);
        };
        compare(mean, rows, [&](std::size_t row) { return moment(row, 0, 1); });
        compare(invStd, rows, [&](std::size_t row) { return 1 / std::sqrt(moment(row, moment(row, 0, 1), 2) + 1e-3); });
        compare(y, rows * width, [&](std::size_t i) {
            return (static_cast<double>(x[i]) - mean[i / width]) * invStd[i / width] * gamma[i % width] +
                   beta[i % width];
        });
    }
}

// Two tiles of one row, the second with larger scores, are the softmax of both; what is not seen weighs nothing.
void tst_cpu_simd::softmaxOfTiles() {
    const SimdTable& simd = table();
    constexpr std::size_t columns = 21, stride = 32;
    Floats first = noise(1, 2 * stride), second = noise(2, 2 * stride, 4);
    const Floats a = first, b = second;
    const float none = -std::numeric_limits<float>::infinity();
    Floats largest{none, none}, sums(2), y = guarded(6);
    const auto seenOf = [&](std::size_t row) { return std::size_t{5} + row; };
    simd.floats.softmaxTile({first.data(), 2, columns, stride, columns, 0.5f}, largest.data(), sums.data(), y.data(), 3,
                            3);
    QCOMPARE(y, guarded(6));
    y = {1, 1, 1, 1, 1, 1};
    const Floats before = largest;
    simd.floats.softmaxTile({second.data(), 2, columns, stride, 5, 0.5f}, largest.data(), sums.data(), y.data(), 3, 3);
    for (std::size_t row = 0; row < 2; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < columns; ++i) sum += std::exp(0.5 * a[row * stride + i] - largest[row]);
        for (std::size_t i = 0; i < columns; ++i) {
            const double want = i < seenOf(row) ? std::exp(0.5 * b[row * stride + i] - largest[row]) : 0;
            QVERIFY(std::abs(second[row * stride + i] - want) < 1e-6);
            sum += want;
        }
        QVERIFY(largest[row] > before[row]);
        QVERIFY(std::abs(sums[row] - sum) < 1e-5 * sum);
        QVERIFY(std::abs(y[row * 3 + 2] - std::exp(double{before[row]} - largest[row])) < 1e-6);
    }
}

void tst_cpu_simd::rowsOfLogits() {
    const SimdTable& simd = table();
    for (const std::size_t count : kLengths) {
        Floats z = noise(1, count, 3), dz = guarded(count);
        float largest = 0, sum = 0;
        simd.softmaxSums(z.data(), count, &largest, &sum);
        double want = 0;
        for (const float logit : z) want += std::exp(static_cast<double>(logit) - largest);
        QCOMPARE(largest, *std::ranges::max_element(z));
        QVERIFY(std::abs(sum - want) < 1e-6 * want);
        simd.softmaxGradient(z.data(), count, largest, 2 / sum, 0.25f, dz.data());
        compare(dz, count,
                [&](std::size_t i) { return 2 / want * std::exp(static_cast<double>(z[i]) - largest) - 0.25; });
        z[count / 2] = z[count / 3];
        if (count > 40) z[5] = std::numeric_limits<float>::quiet_NaN();
        for (const std::size_t at : {std::size_t{0}, count / 3, count / 2, count - 1}) {
            std::size_t before = 0;
            for (std::size_t i = 0; i < count; ++i) before += i != at && !(z[i] < z[at]) && !(z[i] == z[at] && i > at);
            QCOMPARE(simd.rankOf(z.data(), count, at), before);
        }
    }
}

void tst_cpu_simd::pools() {
    for (const std::size_t block : {1u, 8u, 16u}) {
        checkPools(table(), {6, 8, 3, 4, {2, 2}, {2, 2}, {0, 0}, false}, block);
        checkPools(table(), {7, 9, 3, 4, {2, 2}, {2, 2}, {0, 0}, false}, block);
        checkPools(table(), {5, 7, 3, 4, {2, 2}, {2, 2}, {1, 1}, false}, block);
        checkPools(table(), {7, 5, 4, 3, {3, 3}, {2, 2}, {1, 1}, false}, block);
        checkPools(table(), {7, 5, 4, 3, {3, 3}, {2, 2}, {1, 1}, true}, block);
        checkPools(table(), {9, 9, 3, 3, {2, 3}, {3, 3}, {0, 0}, false}, block);
        for (const float special : {std::nanf(""), -INFINITY, INFINITY})
            checkPoolsOfAllNumbers(table(), {7, 5, 4, 3, {3, 3}, {2, 2}, {1, 1}, false}, block, special);
    }
}

void tst_cpu_simd::transpositions() {
    const SimdTable& simd = table();
    for (const std::size_t count : {1u, 15u, 16u, 37u}) {
        for (const std::size_t rows : {1u, 5u, 8u, 9u, 16u}) {
            const std::size_t stride = count + 3;
            const Floats from = noise(1, rows * stride);
            Floats lanes = guarded(count * 16), back = guarded(rows * stride);
            simd.rowsToLanes(from.data(), stride, rows, lanes.data(), 16, count);
            compare(lanes, count * 16,
                    [&](std::size_t i) { return i % 16 < rows ? from[i % 16 * stride + i / 16] : 0.0f; });
            simd.lanesToRows(lanes.data(), back.data(), stride, rows, count);
            compare(back, rows * stride, [&](std::size_t i) { return i % stride < count ? from[i] : kUntouched; });
        }
    }
}

// a of depth x rows as panels of rows.
static Floats packedRows(const SimdTable& simd, const Floats& a, std::size_t rows, std::size_t depth) {
    Floats packed((rows + simd.panelRows - 1) / simd.panelRows * simd.panelRows * depth);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t panel = row / simd.panelRows;
        for (std::size_t k = 0; k < depth; ++k)
            packed[(panel * depth + k) * simd.panelRows + row % simd.panelRows] = a[k * rows + row];
    }
    return packed;
}

void tst_cpu_simd::products() {
    const SimdTable& simd = table();
    const std::size_t width = simd.panelColumns;
    for (const std::size_t rows : {1u, 5u, 6u, 17u, 31u}) {
        for (const std::size_t columns : {1u, 7u, 15u, 16u, 24u, 32u}) {
            if (columns > width) continue;
            const std::size_t depth = 19, stride = columns + 2;
            const Floats a = noise(1, rows * depth), panel = noise(2, depth * width), bias = noise(3, columns);
            const Floats packed = packedRows(simd, a, rows, depth);
            const Floats before = noise(4, rows * stride);
            for (const auto& [adds, isPacked] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
                Floats c = guarded(rows * stride);
                std::copy(before.begin(), before.end(), c.begin());
                (isPacked ? simd.gemmPacked : simd.gemmPanel)({.a = isPacked ? packed.data() : a.data(),
                                                               .aRowStride = 1,
                                                               .aDepthStride = rows,
                                                               .panel = panel.data(),
                                                               .bias = bias.data(),
                                                               .c = c.data(),
                                                               .cRowStride = stride,
                                                               .rows = rows,
                                                               .depth = depth,
                                                               .columns = columns,
                                                               .adds = adds,
                                                               .relu = true});
                compare(c, rows * stride, [&](std::size_t i) {
                    const std::size_t row = i / stride, column = i % stride;
                    if (column >= columns) return static_cast<double>(before[i]);
                    double sum = bias[column] + (adds ? before[i] : 0.0f);
                    for (std::size_t k = 0; k < depth; ++k)
                        sum += static_cast<double>(a[k * rows + row]) * panel[k * width + column];
                    return std::max(sum, 0.0);
                });
            }
        }
    }
}

void tst_cpu_simd::laneConvolutions() {
    const SimdTable& simd = table();
    for (const int outputs : {1, 2, 6, 13}) {
        for (const int window : {1, 3, 5, 7}) {
            const int top = window / 2;
            const LaneConv s{.channels = 3,
                             .height = 6,
                             .width = 8 + window,
                             .outputs = outputs,
                             .rows = 6,
                             .columns = 9,
                             .windowHeight = window,
                             .windowWidth = window,
                             .top = top};
            const auto xCount = static_cast<std::size_t>(3 * 6 * s.width * 16);
            const auto wCount = static_cast<std::size_t>(outputs * 3 * window * window);
            const auto yCount = static_cast<std::size_t>(outputs * 6 * 9 * 16);
            const Floats x = noise(1, xCount), w = noise(2, wCount), bias = noise(3, 13), dy = noise(4, yCount);
            std::vector<double> wantY(yCount), wantSums(wCount * 16, 1);
            for (std::size_t i = 0; i < yCount; ++i) wantY[i] = bias[i / (6 * 9 * 16)];
            // Every product of a pixel, a weight and a pixel of y.
            for (int k = 0; k < outputs; ++k) {
                for (int c = 0; c < 3; ++c) {
                    for (int tap = 0; tap < window * window; ++tap) {
                        for (int at = 0; at < 6 * 9 * 16; ++at) {
                            const int lane = at % 16, column = at / 16 % 9, line = at / 16 / 9 + tap / window - top;
                            if (line < 0 || line >= 6) continue;
                            const auto from = static_cast<std::size_t>(
                                ((c * 6 + line) * s.width + column + tap % window) * 16 + lane);
                            const auto packed = static_cast<std::size_t>((c * window * window + tap) * outputs + k);
                            const auto sum =
                                static_cast<std::size_t>(((k * 3 + c) * window * window + tap) * 16 + lane);
                            const auto to = static_cast<std::size_t>(k * 6 * 9 * 16 + at);
                            wantY[to] += static_cast<double>(x[from]) * w[packed];
                            wantSums[sum] += static_cast<double>(x[from]) * dy[to];
                        }
                    }
                }
            }
            Floats y = guarded(yCount), sums = guarded(wCount * 16);
            simd.laneConv(s, x.data(), w.data(), bias.data(), true, y.data());
            compare(y, yCount, [&](std::size_t i) { return std::max(wantY[i], 0.0); });
            std::fill_n(sums.begin(), wCount * 16, 1.0f);
            simd.laneConvWeights(s, x.data(), dy.data(), sums.data());
            compare(sums, wCount * 16, [&](std::size_t i) { return wantSums[i]; });
        }
    }
}

void tst_cpu_simd::updates() {
    const SimdTable& simd = table();
    for (const std::size_t count : kLengths) {
        const Floats g = noise(1, count), w0 = noise(2, count), v0 = noise(3, count), s0 = noise(4, count, 6);
        const auto copied = [&](const Floats& from) {
            Floats to = guarded(count);
            std::copy(from.begin(), from.end(), to.begin());
            return to;
        };
        const auto bits = [&](const Floats& of) {
            std::uint32_t sum = 0;
            for (std::size_t i = 0; i < count; ++i) sum += std::bit_cast<std::uint32_t>(of[i]);
            return sum;
        };
        const auto isSummed = [&](const BitSums& sums, const Floats& before, const Floats& after) {
            return sums.found == bits(before) + 1 && sums.left == bits(after) + 2;
        };
        QCOMPARE(simd.bits(w0.data(), count), bits(w0));
        for (const bool nesterov : {false, true}) {
            Floats w = copied(w0), v = copied(v0);
            BitSums sums[] = {{1, 2}, {1, 2}};
            const UpdateRule rule{.kind = UpdateRule::Kind::Sgd, .momentum = 0.75, .nesterov = nesterov};
            simd.update({.rule = &rule,
                         .scale = 0.5,
                         .decay = 0.25,
                         .learningRate = 0.125,
                         .gradient = g.data(),
                         .w = w.data(),
                         .states = {v.data()},
                         .count = count,
                         .sums = sums});
            QVERIFY(isSummed(sums[0], w0, w) && isSummed(sums[1], v0, v));
            const auto velocity = [&](std::size_t i) { return 0.75 * v0[i] + 0.5 * g[i] + 0.25 * w0[i]; };
            compare(v, count, velocity);
            compare(w, count, [&](std::size_t i) {
                const double direction = nesterov ? 0.5 * g[i] + 0.25 * w0[i] + 0.75 * velocity(i) : velocity(i);
                return w0[i] - 0.125 * direction;
            });
        }
        Floats w = copied(w0), m = copied(v0), s = copied(s0);
        BitSums sums[] = {{1, 2}, {1, 2}, {1, 2}};
        const UpdateRule rule{.kind = UpdateRule::Kind::AdamW, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 0.125};
        simd.update({.rule = &rule,
                     .scale = 2,
                     .decay = 0.25,
                     .learningRate = 0.5,
                     .number = 2,
                     .gradient = g.data(),
                     .w = w.data(),
                     .states = {m.data(), s.data()},
                     .count = count,
                     .sums = sums});
        QVERIFY(isSummed(sums[0], w0, w) && isSummed(sums[1], v0, m) && isSummed(sums[2], s0, s));
        compare(m, count, [&](std::size_t i) { return 0.5 * v0[i] + g[i]; });
        compare(s, count, [&](std::size_t i) { return 0.75 * s0[i] + static_cast<double>(g[i]) * g[i]; });
        compare(w, count, [&](std::size_t i) {
            const double mean = 0.5 * v0[i] + g[i], square = 0.75 * s0[i] + static_cast<double>(g[i]) * g[i];
            return w0[i] - 0.5 * (mean / 0.75 / (std::sqrt(square / 0.4375) + 0.125) + 0.25 * w0[i]);
        });
        Floats averages = copied(v0);
        simd.average(w0.data(), 0.25f, averages.data(), count);
        compare(averages, count, [&](std::size_t i) { return 0.75 * v0[i] + 0.25 * w0[i]; });
    }
}

QTEST_APPLESS_MAIN(tst_cpu_simd)
#include "tst_cpu_simd.moc"
