#include <QtTest>

#include <cmath>
#include <functional>
#include <vector>

#include "engine/backend/cpu/simd/table.h"
#include "engine/core/random.h"

using namespace lockstep;
using namespace lockstep::cpu;

// Every instruction set's loops against plain ones in double, for runs of every length, and nothing written behind them.
class tst_cpu_simd : public QObject {
    Q_OBJECT
private slots:
    void sums_data() { tables(); }
    void sums();
    void norms_data() { tables(); }
    void norms();
    void normGradients_data() { tables(); }
    void normGradients();
    void elementwise_data() { tables(); }
    void elementwise();
    void updates_data() { tables(); }
    void updates();

private:
    static void tables();
};

namespace {

constexpr std::size_t kGuard = 16;
constexpr float kUntouched = 777;
const std::vector<std::size_t> kLengths{1, 7, 8, 15, 16, 17, 31, 32, 40, 200, 4096 + 16, 9001};

using Floats = std::vector<float>;

Floats noise(std::uint64_t stream, std::size_t count, double offset = 0) {
    const CounterRng rng(3, stream, 0, 0);
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(rng.normal(static_cast<std::uint32_t>(i)) + offset);
    return values;
}

Floats guarded(std::size_t count) { return Floats(count + kGuard, kUntouched); }

void compare(const Floats& actual, std::size_t count, const std::function<double(std::size_t)>& expected) {
    for (std::size_t i = 0; i < count; ++i) {
        const double want = expected(i);
        QVERIFY2(std::abs(actual[i] - want) <= 2e-5 * (1 + std::abs(want)), std::to_string(i).c_str());
    }
    for (std::size_t i = count; i < actual.size(); ++i) QCOMPARE(actual[i], kUntouched);
}

const SimdTable& table() {
    QFETCH(int, index);
    return *allSimd()[static_cast<std::size_t>(index)];
}

}  // namespace

void tst_cpu_simd::tables() {
    QTest::addColumn<int>("index");
    const auto all = allSimd();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i]) QTest::newRow(all[i]->name) << static_cast<int>(i);
    }
}

void tst_cpu_simd::sums() {
    const SimdTable& simd = table();
    for (const std::size_t count : kLengths) {
        const Floats x = noise(1, count, 3), shift = noise(2, 16, 3);
        double sum[16] = {}, square[16] = {}, plain[16] = {}, wantSum[16] = {}, wantSquare[16] = {}, wantPlain[16] = {};
        double squares = 0;
        simd.moments(x.data(), count, shift.data(), sum, square);
        simd.sum(x.data(), count, plain);
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
    const Floats mean = noise(3, 16), scale = noise(4, 16), offset = noise(5, 16), mean2 = noise(6, 16), scale2 = noise(7, 16);
    for (const std::size_t count : kLengths) {
        const Floats x = noise(1, count), r = noise(2, count);
        for (const int residual : {0, 1, 2}) {
            for (const bool relu : {false, true}) {
                Floats y = guarded(count);
                simd.norm({.x = x.data(), .r = r.data(), .y = y.data(), .count = count, .mean = mean.data(),
                           .scale = scale.data(), .offset = offset.data(), .mean2 = mean2.data(), .scale2 = scale2.data()},
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
    const Floats mean = noise(3, 16), scale = noise(4, 16), offset = noise(5, 16), slope = noise(6, 16), shift = noise(7, 16);
    const Floats mean2 = noise(8, 16), scale2 = noise(9, 16), slope2 = noise(10, 16), shift2 = noise(11, 16);
    for (const std::size_t count : kLengths) {
        const Floats g1 = noise(12, count), g2 = noise(13, count), x = noise(14, count), z = noise(15, count), x2 = noise(16, count);
        for (const GradMask mask : {GradMask::None, GradMask::Recomputed, GradMask::FromOutput}) {
            for (const bool pair : {false, true}) {
                for (const GradOther other : {GradOther::None, GradOther::Kept, GradOther::Norm}) {
                    Floats out = guarded(count), dx = guarded(count);
                    const GradRun run{.g1 = g1.data(), .g2 = pair ? g2.data() : nullptr, .x = x.data(), .z = z.data(),
                                      .x2 = x2.data(), .out = out.data(), .dx = dx.data(), .count = count,
                                      .mean = mean.data(), .scale = scale.data(), .offset = offset.data(),
                                      .slope = slope.data(), .shift = shift.data(), .mean2 = mean2.data(),
                                      .scale2 = scale2.data(), .slope2 = slope2.data(), .shift2 = shift2.data()};
                    const auto gradient = [&](std::size_t i) {
                        const std::size_t k = i % 16;
                        const float seen = mask == GradMask::FromOutput ? z[i]
                                           : mask == GradMask::None     ? 1
                                                                        : (x[i] - mean[k]) * scale[k] + offset[k];
                        return seen > 0 ? static_cast<double>(g1[i]) + (pair ? g2[i] : 0) : 0.0;
                    };
                    simd.gradApply(run, mask, pair, other);
                    compare(dx, count, [&](std::size_t i) {
                        const std::size_t k = i % 16;
                        return gradient(i) * scale[k] + (static_cast<double>(x[i]) - mean[k]) * slope[k] + shift[k];
                    });
                    compare(out, other == GradOther::None ? 0 : count, [&](std::size_t i) {
                        const std::size_t k = i % 16;
                        if (other == GradOther::Kept) return gradient(i);
                        return gradient(i) * scale2[k] + (static_cast<double>(x2[i]) - mean2[k]) * slope2[k] + shift2[k];
                    });
                    double s[16] = {}, q[16] = {}, r[16] = {}, wantS[16] = {}, wantQ[16] = {}, wantR[16] = {};
                    simd.gradSums(run, {s, q, r}, mask, pair, other == GradOther::Norm);
                    for (std::size_t i = 0; i < count; ++i) {
                        wantS[i % 16] += gradient(i);
                        wantQ[i % 16] += gradient(i) * (static_cast<double>(x[i]) - mean[i % 16]);
                        if (other == GradOther::Norm) wantR[i % 16] += gradient(i) * (static_cast<double>(x2[i]) - mean2[i % 16]);
                    }
                    for (int lane = 0; lane < 16; ++lane) {
                        const double tolerance = 2e-6 * (static_cast<double>(count) + 1);
                        QVERIFY(std::abs(s[lane] - wantS[lane]) <= tolerance);
                        QVERIFY(std::abs(q[lane] - wantQ[lane]) <= tolerance);
                        QVERIFY(std::abs(r[lane] - wantR[lane]) <= tolerance);
                    }
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
        simd.relu(a.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return std::max(a[i], 0.0f); });
        simd.reluBackward(a.data(), b.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return a[i] > 0 ? b[i] : 0; });
        simd.add(a.data(), b.data(), y.data(), count);
        compare(y, count, [&](std::size_t i) { return static_cast<double>(a[i]) + b[i]; });
        simd.scale(a.data(), 3, y.data(), count);
        compare(y, count, [&](std::size_t i) { return 3.0 * a[i]; });
    }
    const float nan = std::nanf("");
    float y[17];
    const Floats nans(17, nan);
    simd.relu(nans.data(), y, 17);
    QVERIFY(std::isnan(y[0]) && std::isnan(y[16]));
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
        for (const bool nesterov : {false, true}) {
            Floats w = copied(w0), v = copied(v0);
            simd.sgd({0.5f, 0.25f, 0.75f, 0.125f, nesterov}, g.data(), w.data(), v.data(), count);
            const auto velocity = [&](std::size_t i) { return 0.75 * v0[i] + 0.5 * g[i] + 0.25 * w0[i]; };
            compare(v, count, velocity);
            compare(w, count, [&](std::size_t i) {
                const double direction = nesterov ? 0.5 * g[i] + 0.25 * w0[i] + 0.75 * velocity(i) : velocity(i);
                return w0[i] - 0.125 * direction;
            });
        }
        Floats w = copied(w0), m = copied(v0), s = copied(s0);
        simd.adamW({.scale = 2, .decay = 0.25f, .beta1 = 0.5f, .beta2 = 0.75f, .rest1 = 0.5f, .rest2 = 0.25f,
                    .epsilon = 0.125f, .learningRate = 0.5f, .correction1 = 2, .correction2 = 4},
                   g.data(), w.data(), m.data(), s.data(), count);
        compare(m, count, [&](std::size_t i) { return 0.5 * v0[i] + g[i]; });
        compare(s, count, [&](std::size_t i) { return 0.75 * s0[i] + static_cast<double>(g[i]) * g[i]; });
        compare(w, count, [&](std::size_t i) {
            const double mean = 0.5 * v0[i] + g[i], square = 0.75 * s0[i] + static_cast<double>(g[i]) * g[i];
            return w0[i] - 0.5 * (2 * mean / (std::sqrt(4 * square) + 0.125) + 0.25 * w0[i]);
        });
    }
}

QTEST_APPLESS_MAIN(tst_cpu_simd)
#include "tst_cpu_simd.moc"
