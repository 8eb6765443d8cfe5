#include <QtTest>

#include <bit>
#include <fstream>

#include "engine/core/random.h"
#include "engine/model/torchvision_names.h"
#include "engine/train/safetensors.h"
#include "engine/train/weights.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

const ImageShape kImage{3, 32, 32};

// What a run starts with, by model: its tensors from another seed than the run's.
std::map<std::string, HostTensor> madeWeights(const std::string& model, int classes, const ImageShape& image = kImage) {
    const ModelEntry& entry = *testEnvironment().model(model);
    const ModelInput input{1, image.channels, image.height, image.width, classes};
    const TrialSpec spec = smallSpec(model, "reference:1");
    const auto params = ParamValues::from(entry.params, spec.model.params, "model");
    const Graph forward = buildForward(entry, params.value(), input, false).value();
    std::map<std::string, HostTensor> tensors;
    for (const std::string& name : tensorNames(forward)) {
        HostTensor tensor(forward.typeOf(*forward.find(name)));
        std::uint32_t i = 0;
        const CounterRng rng(7, streamOf(name), 0, 0);
        for (float& value : tensor.as<float>()) value = 0.5f + static_cast<float>(rng.uniform(i++));
        tensors.emplace(name, std::move(tensor));
    }
    return tensors;
}

template <class T>
HostTensor tensorOf(DType dtype, std::vector<T> values) {
    HostTensor tensor({{static_cast<std::int64_t>(values.size())}, dtype});
    std::ranges::copy(values, tensor.as<T>().begin());
    return tensor;
}

class WeightsFile {
public:
    explicit WeightsFile(const std::map<std::string, HostTensor>& tensors) { writeTensorFile(path(), {}, tensors); }
    std::string path() const { return m_folder.filePath("weights.safetensors").toStdString(); }

private:
    QTemporaryDir m_folder;
};

TrialSpec specFor(const std::string& model, const std::string& file) {
    TrialSpec spec = smallSpec(model, "reference:1");
    spec.weights = file;
    return spec;
}

DatasetInfo infoFor(int classes, const ImageShape& image = kImage) {
    return PatternDataset(8, image, classes, 1).info();
}

// The problem's code and its arguments but for the file: "weights.classes 10 4".
std::string complaintAbout(const TrialSpec& spec, const DatasetInfo& data) {
    const auto problems = weightsProblems(resolved(spec), data);
    try {
        readWeights(resolved(spec), data);
        if (problems.empty()) return "";
        return "read, in spite of " + problems.front().code;
    } catch (const ProblemError& error) {
        if (problems.size() != 1 || problems.front() != error.problem()) return "the header tells another problem";
    }
    const Problem& problem = problems.front();
    if (problem.field != "weights" || problem.args.front() != spec.weights) return "another field or file";
    std::string text = problem.code;
    for (std::size_t i = 1; i < problem.args.size(); ++i) text += " " + problem.args[i];
    return text;
}

}  // namespace

class TstWeights : public QObject {
    Q_OBJECT

private slots:
    void bothNamingsAreRead_data() {
        QTest::addColumn<bool>("torchvisions");
        QTest::newRow("ours") << false;
        QTest::newRow("torchvision's") << true;
    }

    void bothNamingsAreRead() {
        QFETCH(bool, torchvisions);
        const auto expected = madeWeights("resnet18-cifar", 4);
        auto given = expected;
        if (torchvisions) {
            const ModelEntry& entry = *testEnvironment().model("resnet18-cifar");
            given.clear();
            const Graph forward = buildForward(entry, ParamValues(entry.params), entry.usual, false).value();
            const auto names = torchvisionNames(entry, forward);
            for (const auto& [ours, theirs] : names) given.emplace(theirs, expected.at(ours));
            given.emplace("bn1.num_batches_tracked", HostTensor({{}, DType::I64}));
        }
        const WeightsFile file(given);
        const TrialSpec spec = specFor("resnet18-cifar", file.path());
        QVERIFY(weightsProblems(resolved(spec)).empty());
        QVERIFY(weightsProblems(resolved(spec), infoFor(4)).empty());
        QVERIFY(sameBits(readWeights(resolved(spec), infoFor(4)), expected));
    }

    // Halves exactly, subnormal and infinite ones, too.
    void otherWidthsAreConverted() {
        auto tensors = madeWeights("fashion-cnn", 4);
        const std::vector<std::uint16_t> halves{0x3c00, 0xc000, 0x0001, 0x7bff}, brains{0x3f80, 0xc000, 0x0001, 0x7f7f};
        tensors["block1/norm/bias"] = tensorOf<std::uint16_t>(DType::F16, {halves[0], halves[1]});
        tensors["block1/norm/running_mean"] = tensorOf<std::uint16_t>(DType::F16, {halves[2], halves[3]});
        tensors["block1/norm/weight"] = tensorOf<std::uint16_t>(DType::BF16, {brains[0], brains[1]});
        tensors["block1/norm/running_var"] = tensorOf<std::uint16_t>(DType::BF16, {brains[2], brains[3]});
        tensors["head/bias"] = tensorOf<double>(DType::F64, {0.1, 0.2, 0.3, 0.4});
        const WeightsFile file(tensors);
        const WeightTensors read = readWeights(resolved(specFor("fashion-cnn", file.path())), infoFor(4));
        const auto values = [&](const char* name) {
            const auto all = read.at(name).as<float>();
            return std::vector<float>(all.begin(), all.end());
        };
        QCOMPARE(values("block1/norm/bias"), (std::vector<float>{1, -2}));
        QCOMPARE(values("block1/norm/running_mean"), (std::vector<float>{0x1p-24f, 65504}));
        QCOMPARE(values("block1/norm/weight"), (std::vector<float>{1, -2}));
        QCOMPARE(values("block1/norm/running_var"),
                 (std::vector<float>{std::bit_cast<float>(0x10000u), std::bit_cast<float>(0x7f7f0000u)}));
        QCOMPARE(read.at("head/bias").type().dtype, DType::F64);
    }

    void refusals_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("complaint");
        const auto row = [](const char* what, const char* complaint) { QTest::newRow(what) << what << complaint; };
        row("lacks",
            "weights.other-model fashion-cnn block1/conv/weight, block1/norm/bias, block1/norm/running_mean and 2 more "
            "nothing ");
        row("more", "weights.other-model fashion-cnn nothing extra/bias, extra/weight ");
        row("another model",
            "weights.other-model fashion-cnn nothing block6/conv/weight, block6/norm/bias, "
            "block6/norm/running_mean and 2 more : small-cnn");
        row("shape", "weights.shape block2/norm/bias 7 fashion-cnn 4");
        row("classes", "weights.classes 10 4");
        row("integers", "weights.not-float block2/norm/bias i32[4]");
        row("no file", "weights.unreadable No such file or directory");
        row("cut short", "weights.truncated 4 8");
        row("damaged", "weights.malformed its header is not valid JSON");
        row("no safetensors", "weights.not-safetensors a PNG image");
    }

    void refusals() {
        QFETCH(QString, what);
        QFETCH(QString, complaint);
        auto tensors = madeWeights(what == "another model" ? "small-cnn" : "fashion-cnn", what == "classes" ? 10 : 4);
        if (what == "lacks") std::erase_if(tensors, [](const auto& each) { return each.first.starts_with("block1/"); });
        if (what == "more") tensors["extra/weight"] = tensors["extra/bias"] = tensorOf<float>(DType::F32, {1});
        if (what == "shape") tensors["block2/norm/bias"] = tensorOf<float>(DType::F32, {1, 2, 3, 4, 5, 6, 7});
        if (what == "integers") tensors["block2/norm/bias"] = tensorOf<std::int32_t>(DType::I32, {1, 2, 3, 4});
        const WeightsFile file(tensors);
        if (what == "no file") std::filesystem::remove(file.path());
        if (what == "cut short") std::filesystem::resize_file(file.path(), 4);
        if (what == "damaged") std::ofstream(file.path(), std::ios::binary) << std::string("\4\0\0\0\0\0\0\0oops", 12);
        if (what == "no safetensors") std::ofstream(file.path(), std::ios::binary) << "\x89PNG\r\n\x1a\n and so on";
        QCOMPARE(QString::fromStdString(complaintAbout(specFor("fashion-cnn", file.path()), infoFor(4))), complaint);
    }

    // Without data the number of classes is not known, but the names are.
    void namesAreKnownWithoutData() {
        const WeightsFile other(madeWeights("mlp", 4)), classes(madeWeights("fashion-cnn", 10));
        QCOMPARE(validate(specFor("fashion-cnn", other.path()), testEnvironment()).front().code,
                 std::string("weights.other-model"));
        QVERIFY(validate(specFor("fashion-cnn", classes.path()), testEnvironment()).empty());
    }

    void aHeadMayStartFresh_data() {
        QTest::addColumn<QString>("newHead");
        QTest::addColumn<int>("classes");
        QTest::addColumn<bool>("taken");
        QTest::newRow("auto, as many classes") << "auto" << 4 << true;
        QTest::newRow("auto, more classes") << "auto" << 10 << false;
        QTest::newRow("auto, no head") << "auto" << 0 << false;
        QTest::newRow("yes, as many classes") << "yes" << 4 << false;
        QTest::newRow("yes, more classes") << "yes" << 10 << false;
    }

    void aHeadMayStartFresh() {
        QFETCH(QString, newHead);
        QFETCH(int, classes);
        QFETCH(bool, taken);
        auto tensors = madeWeights("fashion-cnn", std::max(classes, 4));
        const auto isHead = [](const auto& each) { return each.first.starts_with("head/"); };
        if (classes == 0) std::erase_if(tensors, isHead);
        const WeightsFile file(tensors);
        TrialSpec spec = specFor("fashion-cnn", file.path());
        spec.newHead = newHead.toStdString();
        QVERIFY(weightsProblems(resolved(spec)).empty());
        QVERIFY(weightsProblems(resolved(spec), infoFor(4)).empty());
        const WeightTensors read = readWeights(resolved(spec), infoFor(4));
        QCOMPARE(std::ranges::any_of(read, isHead), taken);
        QCOMPARE(read.size(), std::size_t{taken ? 27u : 25u});
    }

    // The convolutions of a large VGG for small images: its three dense layers are left with the head.
    void whatSurroundsAnOldHeadIsLeft() {
        const ModelEntry& entry = *testEnvironment().model("vgg11-cifar");
        std::map<std::string, HostTensor> tensors;
        const Graph forward = buildForward(entry, ParamValues(entry.params), entry.usual, false).value();
        for (const auto& [ours, theirs] : torchvisionNames(entry, forward)) {
            if (!theirs.starts_with("classifier"))
                tensors.emplace(theirs, HostTensor({forward.typeOf(*forward.find(ours)).shape, DType::F16}));
        }
        for (const char* name : {"classifier.0.weight", "classifier.3.bias", "classifier.6.weight"})
            tensors.emplace(name, tensorOf<float>(DType::F32, {1}));
        const WeightsFile file(tensors);
        TrialSpec spec = specFor("vgg11-cifar", file.path());
        QCOMPARE(weightsProblems(resolved(spec)).front().code, std::string("weights.other-model"));
        spec.newHead = "auto";
        QVERIFY(weightsProblems(resolved(spec)).empty());
        QCOMPARE(readWeights(resolved(spec), infoFor(10)).size(), std::size_t{16});
    }

    // What a run begins with, on any number of devices, reaches every one of them; a learning rate of zero keeps it.
    void aRunBeginsWithThem_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<QString>("mode");
        QTest::newRow("one") << "reference:1"
                             << "fast";
        QTest::newRow("two") << "reference:2"
                             << "fast";
        QTest::newRow("two, reproducible") << "reference:2"
                                           << "reproducible";
        if (hasCpuBackend())
            QTest::newRow("cpu") << "cpu:2x1"
                                 << "fast";
    }

    void aRunBeginsWithThem() {
        QFETCH(QString, devices);
        QFETCH(QString, mode);
        const auto expected = madeWeights("fashion-cnn", 4, {1, 12, 12});
        const WeightsFile file(expected);
        TrialSpec spec = specFor("fashion-cnn", file.path());
        spec.devices = devices.toStdString();
        spec.mode = mode.toStdString();
        spec.epochs = 1;
        spec.learningRate = 0;
        const Run done = run({.spec = spec, .data = patterns(16, 8), .options = {}, .onEvent = {}, .hashes = true});
        QCOMPARE(done.result.outcome, RunResult::Outcome::Finished);
        for (const auto& [step, hashes] : done.hashes)
            QCOMPARE(std::ranges::count(hashes, hashes.front()), std::ssize(hashes));
        for (const auto& [name, tensor] : expected) {
            if (name.find("running_") != name.npos) continue;
            const HostTensor& held = done.tensors.at(name);
            for (std::size_t i = 0; i < tensor.as<float>().size(); ++i) {
                const double value = held.type().dtype == DType::F64 ? held.as<double>()[i] : held.as<float>()[i];
                QCOMPARE(value, static_cast<double>(tensor.as<float>()[i]));
            }
        }
    }

    // Its optimizer state and averages are left out. A run that goes on from a checkpoint needs no file.
    void aCheckpointIsAWeightsFile() {
        QTemporaryDir folder;
        TrialSpec spec = smallSpec("fashion-cnn", "reference:1");
        spec.averageDecay = 0.9;
        spec.epochs = 1;
        RunRequest request{.spec = spec, .data = patterns(16, 8), .options = {}, .onEvent = {}};
        request.options.checkpointFolder = folder.path().toStdString();
        const Run first = run(request);
        const std::string last = folder.filePath("last.safetensors").toStdString();
        spec.averageDecay = 0;
        spec.weights = last;
        const WeightTensors read = readWeights(resolved(spec), infoFor(4, {1, 12, 12}));
        QCOMPARE(read.size(), std::size_t{27});
        for (const auto& [name, tensor] : read) QVERIFY(sameBits({{"", tensor}}, {{"", first.tensors.at(name)}}));

        request.options.resumeFrom = readCheckpoint(last).value();
        request.spec.weights = "/nowhere/weights.safetensors";
        request.spec.epochs = 2;
        QCOMPARE(run(request).result.outcome, RunResult::Outcome::Finished);
    }

    void aRunSaysWhatIsWrongWithThem() {
        const Run done =
            run({.spec = specFor("fashion-cnn", "/nowhere"), .data = patterns(16, 8), .options = {}, .onEvent = {}});
        QCOMPARE(done.result.outcome, RunResult::Outcome::Failed);
        QCOMPARE(done.result.failed.kind, std::string("weights.unreadable"));
        QCOMPARE(done.result.failed.where, std::string("weights"));
    }
};

QTEST_APPLESS_MAIN(TstWeights)
#include "tst_weights.moc"
