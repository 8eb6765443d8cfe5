#include <QtTest>

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <numeric>
#include <set>
#include <thread>

#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

RunRequest requestFor(const std::string& model, const std::string& devices) {
    return {.spec = smallSpec(model, devices), .data = patterns(36, 9), .options = {}, .onEvent = {}};
}

const StepDone* asStep(const TrainEvent& event) { return std::get_if<StepDone>(&event); }

}  // namespace

class TstTrainer : public QObject {
    Q_OBJECT

private slots:
    void trainingReachesHighAccuracy_data() {
        QTest::addColumn<QString>("devices");
        QTest::newRow("one") << "reference:1";
        QTest::newRow("three") << "reference:3";
        if (hasCpuBackend()) QTest::newRow("cpu") << "cpu:2x1";
    }

    void trainingReachesHighAccuracy() {
        QFETCH(QString, devices);
        RunRequest request = requestFor("mlp", devices.toStdString());
        request.data = patterns(300, 100);
        request.spec.epochs = 4;
        request.spec.batch = 20;
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        QVERIFY2(out.result.finished.testAccuracy >= 0.97,
                 qPrintable(QString::number(out.result.finished.testAccuracy)));
        const auto steps = out.recorder.all<StepDone>();
        QVERIFY(steps.back().loss < 0.3 * steps.front().loss);
        QVERIFY(out.result.finished.trainSamplesPerSecond > 0);
    }

    void eventsComeInOrder() {
        QTemporaryDir folder;
        RunRequest request = requestFor("mlp", "reference:2");
        request.options.checkpointFolder = folder.path().toStdString();
        request.options.trial = 5;
        request.options.firstEventNumber = 11;
        const Run out = run(std::move(request));
        const QString order = QString::fromStdString(out.recorder.order());
        const QRegularExpression expected(
            "^run_started state_changed:running step_done eval_done eval_counts checkpoint_written:best "
            "checkpoint_written:last step_done eval_done eval_counts (checkpoint_written:best "
            ")?checkpoint_written:last run_finished$");
        QVERIFY2(expected.match(order).hasMatch(), qPrintable(order));
        std::vector<std::int64_t> numbers(out.recorder.numbers.size());
        std::iota(numbers.begin(), numbers.end(), 11);
        QCOMPARE(out.recorder.numbers, numbers);

        const RunStarted started = out.recorder.all<RunStarted>().front();
        QCOMPARE(started.trial, 5);
        QCOMPARE(started.stepsPerEpoch, 5);
        QCOMPARE(started.devices.size(), std::size_t{2});
        QCOMPARE(started.trainSamples, 36);
        QCOMPARE(started.testSamples, 9);
        QVERIFY(started.software.starts_with("Lockstep "));
        QCOMPARE(started.hardware.size(), std::size_t{1});
        QCOMPARE(started.threads, (std::vector<std::int64_t>{1, 1}));
        std::int64_t step = 0;
        for (const StepDone& done : out.recorder.all<StepDone>()) {
            QCOMPARE(done.step, ++step);
            QCOMPARE(done.epoch, step <= 5 ? 1 : 2);
            QCOMPARE(done.samples, step % 5 == 0 ? 4 : 8);
            QCOMPARE(done.compute.size(), std::size_t{2});
            QVERIFY(done.compute[0] > 0 && done.reduce[0] > 0 && done.samplesPerSecond > 0);
        }
        QCOMPARE(step, 10);
    }

    // The epoch's figures are sums over its steps, divided once.
    void epochFiguresAreWeighted() {
        const Run out = run(requestFor("mlp", "reference:2"));
        double loss = 0, correct = 0;
        for (const StepDone& done : out.recorder.all<StepDone>()) {
            if (done.epoch != 2) continue;
            loss += done.loss * static_cast<double>(done.samples);
            correct += done.accuracy * static_cast<double>(done.samples);
        }
        const EvalDone second = out.recorder.all<EvalDone>().back();
        QVERIFY(std::abs(second.trainLoss - loss / 36) < 1e-12);
        QVERIFY(std::abs(second.trainAccuracy - correct / 36) < 1e-12);
        QCOMPARE(second.accuracy5, -1.0);
        QCOMPARE(out.result.finished.testAccuracy, second.accuracy);
        QCOMPARE(out.result.finished.epoch, 2);
    }

    void theBestEvaluation_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("a classifier's, by accuracy") << "mlp";
        QTest::newRow("a language model's, by loss") << "gpt";
    }

    void theBestEvaluation() {
        QFETCH(QString, model);
        RunRequest request = requestFor(model.toStdString(), "reference:2");
        request.data = dataFor(model.toStdString(), 36, 9);
        request.spec.epochs = 8;
        const Run out = run(std::move(request));
        const auto evaluations = out.recorder.all<EvalDone>();
        QCOMPARE(evaluations.size(), std::size_t{8});
        double lowestLoss = std::numeric_limits<double>::infinity(), bestAccuracy = -1;
        int differ = 0;
        for (const EvalDone& done : evaluations) {
            const bool lower = done.loss<lowestLoss, higher = done.accuracy> bestAccuracy;
            QCOMPARE(done.best, model == "gpt" ? lower : higher);
            differ += lower != higher;
            lowestLoss = std::min(lowestLoss, done.loss);
            bestAccuracy = std::max(bestAccuracy, done.accuracy);
        }
        QVERIFY(differ > 0);  // so that one is not taken for the other
        QCOMPARE(out.result.finished.bestAccuracy, bestAccuracy);
    }

    void aPauseHoldsAllRanksAndCostsNoTime() {
        RunRequest request = requestFor("mlp", "reference:3");
        std::jthread waker;
        request.onEvent = [&](const TrainEvent& event, RunControl& control) {
            const StepDone* done = asStep(event);
            if (done && done->step == 2) control.pause();
            const auto* state = std::get_if<StateChanged>(&event);
            if (state && state->state == "paused") {
                waker = std::jthread([&control] {
                    std::this_thread::sleep_for(std::chrono::milliseconds(400));
                    control.resume();
                });
            }
        };
        const auto begin = std::chrono::steady_clock::now();
        const Run out = run(std::move(request));
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
        const QString order = QString::fromStdString(out.recorder.order());
        QVERIFY2(order.contains("step_done state_changed:paused state_changed:running step_done"), qPrintable(order));
        QCOMPARE(out.recorder.all<StepDone>().size(), std::size_t{10});
        QVERIFY(took >= 0.4);
        QVERIFY2(out.result.finished.seconds < took - 0.35, "the pause was counted");
    }

    void aStopWhilePausedStopsAtThatStep() {
        RunRequest request = requestFor("mlp", "reference:2");
        std::int64_t pausedAt = 0;
        request.onEvent = [&](const TrainEvent& event, RunControl& control) {
            const StepDone* done = asStep(event);
            if (done && done->step == 2) control.pause();
            const auto* state = std::get_if<StateChanged>(&event);
            if (state && state->state == "paused") pausedAt = state->step, control.stop();
        };
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Stopped);
        QCOMPARE(out.result.finished.step, pausedAt);
        QVERIFY(QString::fromStdString(out.recorder.order())
                    .endsWith("step_done state_changed:paused state_changed:stopping run_finished"));
    }

    void aStopWritesACheckpointThere() {
        QTemporaryDir folder;
        RunRequest request = requestFor("mlp", "reference:2");
        request.options.checkpointFolder = folder.path().toStdString();
        request.onEvent = [&](const TrainEvent& event, RunControl& control) {
            const StepDone* done = asStep(event);
            if (done && done->step == 6) control.stop();
        };
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Stopped);
        QCOMPARE(out.result.finished.outcome, std::string("stopped"));
        QCOMPARE(out.result.finished.step, 7);
        const auto last = readCheckpoint(std::filesystem::path(folder.path().toStdString()) / "last.safetensors");
        QVERIFY(last.ok());
        QCOMPARE(last.value().step, 7);
        QCOMPARE(last.value().epoch, 1);
        QCOMPARE(last.value().stepInEpoch, 2);
        QVERIFY(sameBits(last.value().tensors, out.tensors));
    }

    void stopAfterEpochEvaluatesFirst() {
        RunRequest request = requestFor("mlp", "reference:2");
        request.onEvent = [&](const TrainEvent& event, RunControl& control) {
            if (asStep(event)) control.stopAfterEpoch();
        };
        const Run out = run(std::move(request));
        QCOMPARE(out.result.outcome, RunResult::Outcome::Stopped);
        QCOMPARE(out.result.finished.step, 5);
        QVERIFY(QString::fromStdString(out.recorder.order())
                    .endsWith("step_done eval_done eval_counts state_changed:stopping run_finished"));
    }

    void spansAreRecordedOnEveryLane() {
        TraceBoard trace;
        RunRequest request = requestFor("lenet5", "reference:2");
        request.options.trace = &trace;
        QCOMPARE(run(std::move(request)).result.outcome, RunResult::Outcome::Finished);
        std::set<std::pair<int, std::string>> lanes;
        const auto names = trace.names();
        for (const TraceLane* lane : trace.lanes()) {
            const auto spans = lane->read();
            QVERIFY2(!spans.empty(), lane->name().c_str());
            for (const TraceSpan& span : spans) {
                QVERIFY(span.beginNs <= span.endNs);
                QVERIFY(span.name < names.size());
                if (lane->name() == "all-reduce") QVERIFY(names[span.name].starts_with("all-reduce"));
            }
            if (lane->name() == "compute") {
                for (std::size_t i = 1; i < spans.size(); ++i) QVERIFY(spans[i - 1].endNs <= spans[i].beginNs);
            }
            lanes.insert({lane->rank(), lane->name()});
        }
        for (const int rank : {0, 1}) {
            for (const char* lane : {"compute", "all-reduce", "load"}) QVERIFY(lanes.contains({rank, lane}));
        }
    }

    void theNullBackendRunsAnything() {
        for (const char* model : {"mlp", "lenet5", "fashion-cnn"}) {
            const Run out = run(requestFor(model, "null:5"));
            QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
            QCOMPARE(out.recorder.all<StepDone>().size(), std::size_t{10});
            for (const StepDone& done : out.recorder.all<StepDone>())
                QCOMPARE(done.samples, done.step % 5 == 0 ? 4 : 8);
        }
    }

    void benchmarkRunsTheSamePrograms() {
        const ResolvedSpec spec = resolved(smallSpec("mlp", "reference:3"));
        const ModelInput input{8, 1, 12, 12, 4, 0};
        const BenchResult result = benchmark({spec, input, 10, 2});
        QCOMPARE(result.steps, 10);
        QVERIFY(result.samplesPerSecond > 0);
        QVERIFY(result.firstLoss > 0.5 && result.loss < result.firstLoss);
    }

    // Twice the steps as long as they take less than half of the time, and all ranks alike.
    void aBenchmarkLastsAsLongAsItIsAskedTo() {
        const ResolvedSpec spec = resolved(smallSpec("mlp", "reference:3"));
        const BenchResult result = benchmark({spec, {8, 1, 12, 12, 4, 0}, 3, 1, 0.2});
        QVERIFY(result.steps > 3 && result.steps % 3 == 0 &&
                std::has_single_bit(static_cast<std::uint64_t>(result.steps / 3)));
        QVERIFY(result.seconds >= 0.1);
    }
};

QTEST_APPLESS_MAIN(TstTrainer)
#include "tst_trainer.moc"
