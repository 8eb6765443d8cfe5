#include <QtTest>

#include "engine/autodiff/gradients.h"
#include "engine/model/torchvision_names.h"
#include "engine/ops/batch_norm.h"
#include "tests/plan/program_checks.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

constexpr const char* kFrozen = "block1, block2/";

bool isFrozen(const std::string& name) { return isWithin(name, "block1") || isWithin(name, "block2"); }

TrialSpec frozenSpec(const std::string& devices) {
    TrialSpec spec = smallSpec("fashion-cnn", devices);
    spec.frozen = kFrozen;
    spec.optimizer = {"sgd", {{"weight_decay", 0.01}}};
    spec.averageDecay = 0.9;
    return spec;
}

Run trained(const TrialSpec& spec) {
    return run({.spec = spec, .data = patterns(21, 10), .options = {}, .onEvent = {}, .hashes = true});
}

Graph trainingGraph(const std::vector<std::string>& frozen) {
    ModelInput input{.batch = 2, .channels = 3, .height = 32, .width = 32, .classes = 10};
    input.frozen = frozen;
    const ModelEntry& entry = *findModel(builtinModels(), "resnet18-cifar");
    Graph graph = buildForward(entry, ParamValues(entry.params), input, true).value();
    appendGradients(graph, *graph.output("loss_sum"));
    verify(graph);
    return graph;
}

// Nodes of the layers within `layer`, forward and backward.
std::int64_t nodesWithin(const Graph& graph, const std::string& layer) {
    return std::ranges::count_if(graph.nodes(), [&](const Node& node) { return isWithin(node.scope, layer); });
}

Problem problemOf(const std::string& model, const std::string& frozen) {
    TrialSpec spec = smallSpec(model, "reference:1");
    spec.frozen = frozen;
    const auto problems = validate(spec, testEnvironment());
    return problems.empty() ? Problem{} : problems.front();
}

}  // namespace

class TstFrozen : public QObject {
    Q_OBJECT

private slots:
    // Forward: convolution, norm and ReLU of the stem; two of the first two and one of the sum in a block.
    void nothingIsComputedForFrozenBottoms() {
        const Graph graph = trainingGraph({"stem", "block1"}), all = trainingGraph({});
        QCOMPARE(nodesWithin(graph, "stem"), std::int64_t{3});
        QCOMPARE(nodesWithin(graph, "block1"), std::int64_t{7});
        QVERIFY(nodesWithin(all, "block1") > 14);
        QCOMPARE(nodesWithin(graph, "block3"), nodesWithin(all, "block3"));
        for (const ValueId id : graph.withRole(ValueRole::Parameter)) {
            QVERIFY(!isWithin(graph.value(id).name, "stem") && !isWithin(graph.value(id).name, "block1"));
            QVERIFY(graph.gradientOf(id));
        }
        QCOMPARE(graph.withRole(ValueRole::Frozen).size() + graph.withRole(ValueRole::Parameter).size(),
                 all.withRole(ValueRole::Parameter).size());
        QCOMPARE(graph.assignments().size() + 2 * 3, all.assignments().size());
    }

    // Through what is frozen above others a gradient still passes.
    void gradientsPassThroughFrozenTops() {
        const Graph graph = trainingGraph({"block8", "head"});
        const auto passes = [](const Node& node) { return node.op == &kBatchNormEvalBackward; };
        QCOMPARE(std::ranges::count_if(graph.nodes(), passes), 2);
        QVERIFY(graph.gradientOf(*graph.find("stem/conv/weight")));
        QVERIFY(!graph.gradientOf(*graph.find("head/weight")));
    }

    void frozenLayersStayAsTheyAre_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<QString>("mode");
        QTest::addColumn<QString>("norm");
        QTest::newRow("reference") << "reference:2"
                                   << "fast"
                                   << "local";
        QTest::newRow("synchronised") << "reference:2"
                                      << "fast"
                                      << "synchronised";
        QTest::newRow("reproducible") << "reference:2"
                                      << "reproducible"
                                      << "local";
        if (!hasCpuBackend()) return;
        QTest::newRow("cpu") << "cpu:2x1"
                             << "fast"
                             << "local";
        QTest::newRow("cpu, reproducible") << "cpu:2x1"
                                           << "reproducible"
                                           << "local";
    }

    void frozenLayersStayAsTheyAre() {
        QFETCH(QString, devices);
        QFETCH(QString, mode);
        QFETCH(QString, norm);
        TrialSpec spec = frozenSpec(devices.toStdString());
        if (devices.startsWith("cpu")) spec.model.params["width"] = std::int64_t{16};  // weights in blocks
        spec.mode = mode.toStdString();
        spec.batchNorm = norm.toStdString();
        spec.epochs = 1;
        const Run short_ = trained(spec);
        spec.epochs = 2;
        const Run long_ = trained(spec);
        QCOMPARE(long_.result.outcome, RunResult::Outcome::Finished);
        int kept = 0;
        for (const auto& [name, tensor] : long_.tensors) {
            QVERIFY2(!name.starts_with("average.block1/") && !name.starts_with("momentum.block2/"), name.c_str());
            const bool same = sameBits({{"", tensor}}, {{"", short_.tensors.at(name)}});
            QVERIFY2(same == isFrozen(name), name.c_str());
            kept += same;
        }
        QCOMPARE(kept, 10);
        for (const auto& [step, hashes] : long_.hashes)
            QCOMPARE(std::ranges::count(hashes, hashes.front()), std::ssize(hashes));
    }

    void manyDevicesEqualOne() {
        TrialSpec spec = frozenSpec("reference:1");
        spec.batchNorm = "synchronised";
        const Run one = trained(spec);
        for (const char* devices : {"reference:2", "reference:3"}) {
            spec.devices = devices;
            const Run many = trained(spec);
            QCOMPARE(many.result.outcome, RunResult::Outcome::Finished);
            QVERIFY(relativeDifference(many.tensors, one.tensors) < 1e-11);
        }
    }

    void reproducibleRunsHaveTheSameBits() {
        TrialSpec spec = frozenSpec(hasCpuBackend() ? "cpu:1" : "reference:1");
        spec.mode = "reproducible";
        const Run one = trained(spec);
        QCOMPARE(one.result.outcome, RunResult::Outcome::Finished);
        spec.devices = hasCpuBackend() ? "cpu:2" : "reference:2";
        QVERIFY(sameBits(trained(spec).tensors, one.tensors));
    }

    // With fused and laid-out kernels, and gradients that pass through what is frozen.
    void theCpuTrainsWhatIsLeft() {
        if (!hasCpuBackend()) QSKIP("built without the CPU backend");
        TrialSpec spec = smallSpec("fashion-cnn", "reference:1");
        spec.model.params["width"] = std::int64_t{16};
        spec.frozen = "block1/conv,block3,block5/norm,head";
        spec.epochs = 1;
        const Run expected = trained(spec);
        spec.devices = "cpu:1";
        const Run actual = trained(spec);
        QCOMPARE(actual.tensors.size(), expected.tensors.size());
        for (const auto& [name, tensor] : expected.tensors) {
            double difference = 0, largest = 1e-3;
            for (std::size_t i = 0; i < tensor.as<double>().size(); ++i) {
                const double value = tensor.as<double>()[i], other = actual.tensors.at(name).as<float>()[i];
                difference = std::max(difference, std::abs(value - other));
                largest = std::max(largest, std::abs(value));
            }
            QVERIFY2(difference < 1e-3 * largest, name.c_str());
        }
    }

    // All norms frozen: then there are no statistics to reduce, either.
    void aResumedRunEqualsAnUnbrokenOne() {
        TrialSpec spec = frozenSpec("reference:2");
        spec.frozen = "block1,block2,block3,block4,block5";
        const Run unbroken = trained(spec);
        QTemporaryDir folder;
        RunRequest request{.spec = spec, .data = patterns(21, 10), .options = {}, .onEvent = {}};
        request.options.checkpointFolder = folder.path().toStdString();
        request.onEvent = [](const TrainEvent& event, RunControl& control) {
            if (const auto* done = std::get_if<StepDone>(&event); done && done->step == 2) control.stop();
        };
        QCOMPARE(run(request).result.outcome, RunResult::Outcome::Stopped);
        request.onEvent = {};
        request.options.resumeFrom = readCheckpoint(folder.filePath("last.safetensors").toStdString()).value();
        QVERIFY(sameBits(run(request).tensors, unbroken.tensors));
    }

    void memoryFalls() {
        const DatasetInfo data = patterns(21, 10).train->info();
        TrialSpec spec = frozenSpec("reference:2");
        const RunPlan frozen = planRun(resolved(spec), data, data);
        spec.frozen.clear();
        const RunPlan all = planRun(resolved(spec), data, data);
        const auto bytes = [](const RunPlan& plan, Arena arena) {
            return plan.ranks[0].training->arenaBytes[static_cast<std::size_t>(arena)];
        };
        QCOMPARE(bytes(frozen, Arena::Parameters), bytes(all, Arena::Parameters));
        for (const Arena arena :
             {Arena::Gradients, Arena::OptimizerState, Arena::Averages, Arena::Staging, Arena::Activations})
            QVERIFY(bytes(frozen, arena) < bytes(all, arena));
        QVERIFY(frozen.parameters < all.parameters);
        for (const RankPrograms& programs : frozen.ranks) {
            for (const auto& program : {programs.training, programs.lastTraining, programs.evaluation})
                QCOMPARE(complaint(*program), std::string());
        }
    }

    void refusals() {
        QCOMPARE(problemOf("fashion-cnn", "block1,stem"),
                 (Problem{"frozen",
                          "model.unknown-layer",
                          {"stem", "fashion-cnn", "block1, block2, block3, block4, block5, head"}}));
        QCOMPARE(problemOf("fashion-cnn", "block").code, std::string("model.unknown-layer"));
        QCOMPARE(problemOf("fashion-cnn", "block1/conv/weight/more").code, std::string("model.unknown-layer"));
        QCOMPARE(problemOf("mlp", "dense1,head").code, std::string("model.nothing-to-train"));
        QCOMPARE(problemOf("fashion-cnn", "block1/conv, block5/norm/weight, ").code, std::string());
    }
};

QTEST_APPLESS_MAIN(TstFrozen)
#include "tst_frozen.moc"
