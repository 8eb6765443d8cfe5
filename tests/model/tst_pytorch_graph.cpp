#include <QProcess>
#include <QStandardPaths>
#include <QtTest>

#include "engine/model/layers.h"
#include "engine/model/pytorch_graph.h"
#include "engine/model/pytorch_modules.h"
#include "engine/ops/elementwise.h"

using namespace lockstep;

namespace {

PytorchModel translated(const ModelEntry& model, const ParamValues& params) {
    return pytorchModel(model, params, model.usual);
}

// "block1.conv1.weight 64x64x3x3", sorted.
QStringList tensorsOf(const ModelEntry& model, const ParamValues& params) {
    const Graph graph = buildForward(model, params, model.usual, true).value();
    QStringList names;
    for (const Value& value : graph.values()) {
        if (value.role != ValueRole::Parameter && value.role != ValueRole::Buffer) continue;
        names << QString::fromStdString(pythonPath(value.name) + ' ' + value.type.shape.text());
    }
    names.sort();
    return names;
}

// What Python makes of the classes, by model.
QList<QStringList> tensorsIn(const std::vector<PytorchModel>& models, const QString& python) {
    QByteArray texts;
    for (const PytorchModel& model : models)
        texts += (texts.isEmpty() ? "" : QByteArray(1, '\0')) + QByteArray::fromStdString(model.classes);
    QProcess process;
    process.start(python, {LOCKSTEP_SOURCE_DIR "/tests/model/pytorch_layers.py"});
    process.write(texts);
    process.closeWriteChannel();
    if (!process.waitForFinished() || process.exitCode() != 0) qWarning() << process.readAllStandardError();
    QList<QStringList> out;
    for (const QString& each : QString::fromUtf8(process.readAllStandardOutput()).split("\n\n", Qt::SkipEmptyParts))
        out << each.split('\n', Qt::SkipEmptyParts);
    return out;
}

// Whatever a model of its own may come with: a block that is read twice, a weight that is shared, names that Python
// does not like, numbers that no table has.
ModelEntry oddModel() {
    ModelEntry entry;
    entry.name = "odd";
    entry.build = [](GraphBuilder& b, ValueId image, ValueId, const ModelInput& input, const ParamValues&) {
        ValueId x = convNormRelu(b, image, {.out = 4}, "class");
        ValueId inner{};
        {
            const auto scope = b.enter("two-reads");
            inner = relu(b, convLayer(b, x, {.out = 4}, "conv"), "relu");
            x = add(b, x, convLayer(b, inner, {.out = 4}, "3x3"), "add");
        }
        x = flatten(b, add(b, x, inner, "again"), "flatten");
        x = denseLayer(b, denseLayer(b, x, 8, "dense1"), 8, "dense2", false);
        x = tiedLayer(b, x, *b.graph().find("dense2/weight"), "tied");
        return denseLayer(b, x, input.classes, "head");
    };
    return entry;
}

}  // namespace

class TestPytorchGraph : public QObject {
    Q_OBJECT
private slots:
    void everyModelHasItsTensors() {
        const QString python = QStandardPaths::findExecutable("python3");
        if (python.isEmpty()) QSKIP("python3 is not installed");
        std::vector<ModelEntry> entries = builtinModels();
        entries.push_back(oddModel());
        std::vector<PytorchModel> models;
        for (const ModelEntry& entry : entries) models.push_back(translated(entry, ParamValues(entry.params)));
        const ModelEntry& gpt = *findModel(builtinModels(), "gpt");
        const auto untied = ParamValues::from(gpt.params, {{"tied", false}}, "model").value();
        models.push_back(translated(gpt, untied));
        const QList<QStringList> found = tensorsIn(models, python);
        QCOMPARE(found.size(), static_cast<qsizetype>(models.size()));
        for (qsizetype i = 0; i < static_cast<qsizetype>(entries.size()); ++i) {
            const ModelEntry& entry = entries[static_cast<std::size_t>(i)];
            QVERIFY2(found[i] == tensorsOf(entry, ParamValues(entry.params)), entry.name.c_str());
        }
        QCOMPARE(found.back(), tensorsOf(gpt, untied));
    }

    // A residual network's blocks are of a few kinds, however many there are.
    void blocksShareClasses() {
        const auto classesOf = [](const char* name) {
            const ModelEntry& entry = *findModel(builtinModels(), name);
            return QString::fromStdString(translated(entry, ParamValues(entry.params)).classes).count("class ");
        };
        QCOMPARE(classesOf("resnet18-cifar"), 5);  // Stem, Shortcut, two kinds of Block, Net
        QCOMPARE(classesOf("resnet34-cifar"), 5);
        QVERIFY(classesOf("resnet164") < 10);
        QCOMPARE(classesOf("gpt"), 2);
    }

    void aLanguageModelByHand() {
        const ModelEntry& gpt = *findModel(builtinModels(), "gpt");
        const auto params = ParamValues::from(gpt.params,
                                              {{"layers", std::int64_t{1}},
                                               {"width", std::int64_t{8}},
                                               {"heads", std::int64_t{2}},
                                               {"context", std::int64_t{200}}},
                                              "model");
        const PytorchModel model = translated(gpt, params.value());
        QFile byHand(LOCKSTEP_SOURCE_DIR "/tests/model/golden/small_gpt.py");
        QVERIFY(byHand.open(QIODevice::ReadOnly));
        QCOMPARE(QByteArray::fromStdString(model.classes), byHand.readAll());
        QCOMPARE(model.inputs, (std::vector<std::string>{"tokens"}));
        QCOMPARE(model.functions, (std::set<std::string>{"attention"}));
        QCOMPARE(model.tables, (std::vector<std::string>{"position.weight"}));
        QVERIFY(!model.hasNorms && !model.hasDropout);
    }

    void valuesThatAreReadTwiceStay() {
        const QString forward = QString::fromStdString(translated(oddModel(), {}).classes).section("def forward", -1);
        const char* expected =
            "(self, image):\n"
            "        x = self._class(image)\n"
            "        y = F.relu(self.two_reads.conv(x))\n"
            "        x = ((x + self.two_reads._3x3(y)) + y).flatten(1)\n"
            "        x = self.dense1(x)\n"
            "        x = self.dense2(x)\n"
            "        x = F.linear(x, self.dense2.weight)\n"
            "        return self.head(x)\n";
        QVERIFY2(forward == expected, qPrintable(forward));
    }

    // Of what PyTorch does not start by itself as ours does.
    void firstWeightsAreNamed() {
        const ModelEntry& vgg = *findModel(builtinModels(), "vgg11-cifar");
        const auto passing = ParamValues::from(vgg.params, {{"identity_start", true}}, "model").value();
        const QString text = QString::fromStdString(translated(vgg, passing).firstWeights);
        QVERIFY(text.startsWith("    for layer in net.modules():\n        if isinstance(layer, nn.Conv2d):\n"));
        QCOMPARE(text.count("nn.init.dirac_("), 1);
        QCOMPARE(text.count(".conv.weight,"), 7);  // all but the first
        const ModelEntry& mlp = *findModel(builtinModels(), "mlp");
        QVERIFY(QString::fromStdString(translated(mlp, ParamValues(mlp.params)).firstWeights).contains("pass"));
    }

    void textsAreLiterals() {
        QCOMPARE(pythonText("T-shirt \"x\"\\\n"), std::string("\"T-shirt \\\"x\\\"\\\\\\n\""));
        QCOMPARE(pythonText("Größe"), std::string("\"Größe\""));
        QCOMPARE(pythonText("\xff"), std::string("\"\xef\xbf\xbd\""));
        QCOMPARE(pythonName("class"), std::string("_class"));
        QCOMPARE(pythonName("3x3"), std::string("_3x3"));
        QCOMPARE(pythonPath("block1/a-b/weight"), std::string("block1.a_b.weight"));
    }
};

QTEST_GUILESS_MAIN(TestPytorchGraph)
#include "tst_pytorch_graph.moc"
