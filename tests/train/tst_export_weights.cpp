#include <QtTest>

#include <bit>

#include "engine/train/export_weights.h"
#include "engine/train/safetensors.h"
#include "engine/train/trained_on.h"
#include "engine/train/weights.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

const DatasetSplits& data() {
    static const DatasetSplits splits = patterns(16, 12);
    return splits;
}

// One epoch, with a checkpoint in the folder.
Run trained(TrialSpec spec, const QTemporaryDir& folder, const DatasetSplits& on = data()) {
    spec.epochs = 1;
    RunRequest request{.spec = std::move(spec), .data = on, .options = {}, .onEvent = {}};
    request.options.checkpointFolder = folder.path().toStdString();
    return run(std::move(request));
}

Checkpoint checkpointIn(const QTemporaryDir& folder) {
    return readCheckpoint(folder.filePath("last.safetensors").toStdString()).value();
}

std::string problemOf(const Result<ExportedWeights>& result) {
    return result.ok() ? "" : result.problems().front().code;
}

}  // namespace

class TstExportWeights : public QObject {
    Q_OBJECT

private slots:
    void whatIsExportedSaysTheSame_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("devices");
        QTest::addColumn<QString>("frozen");
        QTest::addColumn<bool>("torchvisions");
        QTest::addColumn<double>("averageDecay");
        const QString blocks = "block1,block2,block3,block4,block5";
        QTest::newRow("reference") << "fashion-cnn"
                                   << "reference:1" << blocks << false << 0.0;
        QTest::newRow("averages") << "fashion-cnn"
                                  << "reference:2" << blocks << false << 0.9;
        if (!hasCpuBackend()) return;
        QTest::newRow("cpu") << "fashion-cnn"
                             << "cpu:1" << blocks << false << 0.0;
        QTest::newRow("torchvision's names") << "resnet18-cifar"
                                             << "cpu:1"
                                             << "stem," + blocks + ",block6,block7,block8" << true << 0.0;
    }

    // With all norms frozen and no learning, an epoch changes nothing: its evaluation is that of the weights.
    void whatIsExportedSaysTheSame() {
        QFETCH(QString, model);
        QFETCH(QString, devices);
        QFETCH(QString, frozen);
        QFETCH(bool, torchvisions);
        QFETCH(double, averageDecay);
        TrialSpec spec = smallSpec(model.toStdString(), devices.toStdString());
        spec.averageDecay = averageDecay;
        QTemporaryDir folder;
        const EvalDone first = trained(spec, folder).recorder.all<EvalDone>().back();
        const std::string file = folder.filePath("weights.safetensors").toStdString();
        const WeightsExport request{torchvisions, averageDecay > 0};
        const auto written = exportWeights(checkpointIn(folder), testEnvironment(), request, file);
        QVERIFY(written.ok());

        spec.averageDecay = 0;
        spec.learningRate = 0;
        spec.seed = 99;
        spec.weights = file;
        spec.frozen = frozen.toStdString();
        QTemporaryDir other;
        const EvalDone again = trained(spec, other).recorder.all<EvalDone>().back();
        QCOMPARE(std::bit_cast<std::uint64_t>(again.loss), std::bit_cast<std::uint64_t>(first.loss));
        QCOMPARE(again.accuracy, first.accuracy);
    }

    // Whose context is less than texts usually have; of an image, whose side is one that the patches divide.
    void modelsOfOtherSizesThanUsual_data() {
        QTest::addColumn<QString>("model");
        for (const char* each : {"gpt", "text-encoder", "vit"}) QTest::newRow(each) << each;
    }
    void modelsOfOtherSizesThanUsual() {
        QFETCH(QString, model);
        TrialSpec spec = smallSpec(model.toStdString(), "reference:1");
        if (model == "vit") spec.model.params["patch"] = std::int64_t{7};
        QTemporaryDir folder;
        const DatasetSplits on = model == "vit" ? patterns(16, 12, {3, 14, 14}) : dataFor(model.toStdString(), 16, 12);
        const Run first = trained(spec, folder, on);
        const std::string file = folder.filePath("weights.safetensors").toStdString();
        Checkpoint checkpoint = checkpointIn(folder);
        QVERIFY(exportWeights(checkpoint, testEnvironment(), {}, file).ok());
        const TensorFile content = readTensorFile(file).value();
        for (const auto& [name, tensor] : content.tensors)
            QVERIFY(sameBits({{"", tensor}}, {{"", first.tensors.at(name)}}));
        checkpoint.trainedOn.reset();  // of an older version
        QCOMPARE(exportWeights(checkpoint, testEnvironment(), {}, file).ok(), model != "vit");
    }

    // Neither optimizer state nor averages nor the position.
    void weightsAloneAreWritten() {
        TrialSpec spec = smallSpec("fashion-cnn", "reference:1");
        spec.averageDecay = 0.9;
        spec.frozen = "block1";
        QTemporaryDir folder;
        const Run first = trained(spec, folder);
        const std::string file = folder.filePath("weights.safetensors").toStdString();
        for (const bool averages : {false, true}) {
            const auto written = exportWeights(checkpointIn(folder), testEnvironment(), {false, averages}, file);
            QCOMPARE(written.value().tensors, std::size_t{27});
            const TensorFile content = readTensorFile(file).value();
            QCOMPARE(content.metadata.at("model"), std::string("fashion-cnn"));
            QCOMPARE(content.metadata.size(), std::size_t{4});
            QVERIFY(content.metadata.contains("checksum"));
            QVERIFY(trainedOnFrom(content.metadata.at("trained_on")));  // what the model must be given elsewhere
            for (const auto& [name, tensor] : content.tensors) {
                const auto average = first.tensors.find("average." + name);
                const bool isAverage = averages && average != first.tensors.end();
                QVERIFY(sameBits({{"", tensor}}, {{"", isAverage ? average->second : first.tensors.at(name)}}));
            }
        }
    }

    void refusals() {
        QTemporaryDir folder;
        trained(smallSpec("fashion-cnn", "reference:1"), folder);
        const Checkpoint checkpoint = checkpointIn(folder);
        const std::string file = folder.filePath("weights.safetensors").toStdString();
        QCOMPARE(problemOf(exportWeights(checkpoint, testEnvironment(), {true, false}, file)),
                 std::string("export.no-names"));
        QCOMPARE(problemOf(exportWeights(checkpoint, testEnvironment(), {false, true}, file)),
                 std::string("export.no-averages"));
        Checkpoint foreign = checkpoint;
        foreign.spec.model.id = "unheard-of";
        QCOMPARE(problemOf(exportWeights(foreign, testEnvironment(), {}, file)), std::string("spec.unknown-model"));
        Checkpoint torn = checkpoint;
        torn.tensors.erase("head/bias");
        QCOMPARE(problemOf(exportWeights(torn, testEnvironment(), {}, file)), std::string("checkpoint.mismatch"));
        QVERIFY(!std::filesystem::exists(file));
    }
};

QTEST_APPLESS_MAIN(TstExportWeights)
#include "tst_export_weights.moc"
