#include <QtTest>
#include <cmath>
#include <numeric>

#include "engine/search/parzen.h"
#include "engine/search/tpe.h"

using namespace lockstep;

namespace {

UnitPlace at(double u) { return {{u, u, u}}; }

bool isNear(double value, double wanted) { return std::abs(value - wanted) < 1e-7; }

// Observations of one dimension.
std::vector<UnitPlace> placesOf(const Dimension& dimension, const ChoiceOfValues& values) {
    std::vector<UnitPlace> places;
    for (const ParamValue& each : values) places.push_back({dimension.shareOf(each).value()});
    return places;
}

}  // namespace

// Against Optuna 5.0's estimator.
class TestParzen : public QObject {
    Q_OBJECT
private slots:
    void numbersOnALine() {
        const std::vector<ParzenAxis> axes(1);
        const std::vector<UnitPlace> seen{at(0.1), at(0.4), at(0.45), at(0.9)};
        const ParzenEstimator estimator(axes, seen);
        const double widths[] = {0.3, 0.3, 0.45, 0.45, 1};
        for (std::size_t i = 0; i < 5; ++i) QVERIFY(isNear(estimator.width(i, 0), widths[i]));
        QVERIFY(isNear(estimator.logDensity(at(0.2)), 0.13187610));
        QVERIFY(isNear(estimator.logDensity(at(0.5)), 0.11211134));
        QVERIFY(isNear(estimator.logDensity(at(0.95)), -0.36448002));
    }

    void wholeNumbersAndLogarithms() {
        const Dimension whole{"n", NumberRange{1, 8, false, true, 0, 0}, {}};
        const ParzenEstimator n(std::vector<ParzenAxis>(1), placesOf(whole, {2.0, 2.0, 7.0}));
        const double widths[] = {1.6, 5, 5, 8};
        for (std::size_t i = 0; i < 4; ++i) QVERIFY(isNear(n.width(i, 0) * 8, widths[i]));
        const Dimension rate{"r", NumberRange{1e-4, 1, true, false, 0, 0}, {}};
        const ParzenEstimator r(std::vector<ParzenAxis>(1), placesOf(rate, {1e-3, 1e-2, 0.3}));
        const double logs[] = {2.30258509, 3.40119738, 3.40119738, 9.21034037};
        for (std::size_t i = 0; i < 4; ++i) QVERIFY(isNear(r.width(i, 0) * std::log(1e4), logs[i]));
    }

    // A product of kernels: a rate on a log scale, a whole number and a choice. Optuna's density is that of the rate's
    // logarithm.
    void severalDimensions() {
        const Dimension rate{"r", NumberRange{1e-4, 1, true, false, 0, 0}, {}};
        const Dimension whole{"n", NumberRange{1, 8, false, true, 0, 0}, {}};
        const Dimension choice{"c", ChoiceOfValues{std::string("a"), std::string("b"), std::string("c")}, {}};
        const auto place = [&](double r, double n, const char* c) {
            return UnitPlace{rate.shareOf(r).value(), whole.shareOf(n).value(), choice.shareOf(std::string(c)).value()};
        };
        const std::vector<ParzenAxis> axes{{}, {}, {.isOrdered = false, .choices = 3}};
        const std::vector<UnitPlace> seen{place(1e-3, 2, "a"), place(1e-2, 2, "c"), place(0.3, 7, "c")};
        const double ours = ParzenEstimator(axes, seen).logDensity(place(1e-2, 3, "c"));
        const double theirs = ours - std::log(std::log(1e4));
        QVERIFY2(isNear(theirs, -4.78477315), qPrintable(QString::number(theirs, 'g', 12)));
    }

    void theNewestCountMost() {
        const std::vector<UnitPlace> seen(30, at(0.5));
        const auto weights = ParzenEstimator(std::vector<ParzenAxis>(1), seen).weights();
        const double wanted[] = {1.0 / 30, 0.275, 0.51666667, 0.75833333, 1, 1};
        for (std::size_t i = 0; i < 6; ++i) QVERIFY(isNear(weights[i] / weights.back(), wanted[i]));
        QVERIFY(isNear(std::accumulate(weights.begin(), weights.end(), 0.0), 1));
    }

    void aTenthIsGood() {
        const std::size_t counts[] = {0, 1, 10, 11, 100, 250, 1000}, good[] = {0, 1, 1, 2, 10, 25, 25};
        for (std::size_t i = 0; i < 7; ++i) QCOMPARE(goodOf(counts[i]), good[i]);
    }

    // What is drawn has the density that is told: shares of tenths of the line.
    void drawsFollowTheDensity() {
        const std::vector<UnitPlace> seen{at(0.05), at(0.1), at(0.7)};
        const ParzenEstimator estimator(std::vector<ParzenAxis>(1), seen);
        Draws draws(CounterRng(1, streamOf("test"), 0, 0));
        std::vector<int> counts(10);
        constexpr int kDraws = 20'000;
        for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(estimator.draw(draws)[0] * 10)];
        for (std::size_t i = 0; i < 10; ++i) {
            const auto low = static_cast<double>(i) / 10;
            const double mass = std::exp(estimator.logDensity({{low, low + 0.05, low + 0.1}}));
            const double deviation = std::sqrt(mass * (1 - mass) / kDraws);
            QVERIFY(std::abs(counts[i] / double(kDraws) - mass) < 5 * deviation);
        }
    }
};

QTEST_GUILESS_MAIN(TestParzen)
#include "tst_parzen.moc"
