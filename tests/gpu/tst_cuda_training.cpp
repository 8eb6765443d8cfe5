#include <QtTest>

#include "engine/backend/cuda/cuda_backend.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

const Environment& environment() {
    static const Environment made = [] {
        Environment environment = makeTestEnvironment();
        environment.add(std::make_unique<cuda::CudaBackend>(2));
        return environment;
    }();
    return made;
}

Run trained(TrialSpec spec, const std::string& devices, std::int64_t samples = 21) {
    spec.devices = devices;
    const DatasetSplits data = dataFor(spec.model.id, samples, 10);
    Run out = run({.spec = spec, .data = data, .options = {}, .onEvent = {}, .hashes = true, .environment = &environment()});
    if (out.result.outcome != RunResult::Outcome::Finished) qWarning("%s", out.result.failed.what.c_str());
    return out;
}

}  // namespace

// Whole runs on cards that the host stands in for: the module's device, streams and groups under the trainer.
class TestCudaTraining : public QObject {
    Q_OBJECT
private slots:
    void trainsAsTheReferenceDoes_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("optimizer");
        for (const char* model : {"mlp", "lenet5", "vit", "gpt", "text-encoder"})
            for (const char* optimizer : {"sgd", "lars", "muon"}) QTest::addRow("%s %s", model, optimizer) << model << optimizer;
    }
    void trainsAsTheReferenceDoes() {
        QFETCH(QString, model);
        QFETCH(QString, optimizer);
        TrialSpec spec = smallSpec(model.toStdString(), "reference:1");
        spec.optimizer = {optimizer.toStdString(), {{"weight_decay", 0.01}}};
        spec.learningRate = 0.02;
        const Run expected = trained(spec, "reference:1");
        QCOMPARE(expected.result.outcome, RunResult::Outcome::Finished);
        const auto steps = expected.recorder.all<StepDone>();
        for (const char* devices : {"cuda:0", "cuda:0,0", "cuda:0,0,0,0"}) {
            const Run actual = trained(spec, devices);
            QCOMPARE(actual.result.outcome, RunResult::Outcome::Finished);
            const auto others = actual.recorder.all<StepDone>();
            QCOMPARE(others.size(), steps.size());
            for (std::size_t i = 0; i < steps.size(); ++i)
                QVERIFY2(std::abs(others[i].loss - steps[i].loss) <= 1e-5 * steps[i].loss, devices);
            for (const auto& [step, hashes] : actual.hashes) {
                for (const std::uint64_t hash : hashes) QCOMPARE(hash, hashes.front());
            }
        }
    }

    void reproducibleRunsHaveTheSameBitsOnAnyNumberOfRanks_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"fashion-cnn", "gpt"}) QTest::newRow(model) << model;
    }
    void reproducibleRunsHaveTheSameBitsOnAnyNumberOfRanks() {
        QFETCH(QString, model);
        TrialSpec spec = smallSpec(model.toStdString(), "cuda:0");
        spec.mode = "reproducible";
        spec.shards = 4;
        const Run one = trained(spec, "cuda:0");
        QCOMPARE(one.result.outcome, RunResult::Outcome::Finished);
        for (const char* devices : {"cuda:0,0", "cuda:0,0,0,0"}) {
            const Run many = trained(spec, devices);
            QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
            QVERIFY2(sameBits(one.tensors, many.tensors), devices);
        }
    }

    void halvesTrainNextToFloats_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("precision");
        for (const char* model : {"mlp", "fashion-cnn", "vit"})
            for (const char* precision : {"tf32", "bf16"}) QTest::addRow("%s %s", model, precision) << model << precision;
    }
    void halvesTrainNextToFloats() {
        QFETCH(QString, model);
        QFETCH(QString, precision);
        TrialSpec spec = smallSpec(model.toStdString(), "cuda:0,0");
        const auto expected = trained(spec, "cuda:0,0").recorder.all<StepDone>();
        spec.precision = precision.toStdString();
        const Run actual = trained(spec, "cuda:0,0");
        QCOMPARE(actual.result.outcome, RunResult::Outcome::Finished);
        const auto steps = actual.recorder.all<StepDone>();
        QCOMPARE(steps.size(), expected.size());
        for (std::size_t i = 0; i < steps.size(); ++i)
            QVERIFY2(std::abs(steps[i].loss - expected[i].loss) <= 0.03 * expected[i].loss,
                     qPrintable(QString("step %1: %2, not %3").arg(i).arg(steps[i].loss).arg(expected[i].loss)));
    }
};

QTEST_APPLESS_MAIN(TestCudaTraining)
#include "tst_cuda_training.moc"
