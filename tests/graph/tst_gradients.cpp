#include <QtTest>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/autodiff/gradients.h"
#include "engine/core/result.h"
#include "engine/graph/graph_builder.h"
#include "engine/ops/batch_norm.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/dropout.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/loss.h"
#include "engine/ops/pool2d.h"

using namespace lockstep;

namespace {

constexpr std::int64_t kBatch = 4;

std::int64_t countOf(const Graph& graph, const OpDef& op) { return std::ranges::count(graph.nodes(), &op, &Node::op); }

const Node& only(const Graph& graph, const OpDef& op) { return *std::ranges::find(graph.nodes(), &op, &Node::op); }

ValueId weights(GraphBuilder& b, const std::string& name, Shape shape) { return b.parameter(name, shape, {}, true); }

// Ends the graph in a cross-entropy over the logits and appends the backward pass.
Graph differentiated(GraphBuilder& b, ValueId logits) {
    const ValueId labels = b.input("label", {{kBatch}, DType::I32});
    const ValueId loss = crossEntropy(b, logits, labels, 0, "loss").sum;
    b.graph().addOutput("loss_sum", loss);
    Graph graph = b.take();
    appendGradients(graph, loss);
    verify(graph);
    return graph;
}

// One statement per value, so that every compiler numbers them alike.
ValueId residualBlock(GraphBuilder& b, ValueId x) {
    const auto scope = b.enter("block1");
    const ValueId w = weights(b, "conv/weight", {2, 1, 3, 3}), bias = b.parameter("conv/bias", {2}, {}, false);
    x = conv2d(b, x, w, bias, {.padding = {1, 1}}, "conv");
    const ValueId gamma = b.parameter("norm/weight", {2}, {}, false), beta = b.parameter("norm/bias", {2}, {}, false);
    const ValueId mean = b.buffer("norm/running_mean", {2}, 0), variance = b.buffer("norm/running_var", {2}, 1);
    x = batchNorm(b, x, gamma, beta, mean, variance, {}, "norm");
    return add(b, relu(b, x, "relu"), x, "add");
}

Graph smallNetwork() {
    GraphBuilder b(true);
    const ValueId image = b.input("image", {{kBatch, 1, 6, 6}, DType::F32});
    const ValueId ids = b.input("ids", {{kBatch}, DType::I64});
    ValueId x = maxPool2d(b, residualBlock(b, image), {}, "pool");
    x = flatten(b, dropout(b, x, ids, 0.25, "dropout"), "flatten");
    const ValueId w = weights(b, "head/weight", {3, 18}), bias = b.parameter("head/bias", {3}, {}, false);
    return differentiated(b, dense(b, x, w, bias, "head"));
}

}  // namespace

class TestGradients : public QObject {
    Q_OBJECT

private slots:
    void dumpMatchesGolden();
    void everyParameterGetsAGradientOfItsType();
    void startsFromOne();
    void sumsWhereUsesMeet_data();
    void sumsWhereUsesMeet();
    void skipsWhatNobodyWants();
    void ignoresBranchesBesideTheLoss();
    void oneValueTwiceInOneNode();
    void sharedParameterIsSummed();
    void unusedParameterIsAProblem();
    void noGradientFlowsThroughEvaluation();
    void dropoutMaskIsTheSameBackwards();
    void averagePoolingAndGlobalPooling();
    void castComesBackInItsOwnType();
};

// After an intended change: LOCKSTEP_UPDATE_GOLDEN=1 build/tests/tst_gradients, then read the diff.
void TestGradients::dumpMatchesGolden() {
    const std::string path = LOCKSTEP_SOURCE_DIR "/tests/graph/golden/small_training.txt";
    const std::string text = dump(smallNetwork());
    if (qEnvironmentVariableIsSet("LOCKSTEP_UPDATE_GOLDEN")) std::ofstream(path) << text;
    std::stringstream golden;
    golden << std::ifstream(path).rdbuf();
    const auto lines = [](const std::string& whole) { return QString::fromStdString(whole).split('\n'); };
    QCOMPARE(lines(text), lines(golden.str()));
}

void TestGradients::everyParameterGetsAGradientOfItsType() {
    const Graph graph = smallNetwork();
    const auto parameters = graph.withRole(ValueRole::Parameter);
    QCOMPARE(parameters.size(), std::size_t{6});
    for (const ValueId id : parameters) {
        const auto gradient = graph.gradientOf(id);
        QVERIFY(gradient);
        QVERIFY(graph.typeOf(*gradient) == graph.typeOf(id));
    }
}

void TestGradients::startsFromOne() {
    const Graph graph = smallNetwork();
    QCOMPARE(countOf(graph, kFill), 1);
    const Node& seed = only(graph, kFill);
    QCOMPARE(seed.attrs.as<FillAttrs>().value, 1.0);
    QCOMPARE(graph.typeOf(seed.outputs[0]).text(), std::string("f64[1]"));
    QVERIFY(only(graph, kCrossEntropyBackward).inputs[2] == seed.outputs[0]);
}

void TestGradients::sumsWhereUsesMeet_data() {
    QTest::addColumn<int>("uses");
    for (int uses = 1; uses <= 4; ++uses) QTest::addRow("%d", uses) << uses;
}

// One hidden value read by n nodes: its gradient is a chain of n - 1 sums.
void TestGradients::sumsWhereUsesMeet() {
    QFETCH(int, uses);
    GraphBuilder b(true);
    const ValueId x = b.input("x", {{kBatch, 3}, DType::F32});
    const ValueId hidden = dense(b, x, weights(b, "w", {3, 3}), std::nullopt, "hidden");
    ValueId sum = relu(b, hidden, "branch");
    for (int i = 1; i < uses; ++i) sum = add(b, sum, relu(b, hidden, "branch"), "sum");
    const Graph graph = differentiated(b, sum);
    QCOMPARE(countOf(graph, kAdd), 2 * (uses - 1));
    QCOMPARE(countOf(graph, kReluBackward), uses);
    QCOMPARE(countOf(graph, kDenseBackwardWeights), 1);
    const ValueId dHidden = only(graph, kDenseBackwardWeights).inputs[1];
    const Node& producer = graph.node(*graph.value(dHidden).producer);
    QVERIFY(producer.op == (uses == 1 ? &kReluBackward : &kAdd));
}

void TestGradients::skipsWhatNobodyWants() {
    const Graph graph = smallNetwork();
    QCOMPARE(countOf(graph, kConv2dBackwardWeights), 1);
    QCOMPARE(countOf(graph, kConv2dBackwardBias), 1);
    QCOMPARE(countOf(graph, kConv2dBackwardData), 0);
    QCOMPARE(countOf(graph, kDenseBackwardData), 1);
}

void TestGradients::ignoresBranchesBesideTheLoss() {
    GraphBuilder b(true);
    const ValueId x = b.input("x", {{kBatch, 3}, DType::F32});
    const ValueId logits = dense(b, x, weights(b, "w", {3, 3}), std::nullopt, "head");
    b.graph().addOutput("shown", relu(b, logits, "shown"));
    const Graph graph = differentiated(b, logits);
    QCOMPARE(countOf(graph, kReluBackward), 0);
    QCOMPARE(countOf(graph, kAdd), 0);
}

void TestGradients::oneValueTwiceInOneNode() {
    GraphBuilder b(true);
    const ValueId x = b.input("x", {{kBatch, 3}, DType::F32});
    const ValueId hidden = dense(b, x, weights(b, "w", {3, 3}), std::nullopt, "hidden");
    const Graph graph = differentiated(b, add(b, hidden, hidden, "twice"));
    QCOMPARE(countOf(graph, kAdd), 2);
    const ValueId dHidden = only(graph, kDenseBackwardWeights).inputs[1];
    const Node& sum = graph.node(*graph.value(dHidden).producer);
    QVERIFY(sum.op == &kAdd && sum.inputs[0] == sum.inputs[1]);
}

void TestGradients::sharedParameterIsSummed() {
    GraphBuilder b(true);
    const ValueId x = b.input("x", {{kBatch, 3}, DType::F32});
    const ValueId w = weights(b, "w", {3, 3});
    const ValueId once = dense(b, x, w, std::nullopt, "first");
    const Graph graph = differentiated(b, dense(b, once, w, std::nullopt, "second"));
    QCOMPARE(countOf(graph, kDenseBackwardWeights), 2);
    QVERIFY(graph.node(*graph.value(*graph.gradientOf(w)).producer).op == &kAdd);
}

void TestGradients::unusedParameterIsAProblem() {
    GraphBuilder b(true);
    const ValueId x = b.input("x", {{kBatch, 3}, DType::F32});
    weights(b, "lost/weight", {3, 3});
    try {
        differentiated(b, dense(b, x, weights(b, "w", {3, 3}), std::nullopt, "head"));
        QFAIL("nothing uses lost/weight");
    } catch (const ProblemError& error) {
        QVERIFY((error.problem() == Problem{"lost/weight", "graph.unused-parameter", {"lost/weight"}}));
    }
}

void TestGradients::noGradientFlowsThroughEvaluation() {
    GraphBuilder b(false);
    ValueId x = b.input("x", {{kBatch, 3}, DType::F32});
    x = dense(b, x, weights(b, "first", {3, 3}), std::nullopt, "first");
    const ValueId ones = b.parameter("norm/weight", {3}, {}, false), zeros = b.parameter("norm/bias", {3}, {}, false);
    x = batchNorm(b, x, ones, zeros, b.buffer("mean", {3}, 0), b.buffer("variance", {3}, 1), {}, "norm");
    QVERIFY_THROWS_EXCEPTION(ProblemError, differentiated(b, x));
}

void TestGradients::dropoutMaskIsTheSameBackwards() {
    const Graph graph = smallNetwork();
    const Node& forward = only(graph, kDropout);
    const Node& backward = only(graph, kDropoutBackward);
    QVERIFY(forward.attrs == backward.attrs);
    QVERIFY(forward.inputs[1] == backward.inputs[1]);
    QVERIFY(forward.attrs.as<DropoutAttrs>().stream != 0);
}

void TestGradients::averagePoolingAndGlobalPooling() {
    GraphBuilder b(true);
    ValueId x = b.input("image", {{kBatch, 2, 9, 7}, DType::F32});
    x = conv2d(b, x, weights(b, "w", {3, 2, 3, 3}), std::nullopt, {.stride = {2, 1}, .padding = {1, 0}}, "conv");
    QCOMPARE(b.typeOf(x).text(), std::string("f32[4x3x5x5]"));
    x = averagePool2d(b, x, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, "pool");
    const Graph graph = differentiated(b, globalAveragePool2d(b, x, "global"));
    QCOMPARE(graph.typeOf(only(graph, kGlobalAveragePool2dBackward).outputs[0]).text(), std::string("f32[4x3x3x3]"));
    QCOMPARE(graph.typeOf(only(graph, kAveragePool2dBackward).outputs[0]).text(), std::string("f32[4x3x5x5]"));
}

void TestGradients::castComesBackInItsOwnType() {
    GraphBuilder b(true);
    const ValueId x = b.input("x", {{kBatch, 3}, DType::F32});
    const ValueId y = dense(b, x, weights(b, "w", {3, 3}), std::nullopt, "head");
    const ValueId wide = b.append(kCast, {y}, Attrs::of(CastAttrs{DType::F64}), "wide")[0];
    const Graph graph = differentiated(b, wide);
    QCOMPARE(graph.typeOf(only(graph, kCrossEntropyBackward).outputs[0]).dtype, DType::F64);
    QCOMPARE(graph.typeOf(*graph.gradientOf(*graph.find("w"))).dtype, DType::F32);
}

QTEST_APPLESS_MAIN(TestGradients)
#include "tst_gradients.moc"
