#include <QtTest>

#include <set>

#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr std::int64_t kTestSamples = 10;  // a last batch that leaves some ranks nothing

Run trained(const TrialSpec& spec, std::int64_t samples) {
    const DatasetSplits data = dataFor(spec.model.id, samples, kTestSamples);
    Run out = run({.spec = spec, .data = data, .options = {}, .onEvent = {}, .hashes = true});
    if (out.result.outcome != RunResult::Outcome::Finished) qWarning("%s", out.result.failed.what.c_str());
    return out;
}

}  // namespace

class TstDataParallel : public QObject {
    Q_OBJECT

private slots:
    void manyDevicesEqualOne_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("optimizer");
        QTest::addColumn<double>("clip");
        QTest::addColumn<int>("samples");
        for (const char* model : {"mlp", "lenet5", "vit", "gpt", "text-encoder"}) {
            const bool attends = model != std::string_view("mlp") && model != std::string_view("lenet5");
            for (const char* optimizer : {"sgd", "adamw", "lars", "muon"}) {
                // Softmax does not see a bias of the keys: Adam would make steps of the rounding in its gradient.
                if (attends && QByteArray("adamw muon").contains(optimizer)) continue;
                QTest::addRow("%s %s short last batch", model, optimizer) << model << optimizer << 0.0 << 21;
                QTest::addRow("%s %s ranks without samples", model, optimizer) << model << optimizer << 0.0 << 18;
                QTest::addRow("%s %s clipped", model, optimizer) << model << optimizer << 0.5 << 21;
            }
        }
    }

    void manyDevicesEqualOne() {
        QFETCH(QString, model);
        QFETCH(QString, optimizer);
        QFETCH(double, clip);
        QFETCH(int, samples);
        TrialSpec spec = smallSpec(model.toStdString(), "reference:1");
        spec.optimizer = {optimizer.toStdString(), {{"weight_decay", 0.01}, {"clip_norm", clip}}};
        spec.learningRate = optimizer == "adamw" ? 0.002 : 0.02;
        spec.labelSmoothing = 0.1;
        if (readsImages(spec.model.id)) spec.augmentation = {{"cutout", std::int64_t{3}}, {"flip", true}};
        if (model == "lenet5") spec.augmentation["mixup"] = spec.augmentation["cutmix"] = 0.4;
        const Run one = trained(spec, samples);
        QCOMPARE(one.result.outcome, RunResult::Outcome::Finished);
        const auto steps = one.recorder.all<StepDone>();
        QCOMPARE(steps.size(), std::size_t{6});
        for (int devices = 2; devices <= 4; ++devices) {
            spec.devices = "reference:" + std::to_string(devices);
            spec.bucketBytes = 512 << (2 * devices);  // buckets change nothing, either
            const Run many = trained(spec, samples);
            QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
            const double difference = relativeDifference(one.tensors, many.tensors);
            QVERIFY2(difference <= 1e-12, qPrintable(QString("%1 devices: %2").arg(devices).arg(difference)));
            const auto others = many.recorder.all<StepDone>();
            for (std::size_t i = 0; i < steps.size(); ++i) {
                QCOMPARE(others[i].samples, steps[i].samples);
                QCOMPARE(others[i].accuracy, steps[i].accuracy);
                QVERIFY(std::abs(others[i].loss - steps[i].loss) <= 1e-12 * steps[i].loss);
                QVERIFY(std::abs(others[i].gradientNorm - steps[i].gradientNorm) <= 1e-11 * steps[i].gradientNorm);
            }
            QCOMPARE(many.recorder.all<EvalDone>().back().accuracy, one.recorder.all<EvalDone>().back().accuracy);
            QCOMPARE(many.recorder.all<EvalDone>().back().samples, kTestSamples);
        }
    }

    // The mean over all samples is the same however they are divided; the first batch norm's depends on no other.
    void runningMeansAreThoseOfAllSamples() {
        const auto firstMean = [](const TrialSpec& spec, std::int64_t samples) {
            auto tensors = trained(spec, samples).tensors;
            std::erase_if(tensors, [](const auto& each) {
                return !each.first.starts_with("block1") || !each.first.ends_with("running_mean");
            });
            return tensors;
        };
        for (const int samples : {29, 26}) {
            TrialSpec spec = smallSpec("fashion-cnn", "reference:1");
            spec.batch = 12;
            spec.epochs = 1;
            spec.learningRate = 0;
            const auto one = firstMean(spec, samples);
            QCOMPARE(one.size(), std::size_t{1});
            for (int devices = 1; devices <= 4; ++devices) {
                spec.devices = "reference:" + std::to_string(devices);
                for (spec.accumulation = 1; spec.accumulation <= 3; ++spec.accumulation) {
                    const double difference = relativeDifference(one, firstMean(spec, samples));
                    QVERIFY2(
                        difference <= 1e-12,
                        qPrintable(
                            QString("%1 devices, %2 passes: %3").arg(devices).arg(spec.accumulation).arg(difference)));
                }
            }
        }
    }

    void replicasAreBitwiseEqualAfterEveryStep_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("backend");
        QTest::addColumn<QString>("optimizer");
        for (const char* backend : {"reference", "cpu"}) {
            if (backend == std::string_view("cpu") && !hasCpuBackend()) continue;
            for (const char* model : {"mlp", "lenet5", "fashion-cnn", "vit", "gpt", "text-encoder"})
                QTest::addRow("%s %s", model, backend) << model << backend << "sgd";
            for (const char* optimizer : {"lars", "muon"})
                QTest::addRow("%s %s", optimizer, backend) << "fashion-cnn" << backend << optimizer;
        }
    }

    void replicasAreBitwiseEqualAfterEveryStep() {
        QFETCH(QString, model);
        QFETCH(QString, backend);
        QFETCH(QString, optimizer);
        for (const int devices : {2, 3, 4}) {
            for (const int samples : {21, 18}) {
                TrialSpec spec = smallSpec(model.toStdString(), (backend + ":%1").arg(devices).toStdString());
                spec.optimizer.id = optimizer.toStdString();
                const Run out = trained(spec, samples);
                QCOMPARE(out.result.outcome, RunResult::Outcome::Finished);
                QCOMPARE(out.hashes.size(), std::size_t{6});
                std::set<std::uint64_t> distinct;
                for (const auto& [step, hashes] : out.hashes) {
                    QCOMPARE(hashes.size(), static_cast<std::size_t>(devices));
                    for (const std::uint64_t hash : hashes) QCOMPARE(hash, hashes.front());
                    distinct.insert(hashes.front());
                }
                QCOMPARE(distinct.size(), std::size_t{6});  // every step changed something
            }
        }
    }

    void onTheCpuDevicesAgreeToRounding() {
        if (!hasCpuBackend()) QSKIP("this build has no CPU backend");
        TrialSpec spec = smallSpec("lenet5", "cpu:1x1");
        spec.epochs = 1;
        const Run one = trained(spec, 21);
        for (int devices = 2; devices <= 4; ++devices) {
            spec.devices = "cpu:" + std::to_string(devices) + "x1";
            const double difference = relativeDifference(one.tensors, trained(spec, 21).tensors);
            QVERIFY2(difference <= 1e-5, qPrintable(QString("%1 devices: %2").arg(devices).arg(difference)));
        }
    }

    // The first value of every element depends on its name and the seed alone.
    void initialValuesDependOnTheSeedAlone() {
        TrialSpec spec = smallSpec("lenet5", "reference:1");
        spec.learningRate = 0;
        spec.epochs = 1;
        const auto parameters = [&] {
            auto tensors = trained(spec, 16).tensors;
            std::erase_if(tensors, [](const auto& each) { return each.first.starts_with("momentum."); });
            return tensors;
        };
        const auto first = parameters();
        spec.devices = "reference:3";
        spec.batch = 16;
        spec.bucketBytes = 1 << 20;
        QVERIFY(sameBits(first, parameters()));
        spec.seed = 2;
        QVERIFY(!sameBits(first, parameters()));
    }
};

QTEST_APPLESS_MAIN(TstDataParallel)
#include "tst_data_parallel.moc"
