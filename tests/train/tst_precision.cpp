#include <QtTest>

#include <algorithm>
#include <cmath>

#include "engine/backend/null/null_backend.h"
#include "engine/plan/float_products.h"
#include "engine/train/choose_precision.h"
#include "engine/train/precision_remark.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

TrialSpec specOf(const QString& model, const QString& devices, const char* precision = "bf16") {
    TrialSpec spec = smallSpec(model.toStdString(), devices.toStdString());
    spec.precision = precision;
    return spec;
}

Run trained(const TrialSpec& spec, std::int64_t samples) {
    Run out =
        run({.spec = spec, .data = dataFor(spec.model.id, samples, 13), .options = {}, .onEvent = {}, .hashes = true});
    if (out.result.outcome != RunResult::Outcome::Finished) qWarning("%s", out.result.failed.what.c_str());
    return out;
}

// On one CPU device.
RunPlan planOf(const char* model, const char* precision) {
    const auto data = dataFor(model, 16, 8);
    return planRun(resolved(specOf(model, "cpu:1", precision)), data.train->info(), data.test->info());
}

void compareLosses(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance) {
    QCOMPARE(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const auto words = QString("step %1: %2, not %3").arg(i + 1).arg(actual[i]).arg(expected[i]);
        QVERIFY2(std::abs(actual[i] - expected[i]) <= tolerance * std::abs(expected[i]), qPrintable(words));
    }
}

using Speeds = std::vector<double>;

// The null backend, with products as a test wants them.
class StubBackend final : public Backend {
public:
    StubBackend(bool hasBf16, double speed, ProductUnits units)
        : m_hasBf16(hasBf16), m_speed(speed), m_units(units), m_null(makeNullBackend()) {}

    std::string_view name() const override { return m_null->name(); }
    std::vector<DeviceInfo> devices() const override { return m_null->devices(); }
    bool offers(Precision precision) const override { return m_hasBf16 || precision == Precision::Fp32; }
    double productSpeed(Precision) const override { return m_speed; }
    ProductUnits productUnits(Precision precision) const override {
        return precision == Precision::Bf16 ? m_units : ProductUnits::Unknown;
    }
    Graph lower(const Graph& graph, const LowerOptions& options) const override {
        return m_null->lower(graph, options);
    }
    std::unique_ptr<Device> open(const DeviceChoice& choice) const override { return m_null->open(choice); }

private:
    bool m_hasBf16;
    double m_speed;
    ProductUnits m_units;
    std::unique_ptr<Backend> m_null;
};

Environment environmentWith(bool hasBf16, double speed, ProductUnits units = ProductUnits::Unknown) {
    return environmentOf(std::make_unique<StubBackend>(hasBf16, speed, units));
}

}  // namespace

// Products of matrices with operands in bf16, as a run chooses them.
class TstPrecision : public QObject {
    Q_OBJECT

private slots:
    void transformersLearnAsInF32_data() { transformers(); }

    // Ten steps: rounding is there, and does not matter.
    void transformersLearnAsInF32() {
        QFETCH(QString, model);
        QFETCH(QString, backend);
        TrialSpec spec = specOf(model, backend + ":1", "fp32");
        spec.optimizer.id = "adamw";
        spec.learningRate = 0.01;
        const auto expected = lossesOf(trained(spec, 40));
        spec.precision = "bf16";
        const auto losses = lossesOf(trained(spec, 40));
        QCOMPARE(losses.size(), std::size_t{10});
        compareLosses(losses, expected, 2e-2);
        QVERIFY(losses != expected);
        QVERIFY2(losses.back() < 0.96 * losses.front(), qPrintable(QString::number(losses.back() / losses.front())));
    }

    void theCpuFollowsTheReference_data() { transformers(); }

    // The reference's sums are in double: an activation may fall on the other side of a rounding.
    void theCpuFollowsTheReference() {
        QFETCH(QString, model);
        QFETCH(QString, backend);
        if (backend == "reference") return;
        compareLosses(lossesOf(trained(specOf(model, "cpu:1"), 40)),
                      lossesOf(trained(specOf(model, "reference:1"), 40)), 2e-3);
    }

    void reproducibleRunsKeepTheirBits_data() { transformers(); }

    void reproducibleRunsKeepTheirBits() {
        QFETCH(QString, model);
        QFETCH(QString, backend);
        TrialSpec spec = specOf(model, backend + ":1");
        spec.mode = "reproducible";
        spec.batch = 20;
        const Run one = trained(spec, 47);
        QCOMPARE(one.result.outcome, RunResult::Outcome::Finished);
        for (const int devices : {2, 4, 8}) {
            spec.devices = (backend + ":%1").arg(devices).toStdString();
            const Run many = trained(spec, 47);
            QVERIFY(sameBits(many.tensors, one.tensors));
            QCOMPARE(lossesOf(many), lossesOf(one));
        }
    }

    // Three devices in passes, of which a short last batch leaves some without samples.
    void unevenPartsTrainAsOneDeviceDoes() {
        TrialSpec spec = specOf("gpt", "reference:1");
        const Run one = trained(spec, 18);
        spec.devices = "reference:3";
        spec.accumulation = 2;
        const Run many = trained(spec, 18);
        QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
        compareLosses(lossesOf(many), lossesOf(one), 1e-5);
    }

    // No fp32 is silent in a program of bf16.
    void whatStaysInFp32IsNamed() {
        if (!hasCpuBackend()) QSKIP("the CPU backend is not built");
        for (const char* precision : {"fp32", "bf16"}) {
            const RunPlan plan = planOf("lenet5", precision);
            const Program& program = *plan.ranks[0].training;
            std::int64_t all = 0, ofFloats = 0;
            for (const Node& node : program.passes[0].graph->nodes()) {
                if (!node.op->flops) continue;
                ++all;
                ofFloats += node.algorithm.ends_with("bf16") ? 0 : 1;
            }
            const QString text = QString::fromStdString(dump(program));
            QVERIFY(ofFloats > 0);  // convolutions of few channels
            const bool isHalf = precision == std::string_view("bf16");
            const QString said = QString("precision    bf16; fp32 in %1 of %2 convolutions and products, ");
            QCOMPARE(text.contains(said.arg(ofFloats).arg(all)), isHalf);
            QCOMPARE(text.count(", fp32 "), isHalf ? ofFloats : 0);
        }
    }

    void whatIsMostlyFp32IsSaid() {
        if (!hasCpuBackend()) QSKIP("the CPU backend is not built");
        for (const char* model : {"lenet5", "mlp"}) {
            const RunPlan plan = planOf(model, "bf16");
            const Program& program = *plan.ranks[0].training;
            const FloatProducts floats = floatProducts(program);
            const auto said = mostlyFp32(program);
            QCOMPARE(said.has_value(), floats.share >= 0.5);
            if (said)
                QVERIFY((*said ==
                         Problem{"precision", "run.mostly-fp32", {"bf16", floats.countText(), floats.shareText()}}));
            QVERIFY(!mostlyFp32(*planOf(model, "fp32").ranks[0].training));
        }
        const FloatProducts most{.all = 62, .ofFloats = 59, .share = 0.9991}, all{.all = 5, .ofFloats = 5, .share = 1};
        QCOMPARE(most.countText() + ", " + most.shareText(), std::string("59 of 62, over 99 %"));
        QCOMPARE(all.shareText(), std::string("100 %"));
    }

    void everyProductIsMarked() {
        if (!hasCpuBackend()) QSKIP("the CPU backend is not built");
        for (const char* precision : {"fp32", "bf16"}) {
            const RunPlan plan = planOf("vit", precision);
            for (const auto& program : {plan.ranks[0].training, plan.ranks[0].evaluation}) {
                int products = 0;
                for (const Node& node : program->passes[0].graph->nodes()) {
                    const bool isProduct = node.op->name.starts_with("dense") && node.op->name != "dense_backward_bias";
                    const bool isHalf = precision == std::string_view("bf16");
                    const bool mayBe = node.op->name.starts_with("attention") || node.op->name.starts_with("conv2d");
                    if (isHalf && mayBe) continue;  // by what the processor has
                    QCOMPARE(node.algorithm.ends_with("bf16"), isProduct && isHalf);
                    products += isProduct ? 1 : 0;
                }
                QVERIFY(products > 4);
            }
        }
    }

    void devicesWithoutItRefuse() {
        const auto environment = environmentWith(false, 0);
        const auto problems = validate(specOf("mlp", "null:2"), environment);
        QCOMPARE(problems.size(), std::size_t{1});
        QVERIFY((problems[0] == Problem{"precision", "spec.no-such-precision", {"bf16", "null"}}));
        QVERIFY(validate(specOf("mlp", "null:2", "fp32"), environment).empty());
    }

    void aSlowPrecisionIsSaidOnce_data() {
        QTest::addColumn<QString>("precision");
        QTest::addColumn<double>("speed");
        QTest::addColumn<int>("warnings");
        QTest::newRow("slower") << "bf16" << 0.512 << 1;
        QTest::newRow("hardly slower") << "bf16" << 0.98 << 0;
        QTest::newRow("faster") << "bf16" << 1.7 << 0;
        QTest::newRow("unknown") << "bf16" << 0.0 << 0;
        QTest::newRow("fp32") << "fp32" << 0.512 << 0;
    }

    void aSlowPrecisionIsSaidOnce() {
        QFETCH(QString, precision);
        QFETCH(double, speed);
        QFETCH(int, warnings);
        const auto environment = environmentWith(true, speed);
        const auto spec = resolve(specOf("mlp", "null:2", qPrintable(precision)), environment);
        RunControl control;
        Recorder recorder;
        const auto result = runTrial(spec.value(), patterns(16, 8), {}, control, {&recorder});
        QCOMPARE(result.outcome, RunResult::Outcome::Finished);
        const auto messages = recorder.all<Message>();
        QCOMPARE(static_cast<int>(messages.size()), warnings);
        if (warnings == 0) return;
        QCOMPARE(messages[0].level, std::string("warning"));
        QVERIFY((messages[0].text == Problem{"precision", "run.slow-precision", {"bf16", "0.51"}}));
    }

    // It was measured elsewhere; what is measured here says the speed of the whole model instead.
    void aSlowPrecisionThatIsKeptIsSaid() {
        const auto environment = environmentWith(true, 0.512);
        Checkpoint checkpoint;
        checkpoint.spec = specOf("mlp", "null:2", "bf16");
        const auto said = messagesOf(resolve(specOf("mlp", "null:2", "auto"), environment).value(), checkpoint);
        QCOMPARE(said.size(), std::size_t{2});
        QVERIFY((said[1] == Problem{"precision", "run.slow-precision", {"bf16", "0.51"}}));
    }

    void tilesThatAreDeniedAreSaid() {
        const auto environment = environmentWith(true, 0.5, ProductUnits::TilesDenied);
        const auto slow = slowPrecision(resolve(specOf("mlp", "null:2"), environment).value());
        QVERIFY((slow == Problem{"precision", "run.tiles-denied", {"bf16"}}));
        const auto withTiles = environmentWith(true, 0.5, ProductUnits::Tiles);  // nothing is measured
        QVERIFY(!slowPrecision(resolve(specOf("mlp", "null:2"), withTiles).value()));
        QVERIFY(!slowPrecision(resolve(specOf("mlp", "null:2", "fp32"), environment).value()));
    }

    void theFastestIsChosen() {
        const auto fastest = [](double tf32, double bf16) {
            return fastestOf({{Precision::Fp32, 100}, {Precision::Tf32, tf32}, {Precision::Bf16, bf16}});
        };
        QCOMPARE(fastest(104, 102), Precision::Fp32);  // by less than a measurement is sure of
        QCOMPARE(fastest(120, 90), Precision::Tf32);
        QCOMPARE(fastest(120, 170), Precision::Bf16);
        QCOMPARE(ratiosText({{Precision::Fp32, 200}, {Precision::Bf16, 268}}), std::string("fp32 1, bf16 1.34"));
    }

    // The median of what each came to; what is not clear is timed twice more, what is slow by itself once.
    void precisionsAreTimedInTurns_data() {
        QTest::addColumn<Speeds>("fp32");
        QTest::addColumn<Speeds>("bf16");
        QTest::addColumn<double>("stepSeconds");
        QTest::addColumn<Precision>("chosen");
        QTest::addColumn<int>("rounds");
        const auto row = [](const char* name, Speeds fp32, Speeds bf16, double seconds, Precision chosen, int rounds) {
            QTest::newRow(name) << fp32 << bf16 << seconds << chosen << rounds;
        };
        const Precision fp32 = Precision::Fp32, bf16 = Precision::Bf16;
        row("clearly faster", {100, 101, 99}, {150, 149, 151}, 0.1, bf16, 3);
        row("clearly slower", {100, 101, 99}, {80, 81, 79}, 0.1, fp32, 3);
        row("close", {100, 100, 100, 100, 100}, {104, 108, 103, 104, 104}, 0.1, fp32, 5);
        row("close and faster", {100, 100, 100, 100, 100}, {104, 108, 106, 107, 107}, 0.1, bf16, 5);
        row("another's load meets one", {50, 100, 100, 100, 100}, {95, 95, 95, 95, 95}, 0.1, fp32, 5);
        row("and leaves", {50, 50, 100, 100, 100}, {65, 65, 130, 130, 130}, 0.1, bf16, 5);
        row("slow steps", {100}, {150}, 3, bf16, 1);
        row("slow steps, close", {100, 100, 100}, {106, 104, 104}, 3, fp32, 3);
    }
    void precisionsAreTimedInTurns() {
        QFETCH(Speeds, fp32);
        QFETCH(Speeds, bf16);
        QFETCH(double, stepSeconds);
        QFETCH(int, rounds);
        std::vector<Precision> order;
        const auto speeds = timeInTurns({Precision::Fp32, Precision::Bf16}, [&](Precision each) {
            const Speeds& mine = each == Precision::Fp32 ? fp32 : bf16;
            const auto before = std::ranges::count(order, each);
            order.push_back(each);
            BenchResult result;
            result.samplesPerSecond = mine.at(static_cast<std::size_t>(before));
            result.seconds = stepSeconds;
            result.steps = 1;
            return result;
        });
        QTEST(fastestOf(speeds), "chosen");
        QCOMPARE(std::ssize(order), 2 * rounds);
        for (std::size_t i = 0; i < order.size(); ++i)  // forth and back
            QCOMPARE(order[i], (i + 1) / 2 % 2 == 0 ? Precision::Fp32 : Precision::Bf16);
    }

    // Unless none fits, or somebody stops it.
    void aPrecisionThatDoesNotFitIsLeftOut() {
        const auto timed = [](const char* ofFp32, const char* ofBf16) {
            return timeInTurns({Precision::Fp32, Precision::Bf16}, [=](Precision each) {
                const std::string code = each == Precision::Fp32 ? ofFp32 : ofBf16;
                if (!code.empty()) throw ProblemError({"", code, {}});
                BenchResult result;
                result.samplesPerSecond = 7;
                return result;
            });
        };
        const auto left = timed("run.memory", "");
        QCOMPARE(left.size(), std::size_t{1});
        QVERIFY(left[0].precision == Precision::Bf16 && left[0].samplesPerSecond == 7);
        QVERIFY_EXCEPTION_THROWN(timed("run.memory", "run.memory"), ProblemError);
        QVERIFY_EXCEPTION_THROWN(timed("", kBenchStopped), ProblemError);
    }

    // A run that is to choose says what it took, trains in that, and goes on in it, however fast it would be then.
    void aRunChoosesOnce() {
        const auto with = environmentWith(true, 0);
        const auto ran = [&](const std::string& mode, std::optional<Checkpoint> from, const Environment& environment) {
            TrialSpec spec = specOf("mlp", "null:2", "auto");
            spec.mode = mode;
            auto messages = messagesOf(resolve(spec, environment).value(), std::move(from));
            std::erase_if(messages, [](const Problem& each) { return each.code == "run.precision-measured"; });
            return messages.empty() ? Problem{} : messages.front();
        };
        const Problem chosen = ran("fast", {}, with);
        QCOMPARE(chosen.code, std::string("run.precision-chosen"));
        QVERIFY(precisionOf(chosen.args[0]).has_value());
        QVERIFY(chosen.args[1].starts_with("fp32 1, ") && chosen.args[1].find("bf16 ") != chosen.args[1].npos);
        QVERIFY((ran("reproducible", {}, with) == Problem{"precision", "run.precision-reproducible", {"fp32"}}));
        Checkpoint checkpoint;
        checkpoint.spec = specOf("mlp", "null:2", "bf16");
        QVERIFY((ran("fast", checkpoint, with) == Problem{"precision", "run.precision-kept", {"bf16"}}));
        const auto without = environmentWith(false, 0);
        QCOMPARE(ran("fast", checkpoint, without).code, std::string("run.precision-chosen"));  // it goes on elsewhere
    }

    void measuringIsSaidAndStops() {
        const auto environment = environmentWith(true, 0);
        const auto resolved = resolve(specOf("mlp", "null:2", "auto"), environment).value();
        RunControl control;
        Recorder recorder;
        RunOptions options;
        options.trial = 7;
        control.stop();
        const RunResult result = runTrial(resolved, patterns(16, 8), options, control, {&recorder});
        QCOMPARE(result.outcome, RunResult::Outcome::Stopped);
        QVERIFY(result.finished.trial == 7 && result.finished.step == 0 && std::isnan(result.finished.testAccuracy));
        QVERIFY(recorder.all<Message>().size() == 1 && recorder.all<StepDone>().empty());
        QCOMPARE(recorder.all<Message>().front().text.code, std::string("run.precision-measured"));
    }

    // It measures anew where the precision of its checkpoint is not to be had.
    void aStopWhileMeasuringKeepsWhatTheCheckpointHas() {
        const auto environment = environmentWith(false, 0);
        const auto resolved = resolve(specOf("mlp", "null:2", "auto"), environment).value();
        RunControl control;
        Recorder recorder;
        RunOptions options;
        options.resumeFrom.emplace();
        options.resumeFrom->spec = specOf("mlp", "null:2", "bf16");
        options.resumeFrom->step = 40, options.resumeFrom->epoch = 3, options.resumeFrom->stepInEpoch = 4;
        options.resumeFrom->trainSeconds = 12;
        control.stop();
        const RunFinished end = runTrial(resolved, patterns(16, 8), options, control, {&recorder}).finished;
        QVERIFY(end.outcome == "stopped" && end.step == 40 && end.epoch == 4 && end.seconds == 12);
    }

    // Whether it was asked for, or chosen where the other is not to be had.
    void goingOnInAnotherPrecisionIsSaid() {
        const auto with = environmentWith(true, 0), without = environmentWith(false, 0);
        Checkpoint checkpoint;
        checkpoint.spec = specOf("mlp", "null:2", "bf16");
        const Problem said{"precision", "run.precision-changed", {"bf16", "fp32"}};
        const auto goesOn = [&](const char* precision, const Environment& environment) {
            return messagesOf(resolve(specOf("mlp", "null:2", precision), environment).value(), checkpoint);
        };
        QVERIFY(goesOn("fp32", with) == std::vector{said});
        QVERIFY(goesOn("bf16", with).empty());
        QCOMPARE(goesOn("auto", with).size(), std::size_t{1});
        QVERIFY(goesOn("auto", without).back() == said);
    }

private:
    static std::vector<Problem> messagesOf(const ResolvedSpec& resolved, std::optional<Checkpoint> from) {
        RunControl control;
        Recorder recorder;
        RunOptions options;
        options.resumeFrom = std::move(from);
        runTrial(resolved, patterns(16, 8), options, control, {&recorder});
        std::vector<Problem> said;
        for (const Message& each : recorder.all<Message>()) said.push_back(each.text);
        return said;
    }

    static void transformers() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("backend");
        for (const char* model : {"vit", "gpt", "text-encoder"}) {
            QTest::addRow("%s reference", model) << model << "reference";
            if (hasCpuBackend()) QTest::addRow("%s cpu", model) << model << "cpu";
        }
    }
};

QTEST_APPLESS_MAIN(TstPrecision)
#include "tst_precision.moc"
