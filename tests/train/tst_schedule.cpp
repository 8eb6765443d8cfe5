#include <QtTest>

#include "engine/train/schedule.h"

using namespace lockstep;

namespace {

std::vector<double> rates(const std::string& name, const std::map<std::string, ParamValue>& given, std::int64_t total,
                          std::int64_t perEpoch) {
    const auto params = ParamValues::from(findSchedule(name)->params, given, "schedule");
    const Schedule schedule(name, params.value(), 2.0, total, perEpoch);
    std::vector<double> out;
    for (std::int64_t step = 0; step < total; ++step) out.push_back(schedule.at(step));
    return out;
}

void compare(const std::vector<double>& actual, const std::vector<double>& expected) {
    QCOMPARE(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        QVERIFY2(std::abs(actual[i] - expected[i]) < 1e-12,
                 qPrintable(QString("step %1: %2").arg(i).arg(actual[i], 0, 'g', 17)));
    }
}

}  // namespace

class TstSchedule : public QObject {
    Q_OBJECT

private slots:
    void constant() { compare(rates("constant", {}, 4, 2), {2, 2, 2, 2}); }
    void constantAfterWarmup() { compare(rates("constant", {{"warmup", 2.0}}, 6, 2), {0.5, 1, 1.5, 2, 2, 2}); }

    void step() { compare(rates("step", {{"every", 2.0}, {"gamma", 0.5}}, 10, 2), {2, 2, 2, 2, 1, 1, 1, 1, 0.5, 0.5}); }
    void stepAfterWarmup() {
        compare(rates("step", {{"every", 2.0}, {"gamma", 0.5}, {"warmup", 1.0}}, 8, 2), {1, 2, 2, 2, 1, 1, 1, 1});
    }

    // 1 + cos(pi k / 4) for k = 0…3.
    void cosine() { compare(rates("cosine", {}, 4, 1), {2, 1.7071067811865475, 1, 0.2928932188134524}); }
    void cosineAfterWarmup() {
        compare(rates("cosine", {{"warmup", 1.0}, {"final", 0.5}}, 6, 2),
                {1, 2, 2, 1.8535533905932737, 1.5, 1.1464466094067263});
    }

    void oneCycle() {
        compare(rates("one-cycle", {{"rise", 0.5}}, 8, 4),
                {0.5, 1, 1.5, 2, 2, 1.7071067811865475, 1, 0.2928932188134524});
    }
    void oneCycleAfterWarmup() {
        compare(rates("one-cycle", {{"rise", 0.5}, {"warmup", 1.0}}, 6, 2), {0.5, 1, 1, 2, 2, 1});
    }

    // A rate never leaves 0…base, whatever the settings, not even when the warm-up is longer than the run.
    void ratesStayWithinBounds() {
        for (const ScheduleEntry& entry : schedules()) {
            for (const double warmup : {0.0, 0.3, 1.0, 50.0}) {
                for (const double rate : rates(entry.name, {{"warmup", warmup}}, 37, 5))
                    QVERIFY(rate >= 0 && rate <= 2);
            }
        }
    }

    // Goyal et al., section 2.1: k times the batch, k times the rate; the warm-up starts from the rate that was chosen.
    void theRateFollowsTheBatch() {
        QCOMPARE(rateFactor("none", 512, 128), 1.0);
        QCOMPARE(rateFactor("linear", 512, 128), 4.0);
        QCOMPARE(rateFactor("linear", 64, 128), 0.5);
        QCOMPARE(rateFactor("sqrt", 512, 128), 2.0);
        const auto params = ParamValues::from(findSchedule("constant")->params, {{"warmup", 1.0}}, "schedule");
        const Schedule schedule("constant", params.value(), 0.4, 40, 4, 0.25);
        const std::vector<double> expected{0.175, 0.25, 0.325, 0.4, 0.4};
        for (std::size_t step = 0; step < expected.size(); ++step)
            QVERIFY(std::abs(schedule.at(static_cast<std::int64_t>(step)) - expected[step]) < 1e-12);
    }

    void unknownNamesAreAbsent() { QVERIFY(!findSchedule("cosinus")); }
};

QTEST_APPLESS_MAIN(TstSchedule)
#include "tst_schedule.moc"
