#include <QtTest>

#include "engine/graph/graph_builder.h"
#include "engine/plan/recompute.h"
#include "engine/train/made_batch.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

using Setting = std::function<void(TrialSpec&)>;

TrialSpec deepSpec(const std::string& model, const std::string& devices) {
    TrialSpec spec = smallSpec(model, devices);
    spec.batch = 6;
    spec.epochs = 1;
    if (spec.model.params.contains("layers")) spec.model.params["layers"] = std::int64_t{5};
    if (model == "fashion-cnn") spec.model.params = {{"width", std::int64_t{16}}};
    if (model == "mlp") spec.model.params = {{"width", std::int64_t{16}}, {"depth", std::int64_t{8}}, {"dropout", 0.3}};
    if (model == "wideresnet-16") spec.model.params = {{"k", std::int64_t{1}}, {"dropout", 0.3}};
    return spec;
}

// Two full batches and a short one.
DatasetSplits dataOf(const std::string& model, int pixels) {
    if (!readsImages(model)) return dataFor(model, 15, 4);
    return patterns(15, 4, {model == "fashion-cnn" ? 1 : 3, pixels, pixels});
}

int copiesIn(const Program& program) {
    int copies = 0;
    for (const Pass& pass : program.passes) {
        if (!pass.graph) continue;
        copies += static_cast<int>(std::ranges::count_if(
            pass.graph->nodes(), [](const Node& node) { return isWithin(node.scope, kRecomputeScope); }));
    }
    return copies;
}

Run trained(const TrialSpec& spec, const DatasetSplits& data) {
    return run({.spec = spec, .data = data, .options = {}, .onEvent = {}, .hashes = true});
}

RunPlan planOf(const TrialSpec& spec, const DatasetSplits& data) {
    return planRun(resolved(spec), data.train->info(), data.test->info());
}

std::size_t activations(const Program& program) {
    return program.arenaBytes[static_cast<std::size_t>(Arena::Activations)];
}

// One trained as it is, one with activations made again: some are, and the weights have the same bits.
struct Runs {
    Run kept, again;
};
Runs bothRuns(TrialSpec spec, int pixels) {
    const DatasetSplits data = dataOf(spec.model.id, pixels);
    Run kept = trained(spec, data);
    spec.recompute = "segments";
    const auto copies = copiesIn(*planOf(spec, data).ranks[0].training);
    Runs runs{std::move(kept), trained(spec, data)};
    [&] {
        QVERIFY(copies > 0);
        QCOMPARE(runs.again.result.outcome, RunResult::Outcome::Finished);
        QVERIFY(!runs.again.tensors.empty() && sameBits(runs.again.tensors, runs.kept.tensors));
    }();
    return runs;
}

}  // namespace

// Activations that are made again instead of kept change nothing but the memory that training takes.
class TstRecomputedTraining : public QObject {
    Q_OBJECT

private slots:
    void bitsStay_data() {
        QTest::addColumn<TrialSpec>("spec");
        QTest::addColumn<int>("pixels");
        const auto row = [](const std::string& name, const TrialSpec& spec, int pixels) {
            QTest::newRow(name.c_str()) << spec << pixels;
        };
        for (const char* model : {"mlp", "resnet18-cifar", "resnet164", "wideresnet-16", "vit", "gpt", "text-encoder"})
            row(std::string(model) + " reference", deepSpec(model, "reference:1"), 8);
        if (!hasCpuBackend()) return;
        for (const char* model : {"mlp", "resnet18-cifar", "resnet50-cifar", "resnet164", "wideresnet-16",
                                  "fashion-cnn", "vit", "gpt", "text-encoder"})
            row(std::string(model) + " cpu", deepSpec(model, "cpu:1"), 16);
        for (const char* model : {"vgg11-cifar", "vgg19-bn-cifar", "mobilenet-v2"})
            row(std::string(model) + " cpu", deepSpec(model, "cpu:1"), 32);
    }

    void bitsStay() {
        QFETCH(TrialSpec, spec);
        QFETCH(int, pixels);
        const Runs runs = bothRuns(spec, pixels);
        if (QTest::currentTestFailed()) return;
        const Run &kept = runs.kept, &again = runs.again;
        const auto steps = kept.recorder.all<StepDone>(), others = again.recorder.all<StepDone>();
        QCOMPARE(others.size(), std::size_t{3});
        for (std::size_t i = 0; i < steps.size(); ++i) QCOMPARE(others[i].loss, steps[i].loss);
        QCOMPARE(again.recorder.all<EvalDone>().back().loss, kept.recorder.all<EvalDone>().back().loss);
    }

    void bitsStayHoweverItIsTrained_data() {
        QTest::addColumn<Setting>("setting");
        const auto row = [](const char* name, Setting setting) { QTest::newRow(name) << std::move(setting); };
        row("two devices", [](TrialSpec& spec) { spec.devices = "reference:2"; });
        row("ranks without samples", [](TrialSpec& spec) {
            spec.devices = "reference:4";
            spec.batch = 7;
        });
        row("synchronised norms, ranks without samples", [](TrialSpec& spec) {
            spec.devices = "reference:4";
            spec.batch = 7;
            spec.batchNorm = "synchronised";
        });
        row("passes", [](TrialSpec& spec) { spec.accumulation = 2; });
        row("shards", [](TrialSpec& spec) {
            spec.devices = "reference:2";
            spec.mode = "reproducible";
            spec.shards = 4;
        });
        row("frozen", [](TrialSpec& spec) { spec.frozen = "block1"; });
        row("averages", [](TrialSpec& spec) { spec.averageDecay = 0.9; });
        if (!hasCpuBackend()) return;
        row("two devices, cpu", [](TrialSpec& spec) { spec.devices = "cpu:2x1"; });
        row("synchronised norms, cpu", [](TrialSpec& spec) {
            spec.devices = "cpu:2x1";
            spec.batchNorm = "synchronised";
        });
        row("shards, cpu", [](TrialSpec& spec) {
            spec.devices = "cpu:2x1";
            spec.mode = "reproducible";
            spec.shards = 4;
        });
        row("frozen, cpu", [](TrialSpec& spec) {
            spec.devices = "cpu:1";
            spec.frozen = "block1";
        });
    }

    void bitsStayHoweverItIsTrained() {
        QFETCH(Setting, setting);
        TrialSpec spec = deepSpec("fashion-cnn", "reference:1");
        setting(spec);
        const Runs runs = bothRuns(spec, 12);
        QVERIFY(runs.again.hashes == runs.kept.hashes);
    }

    void evaluationStaysAsItIs() {
        TrialSpec spec = deepSpec("resnet18-cifar", "null:1");
        const DatasetSplits data = dataOf(spec.model.id, 16);
        const std::string kept = dump(*planOf(spec, data).ranks[0].evaluation);
        spec.recompute = "segments";
        QCOMPARE(dump(*planOf(spec, data).ranks[0].evaluation), kept);
    }

    // At the batches that people train with.
    void deepModelsTakeLessMemory_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("batch");
        QTest::newRow("resnet18-cifar") << "resnet18-cifar" << 128;
        QTest::newRow("resnet164") << "resnet164" << 64;
        QTest::newRow("vgg19-bn-cifar") << "vgg19-bn-cifar" << 128;
        QTest::newRow("vit") << "vit" << 64;
        QTest::newRow("gpt") << "gpt" << 16;
    }

    void deepModelsTakeLessMemory() {
        QFETCH(QString, model);
        QFETCH(int, batch);
        TrialSpec spec;
        spec.dataset = {"patterns", {}};
        spec.model = {model.toStdString(), {}};
        spec.devices = hasCpuBackend() ? "cpu:1" : "reference:1";
        spec.batch = batch;
        const ModelEntry& entry = *resolved(spec).model;
        const DatasetInfo info = infoOf(entry.task, entry.usual, batch);
        const std::size_t kept = activations(*planRun(resolved(spec), info, info).ranks[0].training);
        spec.recompute = "segments";
        const std::size_t again = activations(*planRun(resolved(spec), info, info).ranks[0].training);
        qInfo("%.1f MB instead of %.1f MB", 1e-6 * static_cast<double>(again), 1e-6 * static_cast<double>(kept));
        QVERIFY(10 * again <= 7 * kept);
    }
};

QTEST_APPLESS_MAIN(TstRecomputedTraining)
#include "tst_recomputed_training.moc"
