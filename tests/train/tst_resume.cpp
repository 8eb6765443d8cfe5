#include <QtTest>

#include "tests/train/train_fixture.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

RunRequest requestFor(const TrialSpec& spec, const fs::path& folder) {
    RunRequest request{.spec = spec, .data = patterns(36, 9), .options = {}, .onEvent = {}};
    request.options.checkpointFolder = folder;
    return request;
}

// Asks for a stop after `step` was reported, which takes effect one step later.
std::function<void(const TrainEvent&, RunControl&)> stopAfter(std::int64_t step) {
    return [step](const TrainEvent& event, RunControl& control) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done && done->step == step) control.stop();
    };
}

Checkpoint lastOf(const fs::path& folder) {
    auto read = readCheckpoint(folder / "last.safetensors");
    if (!read.ok()) qFatal("%s", read.problems().front().code.c_str());
    return std::move(read).value();
}

}  // namespace

class TstResume : public QObject {
    Q_OBJECT

private slots:
    void aResumedRunEqualsAnUnbrokenOne_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("devices");
        QTest::addColumn<QString>("optimizer");
        QTest::addColumn<double>("averageDecay");
        QTest::newRow("bf16") << "mlp"
                              << "reference:2"
                              << "sgd" << 0.0;
        QTest::newRow("mlp") << "mlp"
                             << "reference:2"
                             << "sgd" << 0.0;
        QTest::newRow("adamw") << "mlp"
                               << "reference:3"
                               << "adamw" << 0.0;
        QTest::newRow("lars") << "mlp"
                              << "reference:2"
                              << "lars" << 0.0;
        QTest::newRow("muon") << "mlp"
                              << "reference:2"
                              << "muon" << 0.9;
        QTest::newRow("averages") << "mlp"
                                  << "reference:2"
                                  << "sgd" << 0.9;
        QTest::newRow("batch norm") << "fashion-cnn"
                                    << "reference:2"
                                    << "sgd" << 0.0;
        if (!hasCpuBackend()) return;
        QTest::newRow("cpu bf16") << "fashion-cnn"
                                  << "cpu:2x1"
                                  << "adamw" << 0.0;
        QTest::newRow("cpu alone") << "fashion-cnn"
                                   << "cpu:1"
                                   << "sgd" << 0.0;
        QTest::newRow("cpu") << "fashion-cnn"
                             << "cpu:2x1"
                             << "sgd" << 0.0;
        QTest::newRow("cpu lars") << "fashion-cnn"
                                  << "cpu:2x1"
                                  << "lars" << 0.0;
        QTest::newRow("cpu muon") << "fashion-cnn"
                                  << "cpu:2x1"
                                  << "muon" << 0.0;
        QTest::newRow("cpu adamw, averages") << "fashion-cnn"
                                             << "cpu:2x1"
                                             << "adamw" << 0.9;
    }

    // With everything random there is: the order, dropout, crops, flips and holes.
    void aResumedRunEqualsAnUnbrokenOne() {
        QFETCH(QString, model);
        QFETCH(QString, devices);
        QFETCH(QString, optimizer);
        QFETCH(double, averageDecay);
        TrialSpec spec = smallSpec(model.toStdString(), devices.toStdString());
        spec.optimizer.id = optimizer.toStdString();
        if (QString(QTest::currentDataTag()).contains("bf16")) spec.precision = "bf16";
        if (devices.startsWith("cpu")) spec.model.params["width"] = std::int64_t{16};  // weights in blocks
        spec.model.params["dropout"] = 0.3;
        spec.learningRate = 0.01;
        spec.epochs = 3;
        spec.averageDecay = averageDecay;
        spec.augmentation = {{"crop_padding", std::int64_t{2}}, {"flip", true}, {"cutout", std::int64_t{3}}};
        if (model == "fashion-cnn")
            spec.augmentation["mixup"] = spec.augmentation["cutmix"] = spec.augmentation["jitter_contrast"] = 0.4;
        spec.schedule.params = {{"warmup", 0.5}};
        QTemporaryDir unbrokenFolder;
        const Run unbroken = run(requestFor(spec, unbrokenFolder.path().toStdString()));
        QCOMPARE(unbroken.result.outcome, RunResult::Outcome::Finished);
        const Checkpoint expected = lastOf(unbrokenFolder.path().toStdString());

        for (const std::int64_t step : {1, 3, 4, 5, 8, 13}) {
            QTemporaryDir folder;
            RunRequest first = requestFor(spec, folder.path().toStdString());
            first.onEvent = stopAfter(step);
            QCOMPARE(run(std::move(first)).result.outcome, RunResult::Outcome::Stopped);
            RunRequest second = requestFor(spec, folder.path().toStdString());
            second.options.resumeFrom = lastOf(folder.path().toStdString());
            second.spec.loaderThreads = 1 + step % 3;  // whatever was, and will be, fetched ahead
            QCOMPARE(second.options.resumeFrom->step, step + 1);
            const Run resumed = run(std::move(second));
            QCOMPARE(resumed.result.outcome, RunResult::Outcome::Finished);
            compareRuns(resumed, unbroken, step + 1);
            verifySame(lastOf(folder.path().toStdString()), expected);
        }
    }

    // Stopped at every single step, resumed each time.
    void aRunInPiecesOfOneStep() {
        const TrialSpec spec = smallSpec("mlp", "reference:2");
        QTemporaryDir whole, pieces;
        run(requestFor(spec, whole.path().toStdString()));
        RunRequest request = requestFor(spec, pieces.path().toStdString());
        int attempts = 0;
        for (RunResult::Outcome outcome = RunResult::Outcome::Stopped; outcome == RunResult::Outcome::Stopped;
             ++attempts) {
            request.onEvent = [](const TrainEvent& event, RunControl& control) {
                if (std::holds_alternative<RunStarted>(event)) control.stop();
            };
            outcome = run(request).result.outcome;
            request.options.resumeFrom = lastOf(pieces.path().toStdString());
        }
        QCOMPARE(attempts, 10);
        QVERIFY(sameBits(lastOf(pieces.path().toStdString()).tensors, lastOf(whole.path().toStdString()).tensors));
    }

    void aFinishedRunSaysAgainHowGoodItIs() {
        const TrialSpec spec = smallSpec("mlp", "reference:2");
        QTemporaryDir folder;
        const Run first = run(requestFor(spec, folder.path().toStdString()));
        RunRequest again = requestFor(spec, folder.path().toStdString());
        again.options.resumeFrom = lastOf(folder.path().toStdString());
        const Run second = run(std::move(again));
        QCOMPARE(second.result.outcome, RunResult::Outcome::Finished);
        QCOMPARE(second.result.finished.testAccuracy, first.result.finished.testAccuracy);
        QVERIFY(second.recorder.all<StepDone>().empty());
    }

    void checkpointsThatDoNotFitAreProblems() {
        const TrialSpec spec = smallSpec("mlp", "reference:2");
        QTemporaryDir folder;
        run(requestFor(spec, folder.path().toStdString()));
        const Checkpoint good = lastOf(folder.path().toStdString());
        const auto problemOf = [&](const TrialSpec& other, const Checkpoint& checkpoint) {
            RunRequest request = requestFor(other, folder.path().toStdString());
            request.options.resumeFrom = checkpoint;
            const Run out = run(std::move(request));
            return out.result.failed.kind;
        };
        TrialSpec wider = spec;
        wider.model.params["width"] = std::int64_t{17};
        QCOMPARE(problemOf(wider, good), std::string("checkpoint.mismatch"));
        TrialSpec adam = spec;
        adam.optimizer = {"adamw", {}};
        QCOMPARE(problemOf(adam, good), std::string("checkpoint.mismatch"));
        Checkpoint poorer = good;
        poorer.tensors.erase("head/weight");
        QCOMPARE(problemOf(spec, poorer), std::string("checkpoint.mismatch"));
        TrialSpec averaging = spec;
        averaging.averageDecay = 0.9;
        QTemporaryDir averages;
        run(requestFor(averaging, averages.path().toStdString()));
        Checkpoint averaged = lastOf(averages.path().toStdString());
        QCOMPARE(problemOf(spec, averaged), std::string("checkpoint.mismatch"));
        averaged.tensors.erase("average.head/weight");
        QCOMPARE(problemOf(averaging, averaged), std::string("checkpoint.mismatch"));
        Checkpoint half = good;
        HostTensor& bias = half.tensors.at("head/bias");
        bias = HostTensor({bias.type().shape, DType::BF16});
        QCOMPARE(problemOf(spec, half), std::string("checkpoint.mismatch"));
        Checkpoint later = good;
        later.epoch = 3;
        QCOMPARE(problemOf(spec, later), std::string("checkpoint.beyond-end"));
    }

private:
    // All that a checkpoint holds but the time that was spent.
    static void verifySame(const Checkpoint& actual, const Checkpoint& expected) {
        QVERIFY(sameBits(actual.tensors, expected.tensors));
        TrialSpec spec = actual.spec;
        spec.loaderThreads = expected.spec.loaderThreads;
        QVERIFY(spec == expected.spec);
        QCOMPARE(actual.step, expected.step);
        QCOMPARE(actual.epoch, expected.epoch);
        QCOMPARE(actual.stepInEpoch, expected.stepInEpoch);
        QCOMPARE(actual.bestAccuracy, expected.bestAccuracy);
        QVERIFY(actual.lowestLoss == expected.lowestLoss);
        QVERIFY(actual.epochSums == expected.epochSums);
    }

    static void compareRuns(const Run& resumed, const Run& unbroken, std::int64_t from) {
        const auto expected = unbroken.recorder.all<StepDone>();
        for (const StepDone& done : resumed.recorder.all<StepDone>()) {
            QVERIFY(done.step > from);
            const StepDone& other = expected[static_cast<std::size_t>(done.step - 1)];
            QVERIFY(done.loss == other.loss && done.accuracy == other.accuracy &&
                    done.learningRate == other.learningRate && done.gradientNorm == other.gradientNorm &&
                    done.epoch == other.epoch && done.samples == other.samples);
        }
        const auto evaluations = unbroken.recorder.all<EvalDone>();
        for (const EvalDone& done : resumed.recorder.all<EvalDone>()) {
            const EvalDone& other = evaluations[static_cast<std::size_t>(done.epoch - 1)];
            QVERIFY(done.loss == other.loss && done.accuracy == other.accuracy && done.trainLoss == other.trainLoss &&
                    done.trainAccuracy == other.trainAccuracy && done.best == other.best);
        }
        QVERIFY(resumed.result.finished.bestAccuracy == unbroken.result.finished.bestAccuracy);
    }
};

QTEST_APPLESS_MAIN(TstResume)
#include "tst_resume.moc"
