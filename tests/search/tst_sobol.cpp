#include <QtTest>
#include <cmath>
#include <set>

#include "engine/core/random.h"
#include "engine/search/search_points.h"
#include "engine/search/sobol.h"

using namespace lockstep;

namespace {

// Centred discrepancy: Hickernell, "A generalized discrepancy and quadrature error bound", Math. Comp. 67, 1998;
// squared, as SciPy gives it.
double centredDiscrepancy(const std::vector<std::vector<double>>& points) {
    const auto n = static_cast<double>(points.size()), d = static_cast<double>(points.front().size());
    double one = 0, two = 0;
    for (const auto& x : points) {
        double product = 1;
        for (const double v : x) product *= 1 + 0.5 * std::abs(v - 0.5) - 0.5 * (v - 0.5) * (v - 0.5);
        one += product;
        for (const auto& y : points) {
            double pair = 1;
            for (std::size_t k = 0; k < x.size(); ++k)
                pair *= 1 + 0.5 * std::abs(x[k] - 0.5) + 0.5 * std::abs(y[k] - 0.5) - 0.5 * std::abs(x[k] - y[k]);
            two += pair;
        }
    }
    return std::pow(13.0 / 12, d) - 2 / n * one + two / (n * n);
}

std::vector<std::vector<double>> points(const char* method, std::uint64_t seed, std::uint32_t count, std::size_t d) {
    std::vector<std::vector<double>> all;
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(searchPoint(method, seed, i, d));
    return all;
}

}  // namespace

class TestSobol : public QObject {
    Q_OBJECT
private slots:
    void itBeginsAsPublished() {
        const double expected[5][3] = {{0, 0, 0}, {.5, .5, .5}, {.75, .25, .25}, {.25, .75, .75}, {.375, .375, .625}};
        for (std::uint32_t i = 0; i < 5; ++i) {
            for (std::size_t d = 0; d < 3; ++d) QCOMPARE(sobolPoint(i, 3)[d] * 0x1p-32, expected[i][d]);
        }
    }

    // FNV-1a over the words of SciPy 1.17's qmc.Sobol(40, scramble=False, bits=32).random(1024).
    void itIsThatOfSciPy() {
        std::uint64_t hash = streamOf("");
        for (std::uint32_t i = 0; i < 1024; ++i) {
            for (const std::uint32_t word : sobolPoint(i, kSobolDimensions)) hash = (hash ^ word) * 1099511628211ull;
        }
        QCOMPARE(hash, 0x8406c475a09ea325ull);
    }

    // Whatever the seed, each interval of 1/256 of each axis has one of the first 256 points, and all nearby ones stay
    // so for each block that follows.
    void scramblingKeepsTheNet() {
        for (const std::uint64_t seed : {0ull, 1ull, 99ull}) {
            for (const std::uint32_t begin : {0u, 256u}) {
                for (int d = 0; d < 10; ++d) {
                    std::set<int> met;
                    for (std::uint32_t i = begin; i < begin + 256; ++i)
                        met.insert(
                            static_cast<int>(256 * scrambledSobolPoint(seed, i, 10)[static_cast<std::size_t>(d)]));
                    QCOMPARE(met.size(), 256u);
                }
            }
        }
        QVERIFY(scrambledSobolPoint(1, 0, 3) != scrambledSobolPoint(2, 0, 3));
        QVERIFY(scrambledSobolPoint(1, 5, 3) == scrambledSobolPoint(1, 5, 3));
    }

    void itIsMoreEvenThanChance() {
        for (const std::uint64_t seed : {1ull, 2ull, 3ull}) {
            const double sobol = centredDiscrepancy(points("sobol", seed, 256, 6));
            const double random = centredDiscrepancy(points("random", seed, 256, 6));
            QVERIFY2(sobol < 9e-4 && random > 4e-3, qPrintable(QString("%1 and %2").arg(sobol).arg(random)));
        }
    }
};

QTEST_GUILESS_MAIN(TestSobol)
#include "tst_sobol.moc"
