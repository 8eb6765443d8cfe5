#include <QtTest>
#include <cmath>
#include <limits>

#include "ui/models/failure_text.h"
#include "ui/models/live_text.h"
#include "ui/models/run_record.h"
#include "ui/models/run_text.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

RunStarted started(std::int64_t attempt = 1, std::int64_t firstStep = 0) {
    RunStarted event;
    event.attempt = attempt;
    event.deviceText = "cpu:2";
    event.devices = {"cpu:0", "cpu:1"};
    event.stepsPerEpoch = 100;
    event.epochs = 4;
    event.firstStep = firstStep;
    return event;
}

StepDone step(std::int64_t number, double seconds) {
    StepDone event;
    event.step = number;
    event.epoch = (number - 1) / 100 + 1;
    event.loss = 1.0 / static_cast<double>(number);
    event.seconds = seconds;
    event.samplesPerSecond = 1000;
    event.compute = {0.008F, 0.006F};
    event.reduce = {0.001F, 0.003F};
    event.wait = {0.001F, 0.001F};
    return event;
}

EvalDone evaluation(std::int64_t number, double seconds, double accuracy) {
    EvalDone event;
    event.step = number;
    event.epoch = number / 100;
    event.seconds = seconds;
    event.accuracy = accuracy;
    return event;
}

const Explain kExplain = [](const Problem& problem) {
    return Explanation{"explained " + QString::fromStdString(problem.code), "do something"};
};

}  // namespace

class TestRunRecord : public QObject {
    Q_OBJECT
private slots:
    void eventsFillTheRecord() {
        RunRecord record;
        QCOMPARE(record.take({1, started()}), RunRecord::Taken::Added);
        QCOMPARE(record.take({2, StateChanged{"running", 0}}), RunRecord::Taken::Added);
        QCOMPARE(record.state(), RunState::Running);
        for (int i = 1; i <= 100; ++i) record.take({i + 2, step(i, i * 0.01)});
        record.take({103, evaluation(100, 1.2, 0.75)});
        record.take({104, CheckpointWritten{100, 1, "last.safetensors", "last"}});
        record.take({105, Message{"warning", {"", "some.code", {}}}});
        QCOMPARE(record.curve(RunCurve::Loss)->size(), std::size_t{100});
        QCOMPARE(record.curve(RunCurve::GradientNorm)->size(), std::size_t{100});
        QCOMPARE(record.curve(RunCurve::RatePerDevice)->value(7), 500.0);
        QCOMPARE(record.curve(RunCurve::TestAccuracy)->value(0), 0.75);
        QCOMPARE(record.bestAccuracy().value(), 0.75);
        QCOMPARE(record.totalSteps(), std::int64_t{400});
        QCOMPARE(livePermille(record), 250);
        QCOMPARE(record.messages().size(), std::size_t{1});
        QVERIFY(std::abs(record.mean(1).compute - 0.006) < 1e-6);
        QVERIFY(std::abs(record.latest(0).total() - 0.01) < 1e-6);
        record.take({106, RunFinished{"stopped", 1, 100, 1, 0.75, 0.5, 0.75, 1000, 1.2}});
        QCOMPARE(record.state(), RunState::Stopped);
        QVERIFY(!record.remaining());
    }

    void doubledAndMissingNumbersAreNoticed() {
        RunRecord record;
        record.take({1, started()});
        record.take({2, step(1, 0.1)});
        QCOMPARE(record.take({2, step(1, 0.1)}), RunRecord::Taken::Doubled);
        QCOMPARE(record.take({4, step(3, 0.3)}), RunRecord::Taken::Gap);
        QCOMPARE(record.curve(RunCurve::Loss)->size(), std::size_t{1});
        record.giveUpUntil(4);
        QCOMPARE(record.missing(), std::int64_t{1});
        QCOMPARE(record.take({4, step(3, 0.3)}), RunRecord::Taken::Added);
        QCOMPARE(record.next(), std::int64_t{5});
    }

    void theTimeLeftIsToldOnceItIsSteady() {
        RunRecord record;
        record.take({1, started()});
        std::int64_t number = 2;
        double clock = 1.5;                        // the first step is slow: kernels are prepared
        for (int i = 1; i <= 15; ++i, clock += 0.02) record.take({number++, step(i, clock)});
        QVERIFY(!record.remaining());
        for (int i = 16; i <= 100; ++i, clock += i % 10 ? 0.02 : 0.08) record.take({number++, step(i, clock)});
        clock += 0.5;
        record.take({number++, evaluation(100, clock, 0.5)});
        clock += 3;                                // a checkpoint; not a step's time
        record.take({number++, step(101, clock)});
        const double truth = 299 * 0.02 + 3 * 0.5;
        QVERIFY2(std::abs(record.remaining().value() - truth) < 0.1 * truth,
                 qPrintable(QString::number(*record.remaining())));
    }

    void nothingIsPromisedWhileTheSpeedChanges() {
        Eta eta;
        for (int i = 0; i < 60; ++i) eta.addStep(0.01);
        QVERIFY(eta.remaining(10, 0));
        for (int i = 0; i < 60; ++i) eta.addStep(0.05);
        QVERIFY(!eta.remaining(10, 0));
        for (int i = 0; i < 256; ++i) eta.addStep(0.05);
        QVERIFY(std::abs(eta.remaining(100, 0).value() - 5) < 1e-9);
    }

    // An attempt starts its clock again; the record's goes on, and what the resume took back is left out.
    void attemptsFollowOneAnother() {
        RunRecord record;
        std::map<std::string, std::vector<SeriesPoint>> series;
        for (int i = 1; i <= 50; ++i) {
            const double seconds = i <= 20 ? i : i - 20;             // a second attempt from step 21 on
            series["loss"].push_back({i, seconds, 100.0 + i});
            if (i != 7) series["accuracy"].push_back({i, seconds, 0.5});
        }
        series["test_loss"] = {{20, 20.5, 1}, {40, 20.5, 2}, {50, 31, 3}};
        record.addEarlier(series, 40, 2);
        record.expect(77);
        const auto loss = record.curve(RunCurve::Loss), accuracy = record.curve(RunCurve::Accuracy);
        QCOMPARE(loss->size(), std::size_t{40});
        QCOMPARE(accuracy->size(), std::size_t{40});
        QVERIFY(std::isnan(accuracy->value(6)) && accuracy->value(7) == 0.5);
        QCOMPARE(loss->x(CurveAxis::Seconds, 39), 40.0);
        QCOMPARE(record.curve(RunCurve::TestLoss)->size(), std::size_t{2});
        QCOMPARE(record.curve(RunCurve::TestLoss)->x(CurveAxis::Seconds, 1), 40.5);
        QCOMPARE(record.take({80, started(3, 40)}), RunRecord::Taken::Added);
        QCOMPARE(record.take({81, step(41, 1)}), RunRecord::Taken::Added);
        QCOMPARE(record.missing(), std::int64_t{0});
        QCOMPARE(loss->x(CurveAxis::Seconds, 40), 41.0);
    }

    void aValueThatIsNoneLeavesTheRest() {
        RunRecord record;
        record.take({1, started()});
        StepDone bad = step(1, 0.1);
        bad.loss = std::numeric_limits<double>::quiet_NaN();
        record.take({2, bad});
        record.take({3, step(2, 0.2)});
        QCOMPARE(record.curve(RunCurve::Loss)->sample(CurveAxis::Step, 0, 10, 10).size(), std::size_t{1});
    }

    void failuresAreExplained() {
        RunRecord record;
        record.take({1, started()});
        record.take({2, RunFailed{"out-of-memory", "conv2d block3 on cpu:1", "4 GiB more are needed", 1, 12, {}}});
        auto text = failureText(record, 7, true, "run.log", kExplain);
        QVERIFY(text.what.contains("memory") && text.why.contains("4 GiB") && text.why.contains("device 1"));
        QVERIFY(text.next.contains("batch") && text.details.contains("rank: 1") && text.details.contains("run.log"));

        record.take({3, failureFrom({"train.gz", "idx.truncated", {"60000"}})});
        text = failureText(record, 7, true, "run.log", kExplain);
        QCOMPARE(text.why, QString("explained idx.truncated (in train.gz)"));
        QCOMPARE(text.next, QString("do something"));

        RunRecord crashed;
        crashed.take({1, started()});
        crashed.setState(RunState::Crashed);
        QVERIFY(failureText(crashed, 7, true, "", kExplain).next.contains("checkpoint"));
        QVERIFY(failureText(crashed, 7, false, "", kExplain).next.contains("anew"));
    }

    void numbersRead() {
        QCOMPARE(runDuration(72), QString("1 min 12 s"));
        QCOMPARE(runDuration(0.44), QString("0.4 s"));
        QCOMPARE(runDuration(59.7), QString("1 min 00 s"));
        QCOMPARE(runDuration(3 * 3600 + 300), QString("3 h 05 min"));
        QCOMPARE(runCount(1234567), QString("1,234,567"));
        QCOMPARE(runPercent(0.9127), QString("91.27 %"));
        QCOMPARE(runPercent(std::nan("")), QString("–"));
        QCOMPARE(runStepTime(0.00342), QString("3.42 ms"));
        QCOMPARE(runNumber(0.123456), QString("0.1235"));
        QCOMPARE(runNumber(12.3456), QString("12.35"));
        QCOMPARE(runNumber(0.0001), QString("1.00e-04"));
    }
};

QTEST_APPLESS_MAIN(TestRunRecord)
#include "tst_run_record.moc"
