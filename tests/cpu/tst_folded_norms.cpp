#include <QtTest>

#include "engine/backend/reference/reference_backend.h"
#include "tests/cpu/choosing_backend.h"
#include "tests/support/op_cases.h"
#include "tests/support/small_net.h"

using namespace lockstep;
using namespace lockstep::test;

// Norms of an evaluation, which become part of the convolutions before them: every algorithm's convolution, with the
// other branch and what clamps the sum, against the reference backend, which makes them one after the other.
class tst_folded_norms : public QObject {
    Q_OBJECT
private slots:
    void blocksAgree_data();
    void blocksAgree();
    void blocksAgreeInBf16_data();
    void blocksAgreeInBf16();
    void whatIsReadElsewhereStays();
};

namespace {

using Build = Graph (*)(DType compute, const Shape& image);

ValueId conv(Net& net, ValueId x, std::int64_t channels, int window, int stride = 1, int groups = 1) {
    return net.conv(x, channels, window,
                    {.stride = {stride, stride}, .padding = {window / 2, window / 2}, .groups = groups});
}

// Shortcuts that are what was read, and ones with a norm of their own.
Graph residual(DType compute, const Shape& image) {
    Net net(compute, false, image);
    ValueId x = net.relu(net.norm(conv(net, net.image(), 32, 3)));
    for (const int stride : {1, 2}) {
        const ValueId y = net.norm(conv(net, net.relu(net.norm(conv(net, x, 32, 3, stride))), 32, 3));
        x = net.relu(net.add(y, stride == 1 ? x : net.norm(conv(net, x, 32, 1, stride))));
    }
    return net.finish(net.dense(net.globalPool(x), 10));
}

Graph bottleneck(DType compute, const Shape& image) {
    Net net(compute, false, image);
    ValueId x = net.relu(net.norm(conv(net, net.image(), 64, 3)));
    for (const bool isFirst : {true, false}) {
        const std::int64_t narrow = isFirst ? 32 : 16;
        ValueId y = net.relu(net.norm(conv(net, x, narrow, 1)));
        y = net.norm(conv(net, net.relu(net.norm(conv(net, y, narrow, 3))), 64, 1));
        x = net.relu(net.add(y, isFirst ? net.norm(conv(net, x, 64, 1)) : x));
    }
    return net.finish(net.dense(net.globalPool(x), 10));
}

// Depthwise convolutions and ReLU6, with channels that no block divides; sums that are not clamped.
Graph mobile(DType compute, const Shape& image) {
    Net net(compute, false, image);
    ValueId x = net.norm(conv(net, net.relu6(net.norm(conv(net, net.image(), 32, 3))), 24, 1));
    for (int i = 0; i < 2; ++i) {
        const ValueId wide = net.relu6(net.norm(conv(net, x, 96, 1)));
        x = net.add(net.norm(conv(net, net.relu6(net.norm(conv(net, wide, 96, 3, 1, 96))), 24, 1)), x);
    }
    return net.finish(net.dense(net.globalPool(net.relu6(net.norm(conv(net, x, 32, 3)))), 10));
}

struct Case {
    const char* name;
    Build build;
};
constexpr Case kCases[] = {{"residual", residual}, {"bottleneck", bottleneck}, {"mobile", mobile}};

constexpr int kMany = 32;  // samples for which it is worth it everywhere

// As an algorithm is named, where it suits the pass.
cpu::ConvChoice choiceOf(const std::string& name) {
    if (name == "rule") return cpu::chooseByRule;
    if (name == "library") return [](const cpu::ConvPass&) { return cpu::ConvAlgorithm::Direct; };
    if (name == "library's bf16") return [](const cpu::ConvPass&) { return cpu::ConvAlgorithm::DirectBf16; };
    return wherever(name == "gathered" ? cpu::ConvAlgorithm::Gathered
                    : name == "padded" ? cpu::ConvAlgorithm::Padded
                    : name == "joined" ? cpu::ConvAlgorithm::Joined
                                       : cpu::ConvAlgorithm::Samples);
}

int count(const Graph& graph, const char* op) {
    return static_cast<int>(
        std::ranges::count_if(graph.nodes(), [&](const Node& node) { return node.op->name == op; }));
}

void rows(const std::vector<const char*>& choices) {
    QTest::addColumn<int>("net");
    QTest::addColumn<QString>("choice");
    QTest::addColumn<int>("samples");
    for (int net = 0; net < static_cast<int>(std::size(kCases)); ++net) {
        for (const char* choice : choices) {
            for (const int samples : {1, 3, kMany})
                QTest::addRow("%s, %s, %d samples", kCases[net].name, choice, samples) << net << choice << samples;
        }
    }
}

// Each with memory that is taken over and with memory of its own.
void compare(const Backend& backend, const Case& net, const Shape& image, Precision precision, double tolerance) {
    const Graph exact = net.build(DType::F64, image), graph = net.build(DType::F32, image);
    const Tensors given = randomTensors(exact, 5);
    const HostTensor expected = runGraph(*makeReferenceBackend(), exact, given).outputs.at("logits");
    for (const bool inplace : {false, true}) {
        for (const int threads : {1, 3}) {
            const RunResult actual = runGraph(
                backend, graph, given, {.threads = threads, .scalars = {}, .inplace = inplace, .precision = precision});
            QVERIFY(count(actual.lowered, "conv2d_folded") + count(actual.lowered, "conv2d_scaled") > 0);
            if (image[0] == kMany)
                QCOMPARE(
                    count(actual.lowered, "norm_eval") + count(actual.lowered, "conv2d") + count(actual.lowered, "add"),
                    0);
            const double error = relativeError(actual.outputs.at("logits"), expected);
            QVERIFY2(error <= tolerance, std::to_string(error).c_str());
        }
    }
}

}  // namespace

void tst_folded_norms::blocksAgree_data() { rows({"rule", "library"}); }

void tst_folded_norms::blocksAgree() {
    QFETCH(int, net);
    QFETCH(QString, choice);
    QFETCH(int, samples);
    const ChoosingBackend backend(choiceOf(choice.toStdString()));
    compare(backend, kCases[net], {samples, 3, 12, 12}, Precision::Fp32, 1e-5);
}

void tst_folded_norms::blocksAgreeInBf16_data() {
    rows({"rule", "library's bf16", "samples", "gathered", "padded", "joined"});
}

// As far as eight bits of each factor let them; by the processor's own units, and as where there are tiles.
void tst_folded_norms::blocksAgreeInBf16() {
    QFETCH(int, net);
    QFETCH(QString, choice);
    QFETCH(int, samples);
    if (!cpu::bestBf16()) QSKIP("this processor has no instructions for pairs of bf16");
    for (const auto units : {onednn::Bf16Units::Pairs, onednn::Bf16Units::Tiles}) {
        const bool isOfTiles = choice != "rule" && choice != "library's bf16";
        if (isOfTiles && units != onednn::Bf16Units::Tiles) continue;
        const ChoosingBackend backend(choiceOf(choice.toStdString()), units);
        compare(backend, kCases[net], {samples, 3, 12, 12}, Precision::Bf16, 0.03);
    }
}

// By a second reader, or from outside.
void tst_folded_norms::whatIsReadElsewhereStays() {
    const auto lowered = [](bool isKept) {
        Net net(DType::F32, false, {32, 3, 12, 12});
        const ValueId y = conv(net, net.image(), 32, 3), z = net.norm(y);
        Graph graph = net.finish(net.dense(net.globalPool(isKept ? net.add(z, net.relu(y)) : z), 10));
        return makeCpuBackend()->lower(graph, {});
    };
    QCOMPARE(count(lowered(true), "conv2d"), 1);
    QCOMPARE(count(lowered(false), "conv2d"), 0);
}

QTEST_APPLESS_MAIN(tst_folded_norms)
#include "tst_folded_norms.moc"
