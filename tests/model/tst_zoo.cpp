#include <QtTest>

#include "engine/autodiff/gradients.h"
#include "engine/model/registry.h"

using namespace lockstep;

// The published networks: their sizes against the figures of their authors and of torchvision, their structure, and
// what they refuse.
namespace {

using Given = std::map<std::string, ParamValue>;

const ModelEntry& entry(const QString& name) { return *findModel(builtinModels(), name.toStdString()); }

Result<Graph> tryBuild(const ModelEntry& model, const ModelInput& input, bool training, const Given& given = {}) {
    return buildForward(model, ParamValues::from(model.params, given, "model").value(), input, training);
}

Graph build(const QString& name, bool training = true, const Given& given = {}) {
    return tryBuild(entry(name), entry(name).usual, training, given).value();
}

ModelInput pixels(int height, int width) {
    return {.batch = 2, .channels = 3, .height = height, .width = width, .classes = 10};
}

// WideResNet-16-k: a stem of 3x3x16; per stage of w channels three 3x3 convolutions w -> w, one of i -> w and the
// shortcut 1x1; two numbers per channel of each norm; the head.
qint64 wideResnetCount(qint64 k) {
    qint64 count = 27 * 16, in = 16;
    for (const qint64 width : {16 * k, 32 * k, 64 * k}) {
        const qint64 shortcut = in == width ? 0 : in * width;
        count += 9 * in * width + 3 * 9 * width * width + shortcut + 2 * (in + 3 * width);
        in = width;
    }
    return count + 2 * in + in * 10 + 10;
}

// Name and output of every convolution, in order.
QStringList convolutions(const Graph& graph) {
    QStringList found;
    for (const LayerRow& row : layerTable(graph)) {
        if (row.op == "conv2d") found << QString::fromStdString(row.name + " " + row.output);
    }
    return found;
}

}  // namespace

class TestZoo : public QObject {
    Q_OBJECT
private slots:
    void parameterCounts_data();
    void parameterCounts();
    void everyModelIsBuiltForItsUsualImages_data();
    void everyModelIsBuiltForItsUsualImages();
    void bottlenecksHalveInTheirMiddle();
    void vggHeads();
    void vggTakesWholeWindowsOnly_data();
    void vggTakesWholeWindowsOnly();
    void smallImagesAreRefused_data();
    void smallImagesAreRefused();
    void otherSizesFit_data();
    void otherSizesFit();
    void mobilenetsAreScaled();
    void dropoutIsInTheSchema();
    void headsAloneDependOnTheClasses();
};

void TestZoo::parameterCounts_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<Given>("given");
    QTest::addColumn<qint64>("count");
    const auto row = [](const char* name, qint64 count, const Given& given = {}) {
        QTest::addRow("%s %lld", name, static_cast<long long>(count)) << name << given << count;
    };
    row("small-cnn", 864 + 9216 + 18432 + 36864 + 73728 + 147456 + 4 * (32 + 64 + 128) + 20490);
    row("vgg11", 132'863'336);
    row("vgg16", 138'357'544);
    row("vgg19", 143'667'240);
    row("vgg11-bn", 132'868'840);
    row("vgg16-bn", 138'365'992);
    row("vgg19-bn", 143'678'248);
    row("vgg19-bn-cifar", 20'035'018);
    row("vgg19-cifar", 20'029'514);
    row("vgg16-bn-cifar", 14'724'042);
    row("resnet18", 11'689'512);
    row("resnet34", 21'797'672);
    row("resnet50", 25'557'032);
    row("resnet18-cifar", 11'173'962);
    row("resnet34-cifar", 21'282'122);
    row("resnet50-cifar", 23'520'842);
    row("resnet164", 1'703'258);
    row("wideresnet-16", wideResnetCount(1), {{"k", std::int64_t{1}}});
    row("wideresnet-16", 2'748'890, {{"k", std::int64_t{4}}});
    row("wideresnet-16", 10'961'370, {{"k", std::int64_t{8}}});
    row("mobilenet-v2", 3'504'872);
}

void TestZoo::parameterCounts() {
    QFETCH(QString, name);
    QFETCH(Given, given);
    QFETCH(qint64, count);
    QCOMPARE(parameterCount(build(name, true, given)), count);
    if (name == "wideresnet-16") QCOMPARE(wideResnetCount(std::get<std::int64_t>(given.at("k"))), count);
}

void TestZoo::everyModelIsBuiltForItsUsualImages_data() {
    QTest::addColumn<QString>("name");
    for (const ModelEntry& model : builtinModels())
        QTest::newRow(model.name.c_str()) << QString::fromStdString(model.name);
}

void TestZoo::everyModelIsBuiltForItsUsualImages() {
    QFETCH(QString, name);
    Graph training = build(name);
    const Graph evaluation = build(name, false);
    QCOMPARE(parameterCount(training), parameterCount(evaluation));
    QCOMPARE(evaluation.assignments().size(), std::size_t{0});
    for (const ValueId id : training.withRole(ValueRole::Parameter)) {
        const Value& value = training.value(id);
        QVERIFY2(evaluation.find(value.name), value.name.c_str());
        const bool isTable = value.name == "position/weight" ||  // of offsets, like biases
                             (value.name == "embedding/weight" && training.find("head/weight"));
        QCOMPARE(value.decays, value.type.shape.rank() > 1 && !isTable);
    }
    appendGradients(training, *training.output("loss_sum"));
    verify(training);
    for (const ValueId id : training.withRole(ValueRole::Parameter)) QVERIFY(training.gradientOf(id));
}

void TestZoo::bottlenecksHalveInTheirMiddle() {
    const QStringList found = convolutions(build("resnet50"));
    QCOMPARE(found.size(), 53);
    QCOMPARE(found.mid(0, 2), QStringList({"stem/conv 64x112x112", "block1/conv1 64x56x56"}));
    QCOMPARE(found.filter(QRegularExpression("^block4/")),
             QStringList({"block4/conv1 128x56x56", "block4/conv2 128x28x28", "block4/conv3 512x28x28",
                          "block4/shortcut/conv 512x28x28"}));
    QCOMPARE(found.last(), QString("block16/conv3 2048x7x7"));
}

void TestZoo::vggHeads() {
    const auto shapeOf = [](const Graph& graph, const char* name) { return graph.typeOf(*graph.find(name)).text(); };
    const Graph large = build("vgg11"), small = build("vgg11-bn-cifar"),
                narrow = build("vgg11", true, {{"width", std::int64_t{64}}});
    QCOMPARE(shapeOf(large, "dense1/weight"), std::string("f32[4096x25088]"));
    QCOMPARE(shapeOf(narrow, "dense2/weight"), std::string("f32[64x64]"));
    QCOMPARE(shapeOf(small, "head/weight"), std::string("f32[10x512]"));
    QVERIFY(!small.find("dense1/weight"));
    QVERIFY(!small.find("stage1/block1/conv/bias"));
    QVERIFY(build("vgg11-bn").find("stage1/block1/conv/bias"));
    QVERIFY(build("vgg11-cifar").find("stage5/block2/conv/bias"));
    QVERIFY(!large.find("stage5/block3/conv/weight"));
}

void TestZoo::vggTakesWholeWindowsOnly_data() {
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("width");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("fits");
    QTest::newRow("odd") << 225 << 224 << "height"
                         << "224";
    QTest::newRow("odd after two") << 224 << 212 << "width"
                                   << "224";
    QTest::newRow("nearer to the larger") << 32 << 50 << "width"
                                          << "64";
    QTest::newRow("too small") << 28 << 28 << "height"
                               << "32";
    QTest::newRow("one pixel") << 32 << 1 << "width"
                               << "32";
}

void TestZoo::vggTakesWholeWindowsOnly() {
    QFETCH(int, height);
    QFETCH(int, width);
    QFETCH(QString, field);
    QFETCH(QString, fits);
    for (const char* name : {"vgg11", "vgg19-bn-cifar"}) {
        const auto result = tryBuild(entry(name), pixels(height, width), true);
        QVERIFY(!result.ok());
        const std::string value = std::to_string(field == "height" ? height : width);
        QVERIFY((result.problems().front() ==
                 Problem{field.toStdString(), "model.image-not-multiple", {value, name, "32", fits.toStdString()}}));
    }
}

void TestZoo::smallImagesAreRefused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("least");
    QTest::newRow("resnet50") << "resnet50" << 32;
    QTest::newRow("resnet34-cifar") << "resnet34-cifar" << 8;
    QTest::newRow("resnet164") << "resnet164" << 4;
    QTest::newRow("wideresnet-16") << "wideresnet-16" << 4;
    QTest::newRow("mobilenet-v2") << "mobilenet-v2" << 32;
}

void TestZoo::smallImagesAreRefused() {
    QFETCH(QString, name);
    QFETCH(int, least);
    QVERIFY(tryBuild(entry(name), pixels(least, least), true).ok());
    const auto result = tryBuild(entry(name), pixels(least, least - 1), true);
    QVERIFY(!result.ok());
    const std::vector<std::string> args{std::to_string(least - 1), name.toStdString(), std::to_string(least)};
    QVERIFY((result.problems().front() == Problem{"width", "model.image-too-small", args}));
}

void TestZoo::otherSizesFit_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("width");
    QTest::newRow("vgg") << "vgg16" << 96 << 64;
    QTest::newRow("resnet") << "resnet18" << 61 << 97;
    QTest::newRow("resnet-cifar") << "resnet50-cifar" << 28 << 31;
    QTest::newRow("resnet164") << "resnet164" << 17 << 9;
    QTest::newRow("wideresnet") << "wideresnet-16" << 33 << 5;
    QTest::newRow("mobilenet") << "mobilenet-v2" << 45 << 77;
    QTest::newRow("small-cnn") << "small-cnn" << 9 << 28;
}

void TestZoo::otherSizesFit() {
    QFETCH(QString, name);
    QFETCH(int, height);
    QFETCH(int, width);
    for (const bool training : {false, true}) {
        const auto result = tryBuild(entry(name), pixels(height, width), training);
        QVERIFY(result.ok());
        QCOMPARE(result.value().typeOf(*result.value().output("logits")).text(), std::string("f32[2x10]"));
    }
}

// Against torchvision's mobilenet_v2(width_mult=…): 3.50 M, 1.97 M at a half, and the last layer never narrower.
void TestZoo::mobilenetsAreScaled() {
    const Graph half = build("mobilenet-v2", true, {{"width", 0.5}}),
                large = build("mobilenet-v2", true, {{"width", 1.4}});
    QCOMPARE(parameterCount(half), qint64{1'968'680});
    QCOMPARE(parameterCount(large), qint64{6'108'776});
    QVERIFY(!convolutions(half).filter("last/conv 1280x7x7").isEmpty());
    QVERIFY(!convolutions(large).filter("last/conv 1792x7x7").isEmpty());
    QVERIFY(!half.find("block1/expand/conv/weight"));
    for (const Node& node : half.nodes()) QVERIFY(node.op->name != "relu");
}

void TestZoo::dropoutIsInTheSchema() {
    const auto dropouts = [](const QString& name, bool training, const Given& given) {
        const Graph graph = build(name, training, given);
        return std::ranges::count_if(graph.nodes(), [](const Node& node) { return node.op->name == "dropout"; });
    };
    const Given none{{"dropout", 0.0}}, some{{"dropout", 0.3}};
    QCOMPARE(dropouts("vgg11", true, {}), 2);
    QCOMPARE(dropouts("mobilenet-v2", true, {}), 1);
    QCOMPARE(dropouts("wideresnet-16", true, {}), 0);
    QCOMPARE(dropouts("wideresnet-16", true, some), 6);
    for (const char* name : {"vgg11", "mobilenet-v2", "wideresnet-16"}) {
        QCOMPARE(dropouts(name, true, none), 0);
        QCOMPARE(dropouts(name, false, some), 0);
    }
}

// So that a network fine-tunes to other classes: all but the head keeps its shape. The classes of a language are its
// tokens.
void TestZoo::headsAloneDependOnTheClasses() {
    for (const ModelEntry& model : builtinModels()) {
        if (model.task == ModelTask::NextTokens) continue;
        ModelInput input = model.usual;
        const Graph before = tryBuild(model, input, true).value();
        input.classes = 7;
        const Graph after = tryBuild(model, input, true).value();
        for (const ValueId id : before.withRole(ValueRole::Parameter)) {
            const Value& value = before.value(id);
            const bool same = after.typeOf(*after.find(value.name)) == value.type;
            QVERIFY2(same == !value.name.starts_with("head/"), (model.name + " " + value.name).c_str());
        }
    }
}

QTEST_APPLESS_MAIN(TestZoo)
#include "tst_zoo.moc"
