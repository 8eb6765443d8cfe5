#include <QtTest>

#include <functional>

#include "engine/core/error.h"
#include "engine/core/result.h"
#include "engine/graph/graph_builder.h"
#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"

using namespace lockstep;

namespace {

const TensorType kRow{{2, 3}, DType::F32};
const TensorType kOther{{3, 2}, DType::F32};

struct NamedLayout final : Layout {
    explicit NamedLayout(std::string name) : m_name(std::move(name)) {}
    std::size_t bytes() const override { return 64; }
    std::string text() const override { return m_name; }
    std::string m_name;
};

Node reluOf(ValueId x, std::string scope = "relu") { return {.op = &kRelu, .inputs = {x}, .scope = std::move(scope)}; }
Value ofType(const TensorType& type) { return {.type = type}; }

// What verify() says, empty when the graph is legal.
QString complaint(const Graph& graph) {
    try {
        verify(graph);
    } catch (const EngineError& error) {
        return QString::fromStdString(error.what());
    }
    return {};
}

using Break = std::function<void(Graph&)>;

}  // namespace

Q_DECLARE_METATYPE(Break)

class TestGraph : public QObject {
    Q_OBJECT

private slots:
    void appendInfersTypesAndNamesValues();
    void ruleProblemsNameTheLayer();
    void copiesAreIndependent();
    void builderScopesNestAndStayUnique();
    void attrsCompareByValue();
    void verifyCatches_data();
    void verifyCatches();
    void verifyAccepts_data();
    void verifyAccepts();
};

void TestGraph::appendInfersTypesAndNamesValues() {
    Graph graph;
    const ValueId x = graph.addInput("x", kRow);
    const ValueId w = graph.addParameter("fc/weight", {{5, 3}, DType::F32}, {}, true);
    const ValueId y = graph.append(kDense, {x, w}, {}, "fc")[0];
    QCOMPARE(graph.typeOf(y).text(), std::string("f32[2x5]"));
    QCOMPARE(graph.value(y).name, std::string("fc:dense"));
    QVERIFY(graph.value(y).producer == NodeId{0});
    QVERIFY(graph.find("fc/weight") == w);
    QVERIFY(!graph.find("fc/bias"));
    QVERIFY(!graph.gradientOf(w));
    QCOMPARE(complaint(graph), QString());
}

void TestGraph::ruleProblemsNameTheLayer() {
    Graph graph;
    const ValueId x = graph.addInput("x", kRow);
    const ValueId w = graph.addParameter("fc/weight", {{5, 4}, DType::F32}, {}, true);
    try {
        graph.append(kDense, {x, w}, {}, "block1/fc");
        QFAIL("a weight with 4 inputs does not fit rows of 3");
    } catch (const ProblemError& error) {
        const Problem expected{"block1/fc", "graph.type-mismatch", {"dense", "w", "f32[5x3]", "f32[5x4]"}};
        QVERIFY(error.problem() == expected);
    }
    QCOMPARE(graph.nodes().size(), std::size_t{0});
}

void TestGraph::copiesAreIndependent() {
    Graph graph;
    const ValueId x = graph.addInput("x", kRow);
    Graph copy = graph;
    copy.append(kRelu, {x}, {}, "relu");
    copy.setLayout(x, std::make_shared<NamedLayout>("blocked"));
    QCOMPARE(graph.nodes().size(), std::size_t{0});
    QVERIFY(!graph.value(x).layout);
    QCOMPARE(copy.value(x).bytes(), std::size_t{64});
}

void TestGraph::builderScopesNestAndStayUnique() {
    GraphBuilder b(true);
    const ValueId x = b.input("x", kRow);
    {
        const auto outer = b.enter("block1");
        const auto inner = b.enter("left");
        QCOMPARE(b.graph().value(b.parameter("weight", {3}, {}, true)).name, std::string("block1/left/weight"));
        relu(b, x, "relu");
        QCOMPARE(b.scopeFor(kRelu, "relu"), std::string("block1/left/relu_2"));
        relu(b, x, "relu");
        QCOMPARE(b.scopeFor(kAdd, "relu"), std::string("block1/left/relu"));
    }
    relu(b, x, "relu");
    const Graph graph = b.take();
    QCOMPARE(graph.nodes()[0].scope, std::string("block1/left/relu"));
    QCOMPARE(graph.nodes()[1].scope, std::string("block1/left/relu_2"));
    QCOMPARE(graph.nodes()[2].scope, std::string("relu"));
    QCOMPARE(complaint(graph), QString());
}

void TestGraph::attrsCompareByValue() {
    const Attrs one = Attrs::of(FillAttrs{kRow, 1}), same = Attrs::of(FillAttrs{kRow, 1});
    QVERIFY(one == same);
    QVERIFY(!(one == Attrs::of(FillAttrs{kRow, 2})));
    QVERIFY(!(one == Attrs::of(CastAttrs{})));
    QVERIFY(!(one == Attrs()));
    QVERIFY(Attrs() == Attrs());
    QCOMPARE(one.text(), std::string("value=1"));
}

// Each row starts from a graph with input x, parameter w, buffer s (all 2x3) and y = relu(x).
void TestGraph::verifyCatches_data() {
    QTest::addColumn<Break>("harm");
    QTest::addColumn<QString>("rule");
    const auto row = [](const char* name, Break harm, const char* rule) {
        QTest::newRow(name) << harm << QString(rule);
    };
    const ValueId x{0}, w{1}, s{2}, y{3}, nobody{99};
    row(
        "unknown input", [=](Graph& g) { g.appendLowered(reluOf(nobody, "r"), {ofType(kRow)}); },
        "a value exists before it is used");
    row(
        "input from a later node",
        [=](Graph& g) {
            g.appendLowered(reluOf(ValueId{5}, "early"), {ofType(kRow)});
            g.appendLowered(reluOf(y, "late"), {ofType(kRow)});
        },
        "inputs come before their node");
    row(
        "its own input", [=](Graph& g) { g.appendLowered(reluOf(ValueId{4}, "self"), {ofType(kRow)}); },
        "inputs come before their node");
    row(
        "output of another type", [=](Graph& g) { g.appendLowered(reluOf(x, "r"), {ofType(kOther)}); },
        "outputs have the types of the op's rule");
    row(
        "one output too many",
        [=](Graph& g) {
            g.appendLowered(reluOf(x, "r"), {ofType(kRow), ofType(kRow)});
        },
        "outputs have the types of the op's rule");
    row(
        "inputs that do not fit",
        [=](Graph& g) {
            const ValueId z = g.addInput("z", kOther);
            g.appendLowered({.op = &kAdd, .inputs = {x, z}, .scope = "a"}, {ofType(kRow)});
        },
        "inputs fit the op's rule: graph.type-mismatch");
    row(
        "two parameters of one name", [=](Graph& g) { g.addParameter("w", kRow, {}, true); }, "unique names");
    row(
        "a buffer named like an input", [=](Graph& g) { g.addBuffer("x", kRow, {}); }, "unique names");
    row(
        "assignment to a parameter", [=](Graph& g) { g.assign(w, y); }, "assignments go to buffers");
    row(
        "assignment twice",
        [=](Graph& g) {
            g.assign(s, y);
            g.assign(s, x);
        },
        "a buffer is assigned once");
    row(
        "assignment of another type", [=](Graph& g) { g.assign(s, g.addInput("z", kOther)); },
        "a buffer is assigned its own type");
    row(
        "assignment of nothing", [=](Graph& g) { g.assign(s, nobody); }, "a value exists before it is used");
    row(
        "gradient of another type", [=](Graph& g) { g.setGradient(w, g.addInput("z", kOther)); },
        "a gradient has its parameter's type");
    row(
        "gradient in another layout",
        [=](Graph& g) {
            g.setGradient(w, y);
            g.setLayout(w, std::make_shared<NamedLayout>("OIhw16i16o"));
            g.setLayout(y, std::make_shared<NamedLayout>("OIhw8i8o"));
        },
        "a gradient has its parameter's layout");
    row(
        "gradient of a blocked parameter left plain",
        [=](Graph& g) {
            g.setGradient(w, y);
            g.setLayout(w, std::make_shared<NamedLayout>("OIhw16i16o"));
        },
        "a gradient has its parameter's layout");
    row(
        "gradient of a buffer", [=](Graph& g) { g.setGradient(s, y); }, "only parameters have recorded gradients");
    row(
        "gradient of two parameters",
        [=](Graph& g) {
            g.setGradient(w, y);
            g.setGradient(g.addParameter("w2", kRow, {}, true), y);
        },
        "a gradient serves one parameter");
    row(
        "output of nothing", [=](Graph& g) { g.addOutput("loss", nobody); }, "a value exists before it is used");
    row(
        "two outputs of one name",
        [=](Graph& g) {
            g.addOutput("loss", x);
            g.addOutput("loss", y);
        },
        "outputs have unique names");
    row(
        "a scope twice for one op", [=](Graph& g) { g.append(kRelu, {y}, {}, "relu"); }, "scopes are unique per op");
    row(
        "a view of another size",
        [=](Graph& g) {
            Node view{.op = &kReshape, .inputs = {x}, .scope = "v", .algorithm = "lowered"};
            g.appendLowered(std::move(view), {ofType({{7}, DType::F32})});
        },
        "a view has its input's element count and type");
    row(
        "a view of another type",
        [=](Graph& g) {
            Node view{.op = &kReshape, .inputs = {x}, .scope = "v", .algorithm = "lowered"};
            g.appendLowered(std::move(view), {ofType({{6}, DType::F64})});
        },
        "a view has its input's element count and type");
}

namespace {

Graph healthy() {
    Graph graph;
    const ValueId x = graph.addInput("x", kRow);
    graph.addParameter("w", kRow, {}, true);
    graph.addBuffer("s", kRow, {});
    graph.append(kRelu, {x}, {}, "relu");
    return graph;
}

}  // namespace

void TestGraph::verifyCatches() {
    QFETCH(Break, harm);
    QFETCH(QString, rule);
    Graph graph = healthy();
    QCOMPARE(complaint(graph), QString());
    harm(graph);
    const QString said = complaint(graph);
    QVERIFY2(said.contains(rule), qPrintable("verify said: " + said));
}

void TestGraph::verifyAccepts_data() {
    QTest::addColumn<Break>("change");
    const ValueId x{0}, w{1}, s{2}, y{3};
    QTest::newRow("one scope for two ops") << Break([=](Graph& g) { g.append(kAdd, {x, y}, {}, "relu"); });
    QTest::newRow("a lowered node with types of its own") << Break([=](Graph& g) {
        Node node = reluOf(x, "fused");
        node.algorithm = "jit";
        g.appendLowered(std::move(node), {ofType(kRow), ofType({{64}, DType::U8})});
    });
    QTest::newRow("an op without a rule") << Break([=](Graph& g) {
        static const OpDef fused{.name = "fused", .infer = nullptr};
        g.appendLowered({.op = &fused, .inputs = {x}, .scope = "f"}, {ofType(kOther)});
    });
    QTest::newRow("a gradient in its parameter's layout") << Break([=](Graph& g) {
        g.setGradient(w, y);
        g.setLayout(w, std::make_shared<NamedLayout>("OI16i"));
        g.setLayout(y, std::make_shared<NamedLayout>("OI16i"));
    });
    QTest::newRow("an assigned buffer") << Break([=](Graph& g) { g.assign(s, y); });
}

void TestGraph::verifyAccepts() {
    QFETCH(Break, change);
    Graph graph = healthy();
    change(graph);
    QCOMPARE(complaint(graph), QString());
}

QTEST_APPLESS_MAIN(TestGraph)
#include "tst_graph.moc"
