#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

#include "engine/backend/reference/reference_backend.h"
#include "engine/model/torchvision_names.h"
#include "engine/plan/precision.h"
#include "engine/train/safetensors.h"
#include "engine/train/weights.h"
#include "tests/golden/made_numbers.h"
#include "tests/support/graph_runner.h"

using namespace lockstep;

// torchvision's tensors by name and shape, and what its ResNet-18 says with given weights (make_torchvision.py).
namespace {

struct Listed {
    std::string name, shape;
};

std::vector<Listed> listed(const std::string& model) {
    std::ifstream file(LOCKSTEP_SOURCE_DIR "/tests/golden/torchvision_names.txt");
    std::vector<Listed> tensors;
    for (std::string which, name, shape; file >> which >> name >> shape;) {
        if (which == model) tensors.push_back({name, shape});
    }
    return tensors;
}

Graph forwardOf(const std::string& name, const ModelInput& input) {
    const ModelEntry& model = *findModel(builtinModels(), name);
    return buildForward(model, ParamValues(model.params), input, false).value();
}

Shape shapeOf(const Listed& tensor) {
    std::vector<std::int64_t> dims;
    for (const QString& dim : QString::fromStdString(tensor.shape).split('x')) dims.push_back(dim.toLongLong());
    return Shape(std::span<const std::int64_t>(dims));
}

std::map<std::string, HostTensor> madeTensors(const std::string& model, int classes) {
    std::map<std::string, HostTensor> tensors;
    std::uint64_t stream = 0;
    for (const Listed& each : listed(model)) {
        Shape shape = shapeOf(each);
        if (each.name.starts_with("fc.")) shape = shape.withDim(0, classes);
        HostTensor tensor({shape, DType::F32});
        fillMade<float>(tensor, stream++, each.name.ends_with("weight") || each.name.ends_with("running_var"));
        tensors.emplace(each.name, std::move(tensor));
    }
    return tensors;
}

HostTensor madeImages(const Shape& shape) {
    HostTensor images({shape, DType::F32});
    std::uint64_t i = 0;
    for (float& pixel : images.as<float>()) pixel = static_cast<float>(2 * uniform(1000, i++));
    return images;
}

}  // namespace

class TestTorchvision : public QObject {
    Q_OBJECT
private slots:
    void namesAndShapesAreTorchvisions_data() {
        QTest::addColumn<QString>("model");
        for (const char* model :
             {"resnet18", "resnet34", "resnet50", "vgg11", "vgg16", "vgg19", "vgg11-bn", "vgg16-bn", "vgg19-bn"})
            QTest::newRow(model) << model;
    }

    void namesAndShapesAreTorchvisions() {
        QFETCH(QString, model);
        const ModelEntry& entry = *findModel(builtinModels(), model.toStdString());
        const Graph forward = forwardOf(entry.name, entry.usual);
        std::map<std::string, std::string> ours, theirs;
        for (const auto& [name, translated] : torchvisionNames(entry, forward))
            ours[translated] = forward.typeOf(*forward.find(name)).shape.text();
        for (const Listed& each : listed(entry.name)) theirs[each.name] = each.shape;
        QVERIFY(theirs.size() > 20);
        for (const auto& [name, shape] : theirs)
            QVERIFY2(ours.contains(name) && ours[name] == shape,
                     (name + " is " + shape + " there, here " + ours[name]).c_str());
        QCOMPARE(ours.size(), theirs.size());
        QCOMPARE(ours.size(), tensorNames(forward).size());
    }

    // Their names where their layers are; a VGG for small images has one dense layer.
    void smallNetworksShareTheNames() {
        for (const char* name : {"resnet18-cifar", "resnet50-cifar", "vgg11-cifar", "vgg19-bn-cifar"}) {
            const ModelEntry& small = *findModel(builtinModels(), name);
            const ModelEntry& large = *findModel(builtinModels(), small.name.substr(0, small.name.size() - 6));
            auto names = torchvisionNames(small, forwardOf(small.name, small.usual));
            const auto expected = torchvisionNames(large, forwardOf(large.name, large.usual));
            if (names.contains("head/weight") && names["head/weight"] == "classifier.weight")
                std::erase_if(names, [](const auto& each) { return each.first.starts_with("head/"); });
            QVERIFY(!names.empty());
            for (const auto& [ours, theirs] : names) QCOMPARE(theirs, expected.at(ours));
        }
    }

    void otherModelsHaveNone() {
        const ModelEntry& model = *findModel(builtinModels(), "resnet164");
        QVERIFY(torchvisionNames(model, forwardOf(model.name, model.usual)).empty());
    }

    // Weights, running statistics and images the same in single precision; computed in double on both sides.
    void resnet18SaysTheSame() {
        QFile golden(QStringLiteral(LOCKSTEP_SOURCE_DIR "/tests/golden/torchvision_logits.json"));
        QVERIFY(golden.open(QIODevice::ReadOnly));
        const QJsonObject expected = QJsonDocument::fromJson(golden.readAll()).object();
        const int pixels = expected["pixels"].toInt(), classes = 10, samples = 2;
        QTemporaryDir folder;
        const std::string file = folder.filePath("resnet18.safetensors").toStdString();
        writeTensorFile(file, {}, madeTensors("resnet18", classes));

        ResolvedSpec resolved;
        resolved.spec.weights = file;
        resolved.model = findModel(builtinModels(), "resnet18");
        DatasetInfo data;
        data.fields = imageFields({3, pixels, pixels});
        data.classes.resize(classes);
        test::Tensors tensors = readWeights(resolved, data);
        tensors.emplace("image", madeImages({samples, 3, pixels, pixels}));
        tensors.emplace("label", HostTensor({{samples}, DType::I32}));
        tensors.emplace("ids", HostTensor({{samples}, DType::I64}));
        const Graph forward =
            toPrecision(forwardOf("resnet18", modelInput(*resolved.model, data, samples, 0)), DType::F64);
        const test::RunResult result = test::runGraph(*makeReferenceBackend(), forward, tensors);
        const auto logits = result.outputs.at("logits").as<double>();
        for (int i = 0; i < samples * classes; ++i) {
            const double want = expected["logits"][i / classes][i % classes].toDouble(),
                         is = logits[static_cast<std::size_t>(i)];
            QVERIFY2(std::abs(is - want) < 1e-10 * std::abs(want),
                     qPrintable(QString("%1: %2, torchvision %3").arg(i).arg(is).arg(want)));
        }
    }
};

QTEST_APPLESS_MAIN(TestTorchvision)
#include "tst_torchvision.moc"
