#include <QtTest>

#include <algorithm>
#include <map>

#include "engine/autodiff/gradients.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/simd/table.h"
#include "engine/model/registry.h"
#include "tests/cpu/choosing_backend.h"

using namespace lockstep;
using namespace lockstep::test;

// What the lowering makes of whole models: what is fused, where layouts change, what the other programs of a run get.
class tst_cpu_lowering : public QObject {
    Q_OBJECT
private slots:
    void modelsStayLegal_data();
    void modelsStayLegal();
    void residualNetworkIsFused();
    void normsOfEvaluationsAreFolded();
    void transformerIsFused();
    void evaluationPacksWeightsAhead();
    void residualNetworkReordersNothing();
    void fewChannelsLieInLanes();
    void fewSamplesOfAnEvaluationDoNot();
    void gradientsLieLikeTheirParameters();
    void evaluationTakesTheLayoutsItIsGiven();
    void layoutsDependOnNeitherBatchNorThreads();
    void rowMajorLayoutsAreAccepted();
    void synchronisedNormsStayInBlocks();
    void nodesHaveOneOrderWhateverTheBatch_data();
    void nodesHaveOneOrderWhateverTheBatch();
    void loweringIsRepeatable();
};

namespace {

auto lanesOf(const Graph& low) {
    return std::ranges::count_if(low.nodes(), [](const Node& node) { return node.algorithm == "lanes"; });
}

Graph modelGraph(const std::string& name, std::int64_t batch, bool training, bool synchronises = false) {
    const ModelEntry* model = findModel(builtinModels(), name);
    const bool colour = model->usual.channels == 3;
    const ModelInput input{.batch = batch,
                           .channels = colour ? 3 : 1,
                           .height = colour ? 32 : 28,
                           .width = colour ? 32 : 28,
                           .classes = 10,
                           .synchronisesNorm = synchronises,
                           .tokens = 12};
    Graph graph = buildForward(*model, ParamValues(model->params), input, training).value();
    if (training) appendGradients(graph, *graph.output("loss_sum"));
    return graph;
}

Graph lowered(const Graph& graph, const ParameterLayouts* layouts = nullptr, int threads = 1) {
    return makeCpuBackend()->lower(graph, {.threads = threads, .layouts = layouts});
}

std::map<std::string, int> countOps(const Graph& graph) {
    std::map<std::string, int> counts;
    for (const Node& node : graph.nodes()) ++counts[std::string(node.op->name)];
    return counts;
}

ParameterLayouts layoutsOf(const Graph& graph) {
    ParameterLayouts layouts;
    for (const ValueId id : graph.withRole(ValueRole::Parameter))
        layouts[graph.value(id).name] = graph.value(id).layout;
    return layouts;
}

std::string textOf(const std::shared_ptr<const Layout>& layout) { return layout ? layout->text() : "row-major"; }

void compareLayouts(const ParameterLayouts& a, const ParameterLayouts& b) {
    QCOMPARE(a.size(), b.size());
    for (const auto& [name, layout] : a)
        QVERIFY2(textOf(layout) == textOf(b.at(name)),
                 (name + ": " + textOf(layout) + ", " + textOf(b.at(name))).c_str());
}

}  // namespace

void tst_cpu_lowering::modelsStayLegal_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("training");
    for (const ModelEntry& model : builtinModels()) {
        const QString name = QString::fromStdString(model.name);
        QTest::addRow("%s training", qPrintable(name)) << name << true;
        QTest::addRow("%s evaluation", qPrintable(name)) << name << false;
    }
}

void tst_cpu_lowering::modelsStayLegal() {
    QFETCH(QString, name);
    QFETCH(bool, training);
    const Graph graph = modelGraph(name.toStdString(), 3, training), low = lowered(graph);
    verify(low);
    for (const ValueRole role : {ValueRole::Input, ValueRole::Parameter, ValueRole::Buffer}) {
        const auto before = graph.withRole(role), after = low.withRole(role);
        QCOMPARE(after.size(), before.size());
        for (std::size_t i = 0; i < before.size(); ++i) {
            QCOMPARE(low.value(after[i]).name, graph.value(before[i]).name);
            QVERIFY(low.typeOf(after[i]) == graph.typeOf(before[i]));
        }
    }
    QCOMPARE(low.outputs().size(), graph.outputs().size());
    for (const Graph::Output& output : graph.outputs()) {
        QVERIFY(low.output(output.name));
        QVERIFY(low.typeOf(*low.output(output.name)) == graph.typeOf(output.value));
    }
    QCOMPARE(low.assignments().size(), graph.assignments().size());
    for (const Node& node : low.nodes()) QVERIFY(node.op->isView || !node.algorithm.empty());
}

void tst_cpu_lowering::residualNetworkIsFused() {
    auto counts = countOps(lowered(modelGraph("resnet18-cifar", 4, true)));
    QCOMPARE(counts["batch_norm_train"] + counts["batch_norm_backward"], 0);
    QCOMPARE(counts["relu"] + counts["relu_backward"], 0);
    // 20 batch norms, three of which are shortcuts that go with their block's second. Those between two convolutions of
    // our own are made by the second; four images have too few tiles in the last stages.
    const int between = cpu::haveWideRegisters() ? 4 : 0;
    QCOMPARE(counts["norm_statistics"], between);
    QCOMPARE(counts["conv2d_fused"], between);
    QCOMPARE(counts["conv2d_backward_weights_normed"], between);
    QCOMPARE(counts["norm_train"], 17 - between);
    QCOMPARE(counts["norm_backward"], 17);
    QCOMPARE(counts["add"], 0);
}

// Of many images every norm of an evaluation goes into the convolution before it, and what follows the norm with it; of
// one image the last convolutions have more weights than there are results.
void tst_cpu_lowering::normsOfEvaluationsAreFolded() {
    auto many = countOps(lowered(modelGraph("resnet18-cifar", 512, false)));
    QCOMPARE(many["batch_norm_eval"] + many["norm_eval"] + many["relu"] + many["add"] + many["conv2d"], 0);
    QCOMPARE(many["conv2d_folded"] + many["conv2d_scaled"], 20);
    QCOMPARE(many["scale_filters"], many["conv2d_scaled"]);
    QCOMPARE(many["reorder"], 1);  // of the classifier's weights, once
    auto one = countOps(lowered(modelGraph("resnet18-cifar", 1, false)));
    QCOMPARE(one["batch_norm_eval"] + one["relu"] + one["add"], 0);
    QVERIFY(one["conv2d"] > 0 && one["norm_eval"] > 0);
    auto mobile = countOps(lowered(modelGraph("mobilenet-v2", 4096, false)));
    QCOMPARE(mobile["batch_norm_eval"] + mobile["norm_eval"] + mobile["relu6"] + mobile["add"] + mobile["conv2d"], 0);
}

void tst_cpu_lowering::transformerIsFused() {
    for (const char* name : {"vit", "gpt"}) {
        const Graph forward = modelGraph(name, 2, false), training = modelGraph(name, 2, true);
        std::map<std::string, int> ops = countOps(lowered(training));
        QCOMPARE(ops["dense_gelu"], 6);
        QCOMPARE(ops["dense_backward_data_gelu"], 6);
        QCOMPARE(ops["dense_add"], 12);
        QCOMPARE(ops["layer_norm_backward_add"], 12);
        QCOMPARE(ops["gelu"] + ops["gelu_backward"], 0);
        QCOMPARE(ops["add"], name == QByteArray("gpt") ? 1 : 0);  // the gradients of the table, which is the head, too
        ops = countOps(lowered(forward));
        QCOMPARE(ops["dense_gelu"], 6);
        QCOMPARE(ops["add"] + ops["gelu"], 0);
    }
}

// Whichever algorithm reads them. Training changes its weights.
void tst_cpu_lowering::evaluationPacksWeightsAhead() {
    const auto packed = [](const Graph& low) {
        int count = 0;
        for (const Node& node : low.nodes())
            count += node.op->name.starts_with("dense") && low.value(node.inputs[1]).layout != nullptr;
        return count;
    };
    QCOMPARE(packed(lowered(modelGraph("mlp", 8, false))), 3);
    QCOMPARE(packed(lowered(modelGraph("mlp", 8, true))), 0);
    QCOMPARE(packed(lowered(modelGraph("gpt", 4, false))), 25);
    QCOMPARE(packed(lowered(modelGraph("gpt", 64, false))), 25);
}

void tst_cpu_lowering::residualNetworkReordersNothing() {
    const Graph low = lowered(modelGraph("resnet18-cifar", 64, true));
    QCOMPARE(countOps(low)["reorder"], 0);
    int packed = 0;
    for (const Node& node : low.nodes()) packed += node.algorithm == "direct+pack";
    // The strided convolutions' weights, inside their backward pass; without AVX2, all convolutions'.
    QCOMPARE(packed, cpu::haveWideRegisters() ? 6 : 19);
}

// LeNet's images change their layout once on the way to the dense layers, and once on the way back.
void tst_cpu_lowering::fewChannelsLieInLanes() {
    const Graph low = lowered(modelGraph("lenet5", 20, true));
    QCOMPARE(countOps(low)["reorder"], 2);
    QCOMPARE(lanesOf(low), 5);
}

// An evaluation's would be mostly empty.
void tst_cpu_lowering::fewSamplesOfAnEvaluationDoNot() {
    QCOMPARE(lanesOf(lowered(modelGraph("lenet5", 20, false))), 2);
    QCOMPARE(lanesOf(lowered(modelGraph("lenet5", 4, false))), 0);
    QCOMPARE(lanesOf(lowered(modelGraph("lenet5", 4, true))), 5);
}

void tst_cpu_lowering::gradientsLieLikeTheirParameters() {
    const Graph low = lowered(modelGraph("resnet18-cifar", 4, true));
    int blocked = 0;
    for (const ValueId id : low.withRole(ValueRole::Parameter)) {
        const Value &parameter = low.value(id), &gradient = low.value(*low.gradientOf(id));
        QCOMPARE(textOf(gradient.layout), textOf(parameter.layout));
        QCOMPARE(gradient.bytes(), parameter.bytes());
        QVERIFY(low.node(*gradient.producer).op->name != "reorder");
        blocked += parameter.layout != nullptr;
    }
    QCOMPARE(blocked, 20);  // every convolution's weights
}

void tst_cpu_lowering::evaluationTakesTheLayoutsItIsGiven() {
    for (const ModelEntry& model : builtinModels()) {
        const ParameterLayouts layouts = layoutsOf(lowered(modelGraph(model.name, 8, true)));
        for (const bool training : {false, true}) {
            const Graph low = lowered(modelGraph(model.name, 5, training), &layouts);
            verify(low);
            compareLayouts(layoutsOf(low), layouts);
        }
    }
}

void tst_cpu_lowering::layoutsDependOnNeitherBatchNorThreads() {
    const ParameterLayouts layouts = layoutsOf(lowered(modelGraph("resnet18-cifar", 16, true)));
    compareLayouts(layoutsOf(lowered(modelGraph("resnet18-cifar", 1, true))), layouts);
    compareLayouts(layoutsOf(lowered(modelGraph("resnet18-cifar", 16, true), nullptr, 3)), layouts);
}

void tst_cpu_lowering::rowMajorLayoutsAreAccepted() {
    const Graph graph = modelGraph("fashion-cnn", 2, true);
    ParameterLayouts layouts;
    for (const ValueId id : graph.withRole(ValueRole::Parameter)) layouts[graph.value(id).name] = nullptr;
    const Graph low = lowered(graph, &layouts);
    verify(low);
    for (const ValueId id : low.withRole(ValueRole::Parameter)) {
        QVERIFY(!low.value(id).layout);
        QVERIFY(!low.value(*low.gradientOf(id)).layout);
    }
}

void tst_cpu_lowering::synchronisedNormsStayInBlocks() {
    const Graph low = lowered(modelGraph("resnet18-cifar", 64, true, true));
    verify(low);
    auto counts = countOps(low);
    QCOMPARE(counts["reorder"], 0);
    QCOMPARE(counts["batch_norm_train_from_sums"], 20);
    QCOMPARE(counts["all_reduce"], 40);
    QCOMPARE(counts["relu"], 17);
}

void tst_cpu_lowering::nodesHaveOneOrderWhateverTheBatch_data() {
    QTest::addColumn<QString>("name");
    for (const ModelEntry& model : builtinModels()) QTest::newRow(model.name.c_str()) << model.name.c_str();
}

// Where gradients become ready between the all-reduces of norms must be the same on all ranks, also where other layouts
// or algorithms suit another batch.
void tst_cpu_lowering::nodesHaveOneOrderWhateverTheBatch() {
    QFETCH(QString, name);
    ParameterLayouts layouts;
    const auto order = [&](std::int64_t batch, std::uint64_t seed) {
        const Graph graph = modelGraph(name.toStdString(), batch, true, true);
        const LowerOptions options{.layouts = layouts.empty() ? nullptr : &layouts};
        const Graph low =
            seed ? ChoosingBackend(anyChoice(seed)).lower(graph, options) : makeCpuBackend()->lower(graph, options);
        if (layouts.empty()) layouts = layoutsOf(low);
        std::vector<std::string> readied(low.nodes().size());
        for (const ValueId id : low.withRole(ValueRole::Parameter))
            readied[index(*low.value(*low.gradientOf(id)).producer)] += low.value(id).name + ' ';
        std::vector<std::string> found;
        for (std::size_t i = 0; i < readied.size(); ++i) {
            if (!readied[i].empty()) found.push_back(readied[i]);
            if (low.nodes()[i].op->name == "all_reduce") found.push_back("all-reduce");
        }
        return found;
    };
    const auto expected = order(64, 0);
    for (const std::int64_t batch : {63, 32, 16, 15, 3, 1}) QCOMPARE(order(batch, 0), expected);
    for (const std::uint64_t seed : {1, 2}) QCOMPARE(order(64, seed), expected);
}

void tst_cpu_lowering::loweringIsRepeatable() {
    const Graph graph = modelGraph("lenet5", 4, true);
    QCOMPARE(QString::fromStdString(dump(lowered(graph))), QString::fromStdString(dump(lowered(graph))));
}

QTEST_APPLESS_MAIN(tst_cpu_lowering)
#include "tst_cpu_lowering.moc"
