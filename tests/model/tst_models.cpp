#include <QtTest>

#include <map>
#include <set>

#include "engine/autodiff/gradients.h"
#include "engine/graph/flops.h"
#include "engine/model/layers.h"
#include "engine/model/registry.h"
#include "engine/ops/conv2d.h"
#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/loss.h"

using namespace lockstep;

namespace {

using Given = std::map<std::string, ParamValue>;

const ModelEntry& model(const char* name) { return *findModel(builtinModels(), name); }

Result<Graph> tryBuild(const ModelEntry& entry, const ModelInput& input, bool training, const Given& given = {}) {
    return buildForward(entry, ParamValues::from(entry.params, given, "model").value(), input, training);
}

Graph build(const char* name, const ModelInput& input, bool training = true, const Given& given = {}) {
    return tryBuild(model(name), input, training, given).value();
}

const ModelInput kDigits{.batch = 2, .channels = 1, .height = 28, .width = 28, .classes = 10, .tokens = 16};
const ModelInput kCifar{.batch = 2, .channels = 3, .height = 32, .width = 32, .classes = 10, .tokens = 16};

// Name and type of everything that is kept between steps.
std::map<std::string, std::string> kept(const Graph& graph) {
    std::map<std::string, std::string> out;
    for (const ValueRole role : {ValueRole::Parameter, ValueRole::Buffer}) {
        for (const ValueId id : graph.withRole(role)) out[graph.value(id).name] = graph.typeOf(id).text();
    }
    return out;
}

}  // namespace

class TestModels : public QObject {
    Q_OBJECT

private slots:
    void parameterCounts_data();
    void parameterCounts();
    void everyModelTrains_data();
    void everyModelTrains();
    void gradientsTakeTheSameProducts_data() { everyModelTrains_data(); }
    void gradientsTakeTheSameProducts();
    void evaluationSharesNames_data() { everyModelTrains_data(); }
    void evaluationSharesNames();
    void layerTableOfLenet();
    void resnetIsThePublishedOne();
    void tooSmallAnImageIsAProblem();
    void lenetTakesOtherSizes();
    void transformersRefuseWhatDoesNotDivide();
    void positionsDoNotDecay();
    void onlyTrainingMixes();
    void inputsAreChecked();
    void wrongLogitsAreAProblem();
    void outputsFollowTheClasses();
    void labelSmoothingReachesTheLoss();
    void dropoutOnlyWhileTraining();
    void weightsDecayNothingElse();
    void initialValues();
    void vggMayStartAsTheIdentity();
    void branchesMayStartAtZero();
    void presetIsSmallAndBlocked();
    void layersRefuseNonsense();
};

void TestModels::parameterCounts_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("colour");
    QTest::addColumn<qint64>("count");
    QTest::newRow("lenet5") << "lenet5" << false << qint64{61706};
    QTest::newRow("resnet18-cifar") << "resnet18-cifar" << true << qint64{11173962};
    QTest::newRow("fashion-cnn") << "fashion-cnn" << false << qint64{69264 + 2 * 208 + 5770};
    QTest::newRow("vit") << "vit" << true << qint64{4770570};  // of ../shared/peers/models.py
    QTest::newRow("mlp") << "mlp" << false << qint64{784 * 256 + 256 + 256 * 256 + 256 + 256 * 10 + 10};
}

void TestModels::parameterCounts() {
    QFETCH(QString, name);
    QFETCH(bool, colour);
    QFETCH(qint64, count);
    QCOMPARE(parameterCount(build(qPrintable(name), colour ? kCifar : kDigits)), count);
}

void TestModels::everyModelTrains_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("colour");
    for (const ModelEntry& entry : builtinModels()) {
        const QString name = QString::fromStdString(entry.name);
        QTest::addRow("%s 32x32x3", entry.name.c_str()) << name << true;
        if (entry.usual.channels == 1) QTest::addRow("%s 28x28x1", entry.name.c_str()) << name << false;
    }
}

void TestModels::everyModelTrains() {
    QFETCH(QString, name);
    QFETCH(bool, colour);
    Graph graph = build(qPrintable(name), colour ? kCifar : kDigits);
    const bool isLanguage = model(qPrintable(name)).task == ModelTask::NextTokens;
    QCOMPARE(graph.typeOf(*graph.output("logits")).text(), std::string(isLanguage ? "f32[2x16x10]" : "f32[2x10]"));
    appendGradients(graph, *graph.output("loss_sum"));
    verify(graph);
}

// Those of weights multiply as often as the forward pass; those of data, too, but for the layer that reads the batch.
void TestModels::gradientsTakeTheSameProducts() {
    QFETCH(QString, name);
    QFETCH(bool, colour);
    Graph graph = build(qPrintable(name), colour ? kCifar : kDigits);
    appendGradients(graph, *graph.output("loss_sum"));
    double forward = 0, first = 0, weights = 0, data = 0;
    for (const Node& node : graph.nodes()) {
        if (node.op == &kConv2d || node.op == &kDense) {
            forward += flopsOf(graph, node);
            if (first == 0) first = forward;
        }
        if (node.op == &kConv2dBackwardWeights || node.op == &kDenseBackwardWeights) weights += flopsOf(graph, node);
        if (node.op == &kConv2dBackwardData || node.op == &kDenseBackwardData) data += flopsOf(graph, node);
    }
    QVERIFY(forward > 0);
    QCOMPARE(weights, forward);
    QVERIFY2(data == forward || data == forward - first, qPrintable(QString::number(data / forward)));
}

void TestModels::evaluationSharesNames() {
    QFETCH(QString, name);
    QFETCH(bool, colour);
    const ModelInput& input = colour ? kCifar : kDigits;
    const Graph training = build(qPrintable(name), input, true), evaluation = build(qPrintable(name), input, false);
    QVERIFY(!kept(training).empty());
    QVERIFY(kept(training) == kept(evaluation));
    QCOMPARE(evaluation.assignments().size(), std::size_t{0});
    QCOMPARE(training.assignments().size(), training.withRole(ValueRole::Buffer).size());
}

void TestModels::layerTableOfLenet() {
    std::string text;
    for (const LayerRow& row : layerTable(build("lenet5", kDigits))) {
        text += row.name + ' ' + row.op + ' ' + row.output + ' ' + std::to_string(row.parameters) + '\n';
    }
    QCOMPARE(text, std::string("conv1 conv2d 6x28x28 156\n"
                               "relu1 relu 6x28x28 0\n"
                               "pool1 max_pool2d 6x14x14 0\n"
                               "conv2 conv2d 16x10x10 2416\n"
                               "relu2 relu 16x10x10 0\n"
                               "pool2 max_pool2d 16x5x5 0\n"
                               "flatten flatten 400 0\n"
                               "dense1 dense 120 48120\n"
                               "relu3 relu 120 0\n"
                               "dense2 dense 84 10164\n"
                               "relu4 relu 84 0\n"
                               "head dense 10 850\n"));
}

// The convolutions' shapes, in order: stem, then two a block and a 1x1 shortcut where the width changes.
void TestModels::resnetIsThePublishedOne() {
    const Graph graph = build("resnet18-cifar", kCifar);
    QStringList outputs;
    for (const LayerRow& row : layerTable(graph)) {
        if (row.op == "conv2d") outputs << QString::fromStdString(row.output);
    }
    QStringList expected{"64x32x32", "64x32x32", "64x32x32", "64x32x32", "64x32x32"};
    for (const char* stage : {"128x16x16", "256x8x8", "512x4x4"}) {
        for (int i = 0; i < 5; ++i) expected << stage;
    }
    QCOMPARE(outputs, expected);
    QVERIFY(graph.find("block3/shortcut/conv/weight"));
    QVERIFY(!graph.find("block1/shortcut/conv/weight"));
    QVERIFY(!graph.find("block1/conv1/bias"));
    QCOMPARE(graph.withRole(ValueRole::Buffer).size(), std::size_t{2 * 20});
}

void TestModels::tooSmallAnImageIsAProblem() {
    const ModelInput tiny{.batch = 2, .channels = 1, .height = 8, .width = 8, .classes = 10};
    const auto result = tryBuild(model("lenet5"), tiny, true);
    QVERIFY(!result.ok());
    const Problem expected{"conv2", "graph.image-too-small", {"conv2d", "4x4", "5x5", "0x0"}};
    QVERIFY(result.problems().front() == expected);
    QVERIFY(tryBuild(model("mlp"), tiny, true).ok());
}

void TestModels::lenetTakesOtherSizes() {
    const ModelInput wide{.batch = 2, .channels = 3, .height = 32, .width = 48, .classes = 4};
    const Graph graph = build("lenet5", wide);
    QCOMPARE(graph.typeOf(*graph.find("dense1/weight")).text(), std::string("f32[120x960]"));  // 16 x 6 x 10
}

void TestModels::transformersRefuseWhatDoesNotDivide() {
    const auto refused = [](const ModelInput& input, const Given& given) {
        const auto result = tryBuild(model("vit"), input, true, given);
        return result.ok() ? Problem{} : result.problems().front();
    };
    ModelInput odd = kCifar;
    odd.width = 30;
    QVERIFY((refused(odd, {}) == Problem{"width", "model.image-not-multiple", {"30", "vit", "4", "32"}}));
    QVERIFY((refused(kCifar, {{"heads", std::int64_t{3}}}) ==
             Problem{"vit", "graph.bad-attribute", {"vit", "heads", "3", "a divisor of the width, 256"}}));
}

void TestModels::positionsDoNotDecay() {
    const Graph graph = build("vit", kCifar);
    QVERIFY(!graph.value(*graph.find("position/weight")).decays);
    QVERIFY(graph.value(*graph.find("block6/dense2/weight")).decays);
    QVERIFY(!graph.value(*graph.find("block1/norm1/weight")).decays);
}

void TestModels::inputsAreChecked() {
    const auto refused = [](auto ModelInput::*member, const char* field) {
        ModelInput input = kDigits;
        input.*member = 0;
        const auto result = tryBuild(model("mlp"), input, true);
        return !result.ok() && result.problems().front().field == field;
    };
    QVERIFY(refused(&ModelInput::batch, "batch"));
    QVERIFY(refused(&ModelInput::channels, "channels"));
    QVERIFY(refused(&ModelInput::height, "height"));
    QVERIFY(refused(&ModelInput::width, "width"));
    QVERIFY(refused(&ModelInput::classes, "classes"));
    ModelInput one = kDigits;
    one.classes = 1;
    const auto result = tryBuild(model("mlp"), one, true);
    QVERIFY((result.problems().front() == Problem{"classes", "model.bad-input", {"1", "2"}}));
}

void TestModels::wrongLogitsAreAProblem() {
    const auto pixels = [](GraphBuilder& b, ValueId image, ValueId, const ModelInput&, const ParamValues&) {
        return flatten(b, image, "flatten");
    };
    const ModelEntry odd{"odd", "", {}, pixels};
    const auto result = tryBuild(odd, kDigits, true);
    QVERIFY((result.problems().front() == Problem{"odd", "model.wrong-output", {"f32[2x10]", "f32[2x784]"}}));
}

void TestModels::outputsFollowTheClasses() {
    ModelInput input = kDigits;
    QVERIFY(build("mlp", input).output("correct5"));
    input.classes = 5;
    const Graph graph = build("mlp", input);
    QVERIFY(!graph.output("correct5"));
    QVERIFY(graph.output("loss_sum") && graph.output("weight") && graph.output("correct1"));
}

void TestModels::labelSmoothingReachesTheLoss() {
    ModelInput input = kDigits;
    input.labelSmoothing = 0.1;
    const Graph graph = build("mlp", input);
    const NodeId loss = *graph.value(*graph.output("loss_sum")).producer;
    QCOMPARE(graph.node(loss).attrs.as<CrossEntropyAttrs>().smoothing, 0.1);
    input.labelSmoothing = 1.5;
    const auto result = tryBuild(model("mlp"), input, true);
    QCOMPARE(result.problems().front().code, std::string("graph.bad-attribute"));
}

void TestModels::dropoutOnlyWhileTraining() {
    for (const char* name : {"mlp", "fashion-cnn"}) {
        const Given half{{"dropout", 0.5}};
        QVERIFY(dump(build(name, kDigits, true, half)).find("dropout") != std::string::npos);
        QVERIFY(dump(build(name, kDigits, false, half)).find("dropout") == std::string::npos);
        QVERIFY(dump(build(name, kDigits, true)).find("dropout") == std::string::npos);
    }
}

void TestModels::weightsDecayNothingElse() {
    const Graph graph = build("resnet18-cifar", kCifar);
    for (const ValueId id : graph.withRole(ValueRole::Parameter)) {
        const Value& value = graph.value(id);
        QVERIFY2(value.decays == (value.type.shape.rank() > 1), value.name.c_str());
    }
}

void TestModels::initialValues() {
    const Graph graph = build("resnet18-cifar", kCifar);
    const auto init = [&](const char* name) { return graph.value(*graph.find(name)).init; };
    QVERIFY((init("stem/conv/weight") == Initializer{Initializer::Kind::HeNormal, 0, 27, 576}));
    QCOMPARE(init("stem/norm/weight").value, 1.0);
    QCOMPARE(init("stem/norm/bias").value, 0.0);
    QCOMPARE(init("stem/norm/running_var").value, 1.0);
    QCOMPARE(init("head/weight").kind, Initializer::Kind::FanInUniform);
    QCOMPARE(init("head/bias").fanIn, std::int64_t{512});
}

void TestModels::vggMayStartAsTheIdentity() {
    const auto kinds = [](const Given& given) {
        std::map<std::string, Initializer::Kind> out;
        const Graph graph = build("vgg19-bn-cifar", kCifar, true, given);
        for (const ValueId id : graph.withRole(ValueRole::Parameter)) {
            const Value& value = graph.value(id);
            if (value.type.shape.rank() == 4) out[value.name] = value.init.kind;
        }
        return out;
    };
    const auto plain = kinds({}), identity = kinds({{"identity_start", true}});
    QCOMPARE(plain.size(), 16u);
    for (const auto& [name, kind] : plain) QCOMPARE(kind, Initializer::Kind::HeNormal);
    for (const auto& [name, kind] : identity) {
        const bool readsColours = name == "stage1/block1/conv/weight";
        QCOMPARE(kind, readsColours ? Initializer::Kind::HeNormal : Initializer::Kind::Identity);
    }
}

// What comes last in each block, and nothing else.
void TestModels::branchesMayStartAtZero() {
    const auto zeros = [](const char* model, const Given& given) {
        std::set<std::string> out;
        const Graph graph = build(model, kCifar, true, given);
        for (const ValueId id : graph.withRole(ValueRole::Parameter)) {
            const Value& value = graph.value(id);
            const bool isZero = value.init.kind == Initializer::Kind::Constant && value.init.value == 0;
            if (isZero && value.name.ends_with("/weight")) out.insert(value.name);
        }
        return out;
    };
    struct Case {
        const char *model, *last;
        std::size_t blocks;
    };
    for (const auto& [model, last, blocks] : {Case{"resnet164", "conv3", 54}, {"wideresnet-16", "conv2", 6}}) {
        QVERIFY(zeros(model, {}).empty());
        const std::set<std::string> found = zeros(model, {{"zero_init_residual", true}});
        QCOMPARE(found.size(), blocks);
        for (std::size_t i = 1; i <= blocks; ++i)
            QVERIFY(found.contains("block" + std::to_string(i) + "/" + last + "/weight"));
    }
}

void TestModels::presetIsSmallAndBlocked() {
    const Graph graph = build("fashion-cnn", kDigits);
    std::int64_t multiplyAdds = 0;
    for (const Node& node : graph.nodes()) {
        if (node.op->name != "conv2d") continue;
        const Shape w = graph.typeOf(node.inputs[1]).shape, y = graph.typeOf(node.outputs[0]).shape;
        multiplyAdds += w.count() * y[2] * y[3];
        QVERIFY2(w[0] % 16 == 0, node.scope.c_str());
        QCOMPARE(node.inputs.size(), std::size_t{2});
    }
    QVERIFY2(multiplyAdds < 8'000'000, qPrintable(QString::number(multiplyAdds)));
}

void TestModels::layersRefuseNonsense() {
    const auto codeOf = [](auto layer) {
        GraphBuilder b(true);
        const ValueId image = b.input("image", {{2, 4, 8, 8}, DType::F32});
        try {
            layer(b, image);
        } catch (const ProblemError& error) {
            return error.problem().code;
        }
        return std::string("accepted");
    };
    const std::string bad = "graph.bad-attribute";
    QCOMPARE(codeOf([](auto& b, auto x) { convLayer(b, x, {.out = 0}, "c"); }), bad);
    QCOMPARE(codeOf([](auto& b, auto x) { convLayer(b, x, {.out = 4, .kernel = 0}, "c"); }), bad);
    QCOMPARE(codeOf([](auto& b, auto x) { convLayer(b, x, {.out = 4, .groups = 0}, "c"); }), bad);
    QCOMPARE(codeOf([](auto& b, auto x) { convLayer(b, x, {.out = 4, .groups = 3}, "c"); }), "graph.channels");
    QCOMPARE(codeOf([](auto& b, auto x) { denseLayer(b, x, 4, "d"); }), "graph.rank");
    QCOMPARE(codeOf([](auto& b, auto x) { denseLayer(b, flatten(b, x, "f"), 0, "d"); }), bad);
    QCOMPARE(codeOf([](auto& b, auto x) { convNormRelu(b, x, {.out = 4, .groups = 2}, "c"); }), "accepted");
}

void TestModels::onlyTrainingMixes() {
    ModelInput mixed = kDigits;
    mixed.mixes = true;
    const Graph training = build("lenet5", mixed);
    QVERIFY(training.find("label2") && training.find("lambda"));
    QVERIFY(dump(training) != dump(build("lenet5", kDigits)));
    QCOMPARE(dump(build("lenet5", mixed, false)), dump(build("lenet5", kDigits, false)));
    QVERIFY(!build("lenet5", kDigits).find("lambda"));
}

QTEST_APPLESS_MAIN(TestModels)
#include "tst_models.moc"
