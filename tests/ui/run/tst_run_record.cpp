#include <QtTest>
#include <cmath>
#include <limits>

#include "ui/plot/run_text.h"
#include "ui/run/derived_curve.h"
#include "ui/run/failure_text.h"
#include "ui/run/live_text.h"
#include "ui/run/run_record.h"

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

WorldChanged lost(std::int64_t goesOn, std::int64_t reached) {
    return {"lost-device", goesOn, reached, 1, "out of reach", {"cpu:0"}};
}

// Steps 1 to 7 at 10 ms each, an evaluation at 3 and at 6; then device 1 is lost, and step 4 stands.
RunRecord withALostDevice() {
    RunRecord record;
    record.take({1, started()});
    std::int64_t number = 2;
    for (int i = 1; i <= 7; ++i) {
        record.take({number++, step(i, i * 0.01)});
        if (i % 3 == 0) record.take({number++, evaluation(i, i * 0.01, 0.1 * i)});
    }
    record.take({number, lost(4, 7)});
    return record;
}

RunStarted onOneDevice() {
    RunStarted event = started(2, 4);
    event.devices = {"cpu:0"};
    return event;
}

const Explain kExplain = [](const Problem& problem) {
    return Explanation{"explained " + QString::fromStdString(problem.code), "do something"};
};

}  // namespace

class TestRunRecord : public QObject {
    Q_OBJECT
private slots:
    // Outside the numbering, and over with the first event that is within.
    void readingTheDataIsShown() {
        RunRecord record;
        const DataProgress reading{12000, 60000, 2304.4};
        QVERIFY(record.take({0, reading}) == RunRecord::Taken::Added);
        QCOMPARE(record.next(), std::int64_t{1});
        QVERIFY(record.take({0, DataProgress{320'000, 0, 0}}) == RunRecord::Taken::Added);
        QCOMPARE(liveProgress(record), QString("Listing files: 320,000"));
        QCOMPARE(livePermille(record), -1);
        QVERIFY(record.take({0, reading}) == RunRecord::Taken::Added);
        QCOMPARE(liveProgress(record), QString("Reading the data: 12,000 of 60,000 samples, 2,304/s"));
        QCOMPARE(livePermille(record), 200);
        QVERIFY(record.take({1, started()}) == RunRecord::Taken::Added);
        QVERIFY(!record.reading());
        QCOMPARE(livePermille(record), 0);
    }

    void measuringThePrecisionsIsShown() {
        RunRecord record;
        QCOMPARE(liveProgress(record), QString("Getting ready: data, devices, program"));
        QVERIFY(record.take({1, Message{"info", {"precision", kPrecisionMeasured, {"1"}}}}) == RunRecord::Taken::Added);
        QCOMPARE(liveProgress(record), QString("Getting ready: measuring in which precision it trains fastest"));
        const Problem chosen{"precision", "run.precision-chosen", {"bf16", "fp32 1, bf16 1.4"}};
        QVERIFY(record.take({2, Message{"info", chosen}}) == RunRecord::Taken::Added);
        QCOMPARE(liveProgress(record), QString("Getting ready: data, devices, program"));
    }

    void eventsFillTheRecord() {
        RunRecord record;
        QCOMPARE(record.take({1, started()}), RunRecord::Taken::Added);
        QCOMPARE(record.take({2, StateChanged{"running", 0}}), RunRecord::Taken::Added);
        QCOMPARE(record.state(), RunState::Running);
        for (int i = 1; i <= 100; ++i) record.take({i + 2, step(i, i * 0.01)});
        record.take({103, evaluation(100, 1.2, 0.75)});
        record.take({104, CheckpointWritten{100, 1, "last.safetensors", "last"}});
        record.take({105, Message{"warning", {"", "some.code", {}}}});
        QCOMPARE(record.curve("loss")->size(), std::size_t{100});
        QCOMPARE(record.curve("gradient_norm")->size(), std::size_t{100});
        QCOMPARE(record.curve(kRatePerDevice)->value(7), 500.0);
        QCOMPARE(record.curve("test_accuracy")->value(0), 0.75);
        QCOMPARE(record.best(*findMetric("test_accuracy")).value(), 0.75);
        QCOMPARE(record.totalSteps(), std::int64_t{400});
        QCOMPARE(livePermille(record), 250);
        QCOMPARE(record.notes().size(), std::size_t{1});
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
        QCOMPARE(record.curve("loss")->size(), std::size_t{1});
        record.giveUpUntil(4);
        QCOMPARE(record.missing(), std::int64_t{1});
        QCOMPARE(record.take({4, step(3, 0.3)}), RunRecord::Taken::Added);
        QCOMPARE(record.next(), std::int64_t{5});
    }

    void theTimeLeftIsToldOnceItIsSteady() {
        RunRecord record;
        record.take({1, started()});
        std::int64_t number = 2;
        double clock = 1.5;  // the first step is slow: kernels are prepared
        for (int i = 1; i <= 15; ++i, clock += 0.02) record.take({number++, step(i, clock)});
        QVERIFY(!record.remaining());
        for (int i = 16; i <= 100; ++i, clock += i % 10 ? 0.02 : 0.08) record.take({number++, step(i, clock)});
        clock += 0.5;
        record.take({number++, evaluation(100, clock, 0.5)});
        clock += 3;  // a checkpoint; not a step's time
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
            const double seconds = i <= 20 ? i : i - 20;  // a second attempt from step 21 on
            series["loss"].push_back({i, seconds, 100.0 + i});
            if (i != 7) series["accuracy"].push_back({i, seconds, 0.5});
        }
        series["test_loss"] = {{20, 20.5, 1}, {40, 20.5, 2}, {50, 31, 3}};
        record.addEarlier(series, 40, 2);
        record.expect(77);
        const auto loss = record.curve("loss"), accuracy = record.curve("accuracy");
        QCOMPARE(loss->size(), std::size_t{40});
        QCOMPARE(accuracy->size(), std::size_t{40});
        QVERIFY(std::isnan(accuracy->value(6)) && accuracy->value(7) == 0.5);
        QCOMPARE(loss->x(CurveAxis::Seconds, 39), 40.0);
        QCOMPARE(record.curve("test_loss")->size(), std::size_t{2});
        QCOMPARE(record.curve("test_loss")->x(CurveAxis::Seconds, 1), 40.5);
        QCOMPARE(record.take({80, started(3, 40)}), RunRecord::Taken::Added);
        QCOMPARE(record.take({81, step(41, 1)}), RunRecord::Taken::Added);
        QCOMPARE(record.missing(), std::int64_t{0});
        QCOMPARE(loss->x(CurveAxis::Seconds, 40), 41.0);
    }

    void anotherWorldTakesBackWhatItDoesAgain() {
        RunRecord record = withALostDevice();
        QVERIFY(record.awaitsWorld());
        QCOMPARE(record.step(), std::int64_t{4});
        for (const std::string_view which :
             {std::string_view("loss"), std::string_view("gradient_norm"), kRatePerDevice})
            QCOMPARE(record.curve(which)->size(), std::size_t{4});
        QCOMPARE(record.curve("test_accuracy")->size(), std::size_t{1});
        QCOMPARE(record.evaluations().size(), std::size_t{1});
        QVERIFY(std::abs(record.best(*findMetric("test_accuracy")).value() - 0.3) < 1e-12);

        QCOMPARE(record.take({12, onOneDevice()}), RunRecord::Taken::Added);
        QVERIFY(!record.awaitsWorld());
        QCOMPARE(record.ranks(), std::size_t{1});
        QCOMPARE(record.mean(0).total(), 0.0);
        for (int i = 5; i <= 9; ++i) {
            StepDone done = step(i, 0.01 * i);
            done.compute = {0.02F}, done.reduce = {0}, done.wait = {0};
            QCOMPARE(record.take({i + 8, done}), RunRecord::Taken::Added);
        }
        const auto loss = record.curve("loss");
        QCOMPARE(loss->size(), std::size_t{9});
        for (std::size_t i = 0; i < 9; ++i) {
            QCOMPARE(loss->x(CurveAxis::Step, i), static_cast<double>(i + 1));
            QCOMPARE(loss->value(i), 1.0 / static_cast<double>(i + 1));
            QVERIFY(i == 0 || loss->x(CurveAxis::Seconds, i) > loss->x(CurveAxis::Seconds, i - 1));
        }
        QCOMPARE(record.curve("samples_per_second")->x(CurveAxis::Step, 8), 9.0);
        QCOMPARE(record.curve(kRatePerDevice)->value(3), 500.0);  // of two devices then, of one now
        QCOMPARE(record.curve(kRatePerDevice)->value(4), 1000.0);
        QCOMPARE(record.missing(), std::int64_t{0});
    }

    // What views hold of before stays as it was: curves only grow.
    void whatIsTakenBackIsAnotherCurve() {
        RunRecord record;
        record.take({1, started()});
        for (int i = 1; i <= 7; ++i) record.take({i + 1, step(i, i * 0.01)});
        const auto before = record.curve("loss");
        record.take({9, lost(7, 7)});
        QCOMPARE(record.curve("loss"), before);  // nothing is done again
        record.take({10, started(2, 6)});
        QVERIFY(record.curve("loss") != before);
        QCOMPARE(before->size(), std::size_t{7});
        QCOMPARE(record.curve("loss")->size(), std::size_t{6});
    }

    // The next world's clock goes on from its snapshot's, which knows of no evaluation, or begins at 0.
    void theClockGoesOnInAnotherWorld() {
        for (const double first : {0.035, 0.01}) {
            RunRecord record = withALostDevice();
            record.take({12, onOneDevice()});
            record.take({13, step(5, first)});
            record.take({14, step(6, first + 0.01)});
            const auto loss = record.curve("loss");
            QVERIFY(std::abs(loss->x(CurveAxis::Seconds, 4) - 0.05) < 1e-12);
            QVERIFY(std::abs(loss->x(CurveAxis::Seconds, 5) - 0.06) < 1e-12);
            QVERIFY(std::abs(record.seconds() - 0.06) < 1e-12);
            record.take({15, evaluation(6, first + 0.02, 0.5)});
            QVERIFY(std::abs(record.curve("test_loss")->x(CurveAxis::Seconds, 1) - 0.07) < 1e-12);
        }
    }

    void nothingIsMissedBetweenTwoWorlds() {
        RunRecord record = withALostDevice();
        QCOMPARE(record.take({14, onOneDevice()}), RunRecord::Taken::Gap);
        QCOMPARE(record.take({12, onOneDevice()}), RunRecord::Taken::Added);
        QCOMPARE(record.take({12, onOneDevice()}), RunRecord::Taken::Doubled);
    }

    void whatHappenedIsSaid() {
        const auto said = [](const RunNote& note) { return liveNote(note, kExplain); };
        QCOMPARE(said(lost(4, 7)), QString("⚠ Device 1 was lost at step 7; going on after step 4 with 1 device, 3 "
                                           "steps again.\nIt said: out of reach"));
        QCOMPARE(said(WorldChanged{"scaled", 20, 20, -1, "", {"cpu:0", "cpu:1", "cpu:2"}}),
                 QString("The number of devices was changed at step 20; going on after step 20 with 3 devices."));
        QCOMPARE(said(WorldChanged{"balanced", 20, 20, -1, "3,1", {"cpu:0", "cpu:1"}}),
                 QString("The parts of the batch were balanced at step 20; going on after step 20 with 2 devices.\n"
                         "Parts by device: 3,1"));
        QVERIFY(said(WorldChanged{"diverged", 20, 21, -1, "they differ", {"cpu:0", "cpu:1"}}).contains("1 step again"));
        QCOMPARE(
            said(StragglerFound{50, 1, "compute", 0.012, 0.25}),
            QString(
                "Device 1 keeps the others waiting: 12.00 ms per update (25 %), it computes longer. Seen at step 50."));
        QVERIFY(said(StragglerFound{50, 1, "data", 0.012, 0.25}).contains("samples"));
        QCOMPARE(said(Message{"warning", {"", "some.code", {}}}), QString("⚠ explained some.code\ndo something"));
        RunFinished end;
        end.heldUp = {0, 72, 3.5};
        QCOMPARE(said(end), QString("In all, device 1 kept the others waiting for 1 min 12 s.\n"
                                    "In all, device 2 kept the others waiting for 3.5 s."));
    }

    // As earlier versions did, whose runs are looked at still.
    void aStragglerNamedAgainAndAgainIsOneNote() {
        RunRecord record;
        record.addEarlier(started());
        for (int step = 50; step < 1000; step += 50)
            record.addEarlier(StragglerFound{step, step / 50 % 2, "compute", 0.0002, 0.2});
        QCOMPARE(record.notes().size(), std::size_t{2});
        record.expect(9);
        record.take({9, started(2, 200)});
        record.take({10, StragglerFound{250, 1, "compute", 0.012, 0.25}});
        record.take({11, StragglerFound{300, 1, "data", 0.012, 0.25}});
        QCOMPARE(record.notes().size(), std::size_t{3});
        RunFinished end;
        record.take({12, end});
        QCOMPARE(record.notes().size(), std::size_t{3});
        end.heldUp = {0, 4};
        record.take({13, end});
        QCOMPARE(record.notes().size(), std::size_t{4});
    }

    void theHeaderSaysWhatIsUnusual() {
        RunRecord record;
        RunStarted usual = started();
        usual.shares = {33, 32};
        usual.batchNorm = "local";
        record.take({1, usual});
        QCOMPARE(liveSubtitle({}, record), QString("2 devices · 0 parameters"));
        usual.shares = {43, 22};
        usual.batchNorm = "synchronised";
        usual.linkBandwidth = 100;
        usual.linkLatency = 50;
        usual.virtualDevices = true;
        record.take({2, usual});
        QCOMPARE(liveSubtitle({}, record),
                 QString("2 virtual devices · 0 parameters · parts of 43, 22 samples · batch norm over "
                         "all devices · simulated links: 100 MB/s, 50 µs"));
    }

    void aHangNamesWhoWaitedForWhom() {
        RunRecord record;
        record.take({1, started()});
        RunFailed hang{"collective", "operation 7", "rank 1 did not come to it within 300 s", 1, 3};
        hang.collective = "all-reduce of 10 f32";
        hang.sequence = 7;
        hang.waiting = {0, 2, 3};
        record.take({2, hang});
        const auto text = failureText(record, 7, true, "run.log", kExplain);
        QVERIFY(text.what.contains("Device 1"));
        QVERIFY2(text.why.contains("Devices 0, 2 and 3 waited") && text.why.contains("all-reduce of 10 f32, number 7"),
                 qPrintable(text.why));
        QVERIFY(text.next.contains("without device 1") && text.next.contains("timeout"));
        QVERIFY(text.details.contains("sequence: 7") && text.details.contains("all-reduce of 10 f32"));
    }

    // Two devices to step 6, then one from step 4 on: what is read of it afterwards.
    void earlierWorldsHadTheirDevices() {
        RunRecord record;
        record.addEarlier(started());
        record.addEarlier(StateChanged{"running", 0});
        record.addEarlier(lost(4, 6));
        record.addEarlier(onOneDevice());
        record.addEarlier(StragglerFound{50, 1, "compute", 0.012, 0.25});
        std::map<std::string, std::vector<SeriesPoint>> series;
        for (int i = 1; i <= 8; ++i) {
            series["loss"].push_back({i, 0.1 * i, 1});
            series["samples_per_second"].push_back({i, 0.1 * i, 1000});
        }
        record.addEarlier(series, 8, 3);
        const auto rates = record.curve(kRatePerDevice);
        QCOMPARE(rates->value(3), 500.0);
        QCOMPARE(rates->value(4), 1000.0);
        QCOMPARE(record.notes().size(), std::size_t{2});
        QVERIFY(std::holds_alternative<StragglerFound>(record.notes()[1]));
        QVERIFY(!record.started() && !record.awaitsWorld());
    }

    // By a later attempt, within this process or before it.
    void textsAreTakenBackWithTheirSteps() {
        const auto sample = [](std::int64_t step) { return TextSample{step, step / 100, "a", std::to_string(step)}; };
        RunRecord record;
        record.addEarlier(started());
        for (const std::int64_t at : {100, 200, 300}) record.addEarlier(sample(at));
        record.addEarlier(started(2, 200));
        record.addEarlier(sample(300));
        record.expect(9);
        RunStarted third = started(3, 200);
        third.task = "next-tokens";
        record.take({9, third});
        record.take({10, sample(300)});
        record.take({11, lost(250, 310)});
        QVERIFY(record.texts() == (std::vector{sample(100), sample(200)}));
        QVERIFY(record.isLanguageModel());
    }

    void languageModelsAreToldByTheirPerplexity() {
        RunRecord record;
        RunStarted begun = started();
        begun.task = "next-tokens";
        record.take({1, begun});
        std::int64_t number = 2;
        for (const double loss : {std::log(16.0), std::log(4.0), std::log(8.0)}) {
            StepDone done = step(number - 1, 0.1);
            done.loss = loss;
            record.take({number++, done});
        }
        const Metric& perplexity = *findMetric("perplexity");
        DerivedCurve perplexities;
        const auto curve = perplexities.follow(record.curve("loss"), perplexity);
        QCOMPARE(curve->size(), std::size_t{3});
        QVERIFY(std::abs(curve->value(1) - 4) < 1e-12);
        record.take({number, step(4, 0.5)});
        QCOMPARE(perplexities.follow(record.curve("loss"), perplexity), curve);
        QCOMPARE(curve->size(), std::size_t{4});
        QCOMPARE(curve->x(CurveAxis::Step, 3), 4.0);
        EvalDone tested = evaluation(100, 1, 0.5);
        tested.loss = std::log(4.0);
        record.take({number + 1, tested});
        const QString told = liveProgress(record);
        QVERIFY2(told.contains("best test perplexity 4.000, 2.000 bits per byte"), qPrintable(told));
        QVERIFY(!told.contains("accuracy"));
        record.take({number + 2, lost(2, 4)});
        QCOMPARE(perplexities.follow(record.curve("loss"), perplexity)->size(), std::size_t{2});
    }

    void aValueThatIsNoneLeavesTheRest() {
        RunRecord record;
        record.take({1, started()});
        StepDone bad = step(1, 0.1);
        bad.loss = std::numeric_limits<double>::quiet_NaN();
        record.take({2, bad});
        record.take({3, step(2, 0.2)});
        QCOMPARE(record.curve("loss")->sample(CurveAxis::Step, 0, 10, 10).size(), std::size_t{1});
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
