#include <QtTest>

#include <algorithm>
#include <cmath>

#include "tests/cpu/choosing_backend.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

// The CPU as it is where the processor has tiles: all that can be of bf16 is.
Environment environmentOfTiles() {
    const cpu::ConvChoice halves = [](const cpu::ConvPass&) { return cpu::ConvAlgorithm::DirectBf16; };
    return environmentOf(std::make_unique<test::ChoosingBackend>(halves, onednn::Bf16Units::Tiles));
}

const Environment& tiles() {
    static const Environment environment = environmentOfTiles();
    return environment;
}

// Batch norm, convolutions of every size and stride, residual branches; patches and attention.
TrialSpec specOf(const QString& model, const std::string& devices, const char* precision = "bf16") {
    TrialSpec spec = smallSpec(model.toStdString(), devices);
    if (model == "fashion-cnn") spec.model.params = {{"width", std::int64_t{16}}};
    spec.precision = precision;
    spec.learningRate = 0.01;
    return spec;
}

RunRequest requestFor(const TrialSpec& spec, std::int64_t samples = 40) {
    return {.spec = spec,
            .data = patterns(samples, 9, {3, 12, 12}),
            .options = {},
            .onEvent = {},
            .hashes = true,
            .environment = &tiles()};
}

}  // namespace

// Training where convolutions and products are of bf16: what holds of f32 holds of it.
class TstBf16Training : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        if (!cpu::bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
    }

    void theProgramNamesWhatIsOfIt_data() { models(); }

    // But for a first layer of few channels and its own passes, whose samples lie in lanes.
    void theProgramNamesWhatIsOfIt() {
        QFETCH(QString, model);
        const auto data = patterns(40, 9, {3, 12, 12});
        const RunPlan plan =
            planRun(resolved(specOf(model, "cpu:1x1"), tiles()), data.train->info(), data.test->info());
        int halves = 0;
        for (const Node& node : plan.ranks[0].training->passes[0].graph->nodes()) {
            const bool isBias = node.op->name.ends_with("backward_bias");
            const auto is = [&](const char* kind) { return node.op->name.starts_with(kind); };
            if (isBias || !(is("conv2d") || is("dense") || is("attention"))) continue;
            QVERIFY2(node.algorithm.ends_with("bf16") || node.algorithm == "lanes", node.algorithm.c_str());
            halves += node.algorithm.ends_with("bf16") ? 1 : 0;
        }
        QVERIFY2(halves > 8, qPrintable(QString::number(halves)));
    }

    void itLearnsAsF32Does_data() { models(); }

    // The first losses are those of the same weights, off by what rounding of operands and images loses; those after
    // them are of weights that went their own way since.
    void itLearnsAsF32Does() {
        QFETCH(QString, model);
        constexpr double kBand = 0.05;
        const auto losses = lossesOf(run(requestFor(specOf(model, "cpu:1x1"))));
        const auto expected = lossesOf(run(requestFor(specOf(model, "cpu:1x1", "fp32"))));
        QCOMPARE(losses.size(), std::size_t{10});
        QVERIFY(losses != expected);
        QVERIFY(std::abs(losses[0] - expected[0]) < 0.003 * expected[0]);
        for (std::size_t i = 0; i < losses.size(); ++i) {
            const auto words = QString("step %1: %2, in f32 %3").arg(i + 1).arg(losses[i]).arg(expected[i]);
            QVERIFY2(std::abs(losses[i] - expected[i]) < kBand * std::abs(expected[i]), qPrintable(words));
        }
    }

    void reproducibleRunsKeepTheirBits_data() { models(); }

    void reproducibleRunsKeepTheirBits() {
        QFETCH(QString, model);
        TrialSpec spec = specOf(model, "cpu:1x1");
        spec.mode = "reproducible";
        spec.batch = 20;
        const Run one = run(requestFor(spec, 47));
        QCOMPARE(one.result.outcome, RunResult::Outcome::Finished);
        for (const int devices : {2, 4, 8}) {
            spec.devices = "cpu:" + std::to_string(devices) + "x1";
            const Run many = run(requestFor(spec, 47));
            QVERIFY(sameBits(many.tensors, one.tensors));
            QCOMPARE(lossesOf(many), lossesOf(one));
        }
    }

    void replicasStayEqual() {
        const Run ran = run(requestFor(specOf("fashion-cnn", "cpu:3x1")));
        QCOMPARE(ran.result.outcome, RunResult::Outcome::Finished);
        QVERIFY(!ran.hashes.empty());
        for (const auto& [step, hashes] : ran.hashes)
            QCOMPARE(std::ranges::count(hashes, hashes.front()), std::ptrdiff_t{3});
    }

    void aResumedRunEqualsAnUnbrokenOne() {
        const TrialSpec spec = specOf("fashion-cnn", "cpu:2x1");
        const Run unbroken = run(requestFor(spec));
        QTemporaryDir folder;
        RunRequest first = requestFor(spec);
        first.options.checkpointFolder = folder.path().toStdString();
        first.onEvent = [](const TrainEvent& event, RunControl& control) {
            const auto* done = std::get_if<StepDone>(&event);
            if (done && done->step == 3) control.stop();
        };
        QCOMPARE(run(std::move(first)).result.outcome, RunResult::Outcome::Stopped);
        RunRequest second = requestFor(spec);
        auto last = readCheckpoint(std::filesystem::path(folder.path().toStdString()) / "last.safetensors");
        QVERIFY(last.ok());
        second.options.resumeFrom = std::move(last).value();
        const Run resumed = run(std::move(second));
        QCOMPARE(resumed.result.outcome, RunResult::Outcome::Finished);
        QVERIFY(sameBits(resumed.tensors, unbroken.tensors));
    }

    // What tiles compute is tested where there are some.
    void tilesAreUsedWhereThereAreSome() {
        if (onednn::bf16Units() != onednn::Bf16Units::Tiles)
            QSKIP("this processor has no tiles (AMX), or may not use them");
        const onednn::Engine engine;
        const std::vector<std::int64_t> image{8, 64, 16, 16}, filters{64, 64, 3, 3};
        const auto conv = onednn::planConv(engine, {.padding = {1, 1},
                                                    .paddingEnd = {1, 1},
                                                    .source = onednn::Desc::any(image, DType::BF16),
                                                    .weights = onednn::Desc::any(filters, DType::BF16),
                                                    .destination = onednn::Desc::any(image, DType::F32)});
        QVERIFY(conv.has_value());
        QVERIFY2(conv->implementation.find("amx") != std::string::npos, conv->implementation.c_str());
        const auto square = onednn::Desc::any(std::vector<std::int64_t>{256, 256}, DType::BF16);
        const auto product = onednn::planProduct(engine, {.a = square, .b = square});
        QVERIFY2(product.implementation.find("amx") != std::string::npos, product.implementation.c_str());
    }

private:
    static void models() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"fashion-cnn", "vit"}) QTest::newRow(model) << model;
    }
};

QTEST_APPLESS_MAIN(TstBf16Training)
#include "tst_bf16_training.moc"
