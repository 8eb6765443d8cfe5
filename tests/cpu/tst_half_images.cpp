#include <QtTest>
#include <algorithm>
#include <array>

#include "engine/autodiff/gradients.h"
#include "engine/backend/cpu/conv_choice.h"
#include "engine/backend/cpu/fused_ops.h"
#include "engine/backend/cpu/simd/table.h"
#include "engine/model/registry.h"
#include "engine/plan/precision.h"
#include "tests/cpu/choosing_backend.h"
#include "tests/support/against_reference.h"
#include "tests/support/op_cases.h"
#include "tests/support/small_net.h"

using namespace lockstep;
using namespace lockstep::test;

// Images that lie in memory as bf16, which convolutions of pairs or of tiles read and write, and all that stands
// between these.
class tst_half_images : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void whatComesBehindItReadsIt_data() { backends(); }
    void whatComesBehindItReadsIt();
    void graphsAgreeWithTheReference_data();
    void graphsAgreeWithTheReference();
    void poolsOfEveryKindAgreeWithTheReference_data() { backends(); }
    void poolsOfEveryKindAgreeWithTheReference();
    void synchronisedNormsAgreeWithTheReference_data() { backends(); }
    void synchronisedNormsAgreeWithTheReference();
    void thoseOfTilesStandAmongOthers_data();
    void thoseOfTilesStandAmongOthers();
    void noneIsMadeByPlainLoops_data();
    void noneIsMadeByPlainLoops();
    void allAreHalvesWherePairsAreMultiplied_data();
    void allAreHalvesWherePairsAreMultiplied();
    void whatIsTakenInIsRoundedToo();
    void bitsDoNotDependOnThreads();

private:
    static void backends();
};

namespace {

struct Named {
    const char* name;
    const ChoosingBackend* backend;
};
std::array<Named, 4> named() {
    return {Named{"pairs", &ofPairs()},
            {"pairs by the library", &ofPairsByTheLibrary()},
            {"tiles", &ofTiles()},
            {"tiles by rule", &ofTilesByRule()}};
}

std::int64_t nodesBy(const Graph& lowered, const char* algorithm) {
    return std::ranges::count(lowered.nodes(), std::string(algorithm), &Node::algorithm);
}

// Norm and ReLU before 1x1 convolutions, which take in these and the other branch; images of an odd number of pixels.
Graph bottleneck() {
    Net net(DType::F32, true, {6, 3, 13, 15});
    const auto pixels = [&](ValueId x, std::int64_t channels) {
        return net.conv(net.relu(net.norm(x)), channels, 1, {});
    };
    ValueId x = net.conv(net.image(), 32, 3, {.padding = {1, 1}});
    for (int i = 0; i < 2; ++i) x = net.add(pixels(pixels(x, 16), 32), x);
    return net.finish(net.dense(net.globalPool(net.relu(net.norm(x))), 10));
}

constexpr std::int64_t kResidualSamples = 6;

// Blocks of three convolutions behind a pool, the second with one beside it.
Graph residual(bool training) {
    Net net(DType::F32, training, {kResidualSamples, 3, 18, 14});
    const auto normed = [&](ValueId x, std::int64_t channels, int window, Conv2dAttrs attrs = {}) {
        return net.norm(net.conv(x, channels, window, attrs));
    };
    ValueId x = net.maxPool(net.relu(normed(net.image(), 32, 3, {.padding = {1, 1}})), {{3, 3}, {2, 2}, {1, 1}});
    for (const int stride : {1, 2}) {
        const ValueId inner = net.relu(normed(net.relu(normed(x, 32, 1)), 32, 3, {{stride, stride}, {1, 1}}));
        const ValueId beside = stride == 1 ? x : normed(x, 64, 1, {.stride = {2, 2}});
        x = net.relu(net.add(normed(inner, stride * 32, 1), beside));
    }
    return net.finish(net.dense(net.globalPool(x), 10));
}

RunResult ran(const Graph& graph, Precision precision, int threads = 1) {
    return runGraph(ofPairs(), graph, randomTensors(graph, 12),
                    {.threads = threads, .scalars = {}, .precision = precision});
}

}  // namespace

void tst_half_images::initTestCase() {
    if (!cpu::bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
}

void tst_half_images::backends() {
    QTest::addColumn<const ChoosingBackend*>("backend");
    for (const Named& each : named()) QTest::newRow(each.name) << each.backend;
}

// Pools, sums and norms, whichever layout convolutions write.
void tst_half_images::whatComesBehindItReadsIt() {
    QFETCH(const ChoosingBackend*, backend);
    std::int64_t convolutions = 0;
    for (const GraphCase& each : graphCases()) {
        const Graph graph = each.build(DType::F32);
        const RunResult actual =
            runGraph(*backend, graph, randomTensors(graph, 12), {.scalars = {}, .precision = Precision::Bf16});
        const HostTensor expected = ran(graph, Precision::Fp32).outputs.at("logits");
        const double error = relativeError(actual.outputs.at("logits"), expected);
        QVERIFY2(error < 0.1, (each.name + " is off by " + std::to_string(error)).c_str());
        for (const char* algorithm : {cpu::kDirectBf16, cpu::kPointwiseBf16, "winograd"})
            convolutions += nodesBy(actual.lowered, algorithm);
    }
    QVERIFY2(convolutions > 40, std::to_string(convolutions).c_str());
}

void tst_half_images::graphsAgreeWithTheReference_data() {
    QTest::addColumn<const ChoosingBackend*>("backend");
    QTest::addColumn<int>("at");
    for (const Named& each : named()) {
        for (std::size_t i = 0; i < graphCases().size(); ++i)
            QTest::addRow("%s, %s", graphCases()[i].name.c_str(), each.name) << each.backend << static_cast<int>(i);
    }
}

// Outputs, gradients and statistics. Rounding decides about some ReLUs and maxima, whose
// gradients come or stay away as a whole.
void tst_half_images::graphsAgreeWithTheReference() {
    QFETCH(const ChoosingBackend*, backend);
    QFETCH(int, at);
    constexpr double kDecisions = 4;
    const std::string found = differences(*backend, graphCases()[static_cast<std::size_t>(at)],
                                          {.threads = 2, .scalars = {}, .precision = Precision::Bf16},
                                          kDecisions * allowance(Precision::Bf16));
    QVERIFY2(found.empty(), found.c_str());
}

// Windows that are apart and that overlap, between and behind convolutions, and what has no loops over bf16. Means
// alone decide nothing, and are off by what rounding loses; of maxima some gradients go elsewhere.
void tst_half_images::poolsOfEveryKindAgreeWithTheReference() {
    QFETCH(const ChoosingBackend*, backend);
    const Pool2dAttrs apart{.window = {2, 2}, .stride = {2, 2}},
        overlapping{.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
    const auto pools = [&](DType compute, bool largest) {
        Net net(compute, true, {4, 3, 12, 13});
        const auto pool = [&](ValueId x, const Pool2dAttrs& attrs) {
            return largest ? net.maxPool(net.relu(x), attrs) : net.averagePool(x, attrs);
        };
        ValueId x = net.conv(net.image(), 32, 3, {.padding = {1, 1}}, true);
        x = pool(net.conv(pool(x, overlapping), 48, 3, {.padding = {1, 1}}), overlapping);
        x = pool(net.add(net.dropout(net.silu(net.conv(x, 48, 1, {})), 0.4), x), {.window = {2, 2}, .stride = {1, 1}});
        x = pool(net.conv(net.conv(x, 40, 1, {}, true), 64, 1, {}), apart);
        return net.finish(net.dense(net.flatten(net.conv(x, 32, 1, {})), 10));
    };
    const RunOptions options{.threads = 2, .scalars = {}, .precision = Precision::Bf16};
    for (const bool largest : {false, true}) {
        const GraphCase graph{"pools", [&](DType compute) { return pools(compute, largest); }, largest ? 3e-4 : 2e-5};
        const std::string found = differences(*backend, graph, options, allowance(Precision::Bf16));
        QVERIFY2(found.empty(), (std::to_string(largest) + ": " + found).c_str());
    }
}

// Of images of bf16 with several channel blocks, on one device, where what is reduced over all of them is its own.
void tst_half_images::synchronisedNormsAgreeWithTheReference() {
    QFETCH(const ChoosingBackend*, backend);
    const auto build = [](DType compute) {
        Net net(compute, true, {5, 3, 9, 11}, true);
        ValueId x = net.relu(net.norm(net.conv(net.image(), 48, 3, {.padding = {1, 1}})));
        x = net.norm(net.conv(x, 32, 1, {.stride = {2, 2}}));
        return net.finish(net.dense(net.globalPool(x), 10));
    };
    const RunOptions options{.threads = 2, .scalars = {}, .precision = Precision::Bf16};
    const std::string found =
        differences(*backend, GraphCase{"norms", build, 3e-4}, options, allowance(Precision::Bf16));
    QVERIFY2(found.empty(), found.c_str());
}

// Between norms, branches and the library's convolutions; nothing is reordered on the way but weights.
void tst_half_images::thoseOfTilesStandAmongOthers_data() {
    QTest::addColumn<cpu::ConvAlgorithm>("algorithm");
    QTest::addColumn<int>("convolutions");
    QTest::newRow("samples") << cpu::ConvAlgorithm::Samples << 3;
    QTest::newRow("gathered") << cpu::ConvAlgorithm::Gathered << 2;
    QTest::newRow("padded") << cpu::ConvAlgorithm::Padded << 2;
    QTest::newRow("joined") << cpu::ConvAlgorithm::Joined << 2;
}

void tst_half_images::thoseOfTilesStandAmongOthers() {
    QFETCH(cpu::ConvAlgorithm, algorithm);
    QFETCH(int, convolutions);
    constexpr std::int64_t kSamples = 96;
    const auto build = [](DType compute) {
        Net net(compute, true, {kSamples, 3, 8, 8});
        const auto normed = [&](ValueId x, std::int64_t channels, const Conv2dAttrs& attrs) {
            return net.relu(net.norm(net.conv(x, channels, 3, attrs)));
        };
        ValueId x = normed(net.image(), 32, {.padding = {1, 1}});
        x = net.add(normed(x, 32, {.padding = {1, 1}}), x);
        x = net.add(normed(x, 64, {.stride = {2, 2}, .padding = {1, 1}}), net.conv(x, 64, 1, {.stride = {2, 2}}));
        x = net.relu(net.conv(x, 64, 3, {.padding = {1, 1}}, true));
        x = normed(net.conv(x, 48, 1, {}, true), 64, {.padding = {1, 1}});
        return net.finish(net.dense(net.globalPool(x), 10));
    };
    const RunOptions options{.threads = 2, .scalars = {}, .precision = Precision::Bf16};
    const std::string found =
        differences(ofTiles(algorithm), GraphCase{"tiles", build, 3e-4}, options, 4 * allowance(Precision::Bf16));
    QVERIFY2(found.empty(), found.c_str());
    const Graph lowered =
        ofTiles(algorithm).lower(toPrecision(build(DType::F32), DType::BF16), {.precision = Precision::Bf16});
    int passes = 0;
    for (const Node& node : lowered.nodes()) {
        passes += node.algorithm == text(algorithm) ? 1 : 0;
        if (node.op != &cpu::kReorder) continue;
        const Value& to = lowered.value(node.outputs[0]);
        const bool isBatch = lowered.value(node.inputs[0]).role == ValueRole::Input;
        QVERIFY2(isBatch || to.type.shape.rank() != 4 || to.type.shape[0] != kSamples, to.name.c_str());
    }
    QCOMPARE(passes, 3 * convolutions);
}

void tst_half_images::noneIsMadeByPlainLoops_data() {
    QTest::addColumn<const ChoosingBackend*>("backend");
    QTest::addColumn<QString>("model");
    for (const Named& each : named()) {
        for (const char* model :
             {"fashion-cnn", "small-cnn", "resnet50-cifar", "resnet164", "vgg11-cifar", "mobilenet-v2"})
            QTest::addRow("%s, %s", model, each.name) << each.backend << model;
    }
}

// Nor of a first layer of one channel, nor of images of one pixel, nor with the norm of an evaluation in it.
void tst_half_images::noneIsMadeByPlainLoops() {
    QFETCH(const ChoosingBackend*, backend);
    QFETCH(QString, model);
    constexpr int kThreads = 1;
    const ModelEntry& entry = *findModel(builtinModels(), model.toStdString());
    const bool isGrey = model == "fashion-cnn";
    for (const auto& [samples, training] : {std::pair{1, true}, {8, true}, {1, false}, {8, false}}) {
        const ModelInput input{.batch = samples, .channels = isGrey ? 1 : 3, .height = 32, .width = 32, .classes = 10};
        Graph graph = buildForward(entry, ParamValues(entry.params), input, training).value();
        if (training) appendGradients(graph, *graph.output("loss_sum"));
        const Graph lowered =
            backend->lower(toPrecision(graph, DType::BF16), {.threads = kThreads, .precision = Precision::Bf16});
        cpu::Machine machine;
        const cpu::TeamOf team(kThreads);
        int passes = 0;
        for (const Node& node : lowered.nodes()) {
            if (node.algorithm != cpu::kDirectBf16) continue;
            const cpu::Order order{machine, lowered, node};
            QVERIFY2(cpu::isLibrarysFast(order), order.where().c_str());
            ++passes;
        }
        const bool areOurs = backend == &ofPairs() || backend == &ofTilesByRule();  // but for the first, and strides
        QVERIFY2(passes >= (areOurs ? 1 : training ? 14 : 5), std::to_string(passes).c_str());
    }
}

void tst_half_images::allAreHalvesWherePairsAreMultiplied_data() {
    QTest::addColumn<const ChoosingBackend*>("backend");
    QTest::newRow("our own") << &ofPairs();
    QTest::newRow("the library's") << &ofPairsByTheLibrary();
}

// From the first convolution on, in training and in evaluation; nothing is reordered between them.
void tst_half_images::allAreHalvesWherePairsAreMultiplied() {
    QFETCH(const ChoosingBackend*, backend);
    if (onednn::bf16Units() == onednn::Bf16Units::Tiles) QSKIP("the library has other layouts where there are tiles");
    for (const bool training : {true, false}) {
        const Graph graph = residual(training);
        const auto run = [&](Precision precision) {
            return runGraph(*backend, graph, randomTensors(graph, 12), {.scalars = {}, .precision = precision});
        };
        const RunResult halves = run(Precision::Bf16), floats = run(Precision::Fp32);
        int kept = 0, reordered = 0, ofFloats = 0;
        for (const Node& node : halves.lowered.nodes()) {
            for (const ValueId output : node.outputs) {
                const TensorType& made = halves.lowered.typeOf(output);
                if (made.shape.rank() != 4 || made.shape[0] != kResidualSamples || made.dtype == DType::I32) continue;
                if (made.dtype == DType::F32) ++ofFloats;
                else (node.op == &cpu::kReorder ? reordered : kept) += 1;
            }
        }
        QCOMPARE(ofFloats, 0);
        QCOMPARE(reordered, 1);  // the batch
        QVERIFY2(kept >= (training ? 20 : 8), std::to_string(kept).c_str());
        const bool areOurs = backend == &ofPairs();
        for (const char* algorithm : {cpu::kPointwiseBf16, "winograd"})
            QCOMPARE(nodesBy(halves.lowered, algorithm) > 0, areOurs);
        const double error = relativeError(halves.outputs.at("logits"), floats.outputs.at("logits"));
        QVERIFY2(error < 0.03, std::to_string(error).c_str());
    }
}

void tst_half_images::whatIsTakenInIsRoundedToo() {
    const Graph graph = bottleneck();
    const RunResult halves = ran(graph, Precision::Bf16), floats = ran(graph, Precision::Fp32);
    QCOMPARE(nodesBy(floats.lowered, cpu::kPointwiseBf16), 0);
    QCOMPARE(nodesBy(halves.lowered, cpu::kPointwiseBf16), 12);  // four convolutions, three passes
    // As where the norms' outputs lie in memory; beside floats gradients differ by more, where rounding turns a ReLU's
    // mask.
    const RunResult apart =
        runGraph(ofPairsByTheLibrary(), graph, randomTensors(graph, 12), {.scalars = {}, .precision = Precision::Bf16});
    for (const auto& [name, tensor] : apart.gradients) {
        const double error = relativeError(halves.gradients.at(name), tensor);
        QVERIFY2(error < 0.2, (name + " is off by " + std::to_string(error)).c_str());
    }
    const double logits = relativeError(halves.outputs.at("logits"), floats.outputs.at("logits"));
    QVERIFY2(logits > 1e-4 && logits < 0.03, std::to_string(logits).c_str());
}

void tst_half_images::bitsDoNotDependOnThreads() {
    const Graph graph = bottleneck();
    const HostTensor alone = ran(graph, Precision::Bf16).outputs.at("logits");
    const HostTensor together = ran(graph, Precision::Bf16, 3).outputs.at("logits");
    QVERIFY(std::ranges::equal(alone.as<float>(), together.as<float>()));
}

QTEST_APPLESS_MAIN(tst_half_images)
#include "tst_half_images.moc"
