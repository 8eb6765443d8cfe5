#include <QtTest>

#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

Run trained(const TrialSpec& spec, std::int64_t samples, RunOptions options = {}) {
    Run out = run({.spec = spec,
                   .data = dataFor(spec.model.id, samples, 13),
                   .options = std::move(options),
                   .onEvent = {},
                   .hashes = true});
    if (out.result.outcome != RunResult::Outcome::Finished) qWarning("%s", out.result.failed.what.c_str());
    return out;
}

// Everything that could tell one number of devices from another: batch norm, dropout, augmentation, short batches.
TrialSpec reproducibleSpec(const QString& model, const QString& backend, int devices) {
    TrialSpec spec = smallSpec(model.toStdString(), (backend + ":%1").arg(devices).toStdString());
    spec.mode = "reproducible";
    spec.batch = 20;
    if (readsImages(spec.model.id))
        spec.augmentation = {{"cutout", std::int64_t{3}}, {"flip", true}, {"crop_padding", std::int64_t{2}}};
    spec.optimizer.params["clip_norm"] = 1.0;
    if (model == "fashion-cnn") spec.model.params["dropout"] = 0.3;
    if (model == "mlp") spec.augmentation["mixup"] = 0.4;
    return spec;
}

void backendRows() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("backend");
    for (const char* model : {"mlp", "fashion-cnn", "vit", "gpt", "text-encoder"}) {
        QTest::addRow("%s reference", model) << model << "reference";
        if (hasCpuBackend()) QTest::addRow("%s cpu", model) << model << "cpu";
    }
}

}  // namespace

// Gradient accumulation and logical shards: a device takes its samples in several passes.
class TstPasses : public QObject {
    Q_OBJECT

private slots:
    void accumulationChangesNothing_data() {
        QTest::addColumn<int>("devices");
        QTest::addColumn<int>("accumulation");
        QTest::addColumn<int>("samples");
        for (const int devices : {1, 2, 3}) {
            for (const int accumulation : {2, 3, 5}) {
                QTest::addRow("%d devices, %d passes", devices, accumulation) << devices << accumulation << 49;
                QTest::addRow("%d devices, %d passes, some empty", devices, accumulation)
                    << devices << accumulation << 32;
            }
        }
    }

    void accumulationChangesNothing() {
        QFETCH(int, devices);
        QFETCH(int, accumulation);
        QFETCH(int, samples);
        TrialSpec spec = smallSpec("lenet5", "reference:1");
        spec.batch = 15;
        spec.labelSmoothing = 0.1;
        spec.optimizer.params["clip_norm"] = 0.5;
        const Run one = trained(spec, samples);
        spec.devices = "reference:" + std::to_string(devices);
        spec.accumulation = accumulation;
        const Run many = trained(spec, samples);
        QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
        const double difference = relativeDifference(one.tensors, many.tensors);
        QVERIFY2(difference <= 1e-12, qPrintable(QString::number(difference)));
        const auto steps = one.recorder.all<StepDone>(), others = many.recorder.all<StepDone>();
        QCOMPARE(others.size(), steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QCOMPARE(others[i].samples, steps[i].samples);
            QCOMPARE(others[i].accuracy, steps[i].accuracy);
            QVERIFY(std::abs(others[i].loss - steps[i].loss) <= 1e-12 * steps[i].loss);
        }
        const EvalDone test = many.recorder.all<EvalDone>().back();
        QCOMPARE(test.accuracy, one.recorder.all<EvalDone>().back().accuracy);
        QCOMPARE(test.samples, 13);
        for (const auto& [step, hashes] : many.hashes) {
            for (const std::uint64_t hash : hashes) QCOMPARE(hash, hashes.front());
        }
    }

    void accumulationTakesLessMemory() {
        TrialSpec spec = smallSpec("lenet5", "null:1");
        spec.batch = 64;
        const auto activations = [&](std::int64_t accumulation) {
            spec.accumulation = accumulation;
            const DatasetSplits data = patterns(64, 64);
            const RunPlan plan = planRun(resolved(spec), data.train->info(), data.test->info());
            return plan.ranks[0].training->arenaBytes[static_cast<std::size_t>(Arena::Activations)];
        };
        QVERIFY(activations(4) * 3 < activations(1));
    }

    void reproducibleRunsAreTheSameOnAnyNumberOfDevices_data() { backendRows(); }
    void reproducibleRunsAreTheSameOnAnyNumberOfDevices() {
        QFETCH(QString, model);
        QFETCH(QString, backend);
        // The last batches have fewer samples than shards, and ranks without any.
        for (const int samples : {53, 43}) {
            const Run one = trained(reproducibleSpec(model, backend, 1), samples);
            QCOMPARE(one.result.outcome, RunResult::Outcome::Finished);
            QCOMPARE(one.hashes.size(), std::size_t{6});
            for (const int devices : {2, 4, 8}) {
                const Run many = trained(reproducibleSpec(model, backend, devices), samples);
                QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
                for (const auto& [step, hashes] : one.hashes) {
                    for (const std::uint64_t hash : many.hashes.at(step)) QCOMPARE(hash, hashes.front());
                }
                QVERIFY(sameBits(one.tensors, many.tensors));
                const auto steps = one.recorder.all<StepDone>(), others = many.recorder.all<StepDone>();
                for (std::size_t i = 0; i < steps.size(); ++i) QCOMPARE(others[i].loss, steps[i].loss);
                const auto tests = one.recorder.all<EvalDone>(), otherTests = many.recorder.all<EvalDone>();
                for (std::size_t i = 0; i < tests.size(); ++i) QCOMPARE(otherTests[i].loss, tests[i].loss);
            }
        }
    }

    void soAreThoseWhoseUpdatesNeedWholeParameters() {
        const QString backend = hasCpuBackend() ? "cpu" : "reference";
        for (const char* optimizer : {"lars", "muon"}) {
            const auto on = [&](int devices) {
                TrialSpec spec = reproducibleSpec("fashion-cnn", backend, devices);
                spec.optimizer.id = optimizer;
                spec.epochs = 1;
                return trained(spec, 43);
            };
            const Run one = on(1);
            QCOMPARE(one.result.outcome, RunResult::Outcome::Finished);
            for (const int devices : {2, 4}) QVERIFY(sameBits(one.tensors, on(devices).tensors));
        }
    }

    void theFastModeIsNotThatExact() {
        if (!hasCpuBackend()) QSKIP("this build has no CPU backend");
        TrialSpec spec = reproducibleSpec("mlp", "cpu", 1);
        spec.mode = "fast";
        const Run one = trained(spec, 53);
        spec.devices = "cpu:4";
        QVERIFY(!sameBits(one.tensors, trained(spec, 53).tensors));
    }

    void fewerShardsAreAnotherTrialButEqualOnTheirDevices() {
        TrialSpec spec = reproducibleSpec("fashion-cnn", "reference", 1);
        const Run eight = trained(spec, 53);
        spec.shards = 2;
        const Run two = trained(spec, 53);
        QVERIFY(!sameBits(eight.tensors, two.tensors));  // batch norm is per shard
        spec.devices = "reference:2";
        QVERIFY(sameBits(two.tensors, trained(spec, 53).tensors));
    }

    void aReproducibleRunResumesOnAnotherNumberOfDevices() {
        QTemporaryDir folder;
        TrialSpec spec = reproducibleSpec("fashion-cnn", hasCpuBackend() ? "cpu" : "reference", 2);
        const Run unbroken = trained(spec, 53);
        RunOptions options;
        options.checkpointFolder = folder.path().toStdString();
        const auto stopAtFour = [](const TrainEvent& event, RunControl& control) {
            const auto* step = std::get_if<StepDone>(&event);
            if (step && step->step == 4) control.stop();
        };
        run({.spec = spec, .data = patterns(53, 13), .options = options, .onEvent = stopAtFour});
        for (const char* devices : {":1", ":4"}) {
            TrialSpec other = spec;
            other.devices = (hasCpuBackend() ? "cpu" : "reference") + std::string(devices);
            RunOptions resumed;
            auto checkpoint = readCheckpoint(folder.path().toStdString() + "/last.safetensors");
            QVERIFY(checkpoint.ok());
            resumed.resumeFrom = std::move(checkpoint).value();
            const Run rest = trained(other, 53, resumed);
            QVERIFY(sameBits(unbroken.tensors, rest.tensors));
        }
    }
};

QTEST_APPLESS_MAIN(TstPasses)
#include "tst_passes.moc"
