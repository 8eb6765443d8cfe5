#include <QtTest>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/train/rate_range.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

// Of a loss that is a function of the rate alone.
RateTest tested(const RateRange& range, const std::function<double(double)>& lossAt) {
    RateTest test(range);
    for (std::int64_t update = 0; !test.isOver(); ++update) test.add(lossAt(range.at(update)));
    return test;
}

// Falls from 2 to 0.5, most steeply at 0.01, and rises beyond `spoils`.
double usualLoss(double rate, double spoils) {
    return 0.5 + 1.5 / (1 + std::pow(rate / 0.01, 2)) + std::pow(rate / spoils, 4);
}

double decades(double a, double b) { return std::abs(std::log10(a / b)); }

}  // namespace

class TestRateRange : public QObject {
    Q_OBJECT

private slots:
    void ratesGrowByTheSameFactor() {
        const RateRange range{1e-4, 1, 5};
        for (std::int64_t update = 0; update < 6; ++update)
            QVERIFY(std::abs(range.at(update) / std::pow(10.0, static_cast<double>(update - 4)) - 1) < 1e-12);
    }

    void ratesThatNoneCanHaveAreRefused() {
        const auto code = [](double from, double to) {
            const auto problem = problemOf(RateRange{from, to, 100});
            return problem ? problem->field + ' ' + problem->code : std::string();
        };
        const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
        QCOMPARE(code(1e-6, 10), std::string());
        QCOMPARE(code(1e-12, 1e6), std::string());
        for (const double bad : {nan, infinity, -infinity, 0.0, -1.0, 1e-13, 1e7}) {
            QCOMPARE(code(bad, 10), std::string("--from rate.outside"));
            QCOMPARE(code(1e-6, bad), std::string("--to rate.outside"));
        }
        QCOMPARE(code(1, 1), std::string("--to rate.range"));
        QCOMPARE(code(1, 0.1), std::string("--to rate.range"));
    }

    // The correction of the beginning: a constant stays what it is.
    void aConstantLossStays() {
        const RateTest test = tested({}, [](double) { return 2.0; });
        QCOMPARE(std::ssize(test.points()), std::ptrdiff_t{100});
        for (const RatePoint& point : test.points()) QVERIFY(std::abs(point.smoothed - 2) < 1e-12);
        QVERIFY(!test.blewUpAt() && !test.steepest());
    }

    // Smoothing looks back, by a tenth of seven decades at most.
    void theSteepestDescentIsFound() {
        for (const std::int64_t steps : {50, 100, 1000}) {
            const RateTest test = tested({1e-6, 10, steps}, [](double rate) { return usualLoss(rate, 1); });
            QVERIFY(test.steepest() && *test.steepest() >= 0.01);
            QVERIFY2(decades(*test.steepest(), 0.01) < 0.7, qPrintable(QString::number(*test.steepest())));
            QVERIFY(test.lowest()->rate > *test.steepest() && test.lowest()->rate < *test.blewUpAt());
        }
    }

    void noiseDoesNotDecide() {
        for (std::uint32_t seed = 0; seed < 20; ++seed) {
            std::uint32_t state = seed;
            const auto noise = [&state] {
                state = state * 1664525 + 1013904223;
                return 0.9 + 0.2 * static_cast<double>(state >> 8) / (1 << 24);
            };
            const RateTest test = tested({}, [&](double rate) { return noise() * usualLoss(rate, 1); });
            QVERIFY(test.steepest());
            QVERIFY2(decades(*test.steepest(), 0.02) < 1, qPrintable(QString::number(*test.steepest())));
        }
    }

    void itEndsWhereTheLossIsFourTimesItsBest() {
        const RateTest test = tested({}, [](double rate) { return usualLoss(rate, 0.3); });
        QVERIFY(test.isOver() && test.points().size() < 100);
        const auto& points = test.points();
        QCOMPARE(*test.blewUpAt(), points.back().rate);
        QVERIFY(points.back().smoothed > RateTest::kBlownUp * test.lowest()->smoothed);
        QVERIFY(points[points.size() - 2].smoothed <= RateTest::kBlownUp * test.lowest()->smoothed);
    }

    void itEndsWhereTheLossIsNoNumber() {
        for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            RateTest test = tested({}, [&](double rate) { return rate > 0.1 ? bad : usualLoss(rate, 1e9); });
            QVERIFY(test.blewUpAt() && decades(*test.blewUpAt(), 0.1) < 0.1);
            QVERIFY(test.steepest() && *test.steepest() < *test.blewUpAt());
            const auto count = test.points().size();
            test.add(1);
            QCOMPARE(test.points().size(), count);
        }
        RateTest atOnce({});
        atOnce.add(std::numeric_limits<double>::quiet_NaN());
        QVERIFY(atOnce.isOver() && !atOnce.lowest() && !atOnce.steepest());
    }

    void aLossThatOnlyRisesSuggestsNothing() {
        QVERIFY(!tested({}, [](double rate) { return 2 + rate; }).steepest());
        QVERIFY(!tested({}, [](double rate) { return 2 - 0.001 * std::log10(rate); }).steepest());
    }

    // All devices, and the report, take the rate that is given for an update in place of the schedule's.
    void aRunTakesTheRatesThatAreGiven() {
        TrialSpec spec = smallSpec("mlp", "reference:2");
        spec.epochs = 1;
        RunOptions options;
        options.learningRate = [](std::int64_t update) { return 0.001 * static_cast<double>(update + 1); };
        const Run ours = run({spec, patterns(32, 8), options, {}, true});
        const auto steps = ours.recorder.all<StepDone>();
        QVERIFY(!steps.empty());
        for (const StepDone& step : steps) QCOMPARE(step.learningRate, 0.001 * static_cast<double>(step.step));
        for (const auto& [step, hashes] : ours.hashes) QCOMPARE(hashes[0], hashes[1]);
        spec.schedule = {"constant", {}};
        spec.learningRate = 0.001;
        const Run constant = run({spec, patterns(32, 8), {}, {}, true});
        QCOMPARE(ours.hashes.at(1), constant.hashes.at(1));
        QVERIFY(ours.hashes.at(2) != constant.hashes.at(2));
    }
};

QTEST_APPLESS_MAIN(TestRateRange)
#include "tst_rate_range.moc"
