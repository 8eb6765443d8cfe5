#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QtTest>

#include "datasets/catalog.h"
#include "engine/train/export_pytorch.h"
#include "engine/train/schedule.h"
#include "tests/train/train_fixture.h"

using namespace lockstep;

namespace {

const Environment& environmentWithData() {
    static const Environment environment = [] {
        Environment made = makeTestEnvironment();
        for (DatasetEntry& entry : builtinDatasets({})) made.add(std::move(entry));
        return made;
    }();
    return environment;
}

std::string_view templateText(std::string_view name) {
    static std::map<std::string, std::string, std::less<>> texts;
    const auto known = texts.find(name);
    if (known != texts.end()) return known->second;
    QFile file(QString(LOCKSTEP_SOURCE_DIR "/resources/pytorch/") +
               QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
    if (!file.open(QIODevice::ReadOnly)) throw std::runtime_error("there is no " + std::string(name));
    return texts.emplace(name, file.readAll().toStdString()).first->second;
}

DatasetInfo infoFor(const ModelEntry& model) {
    DatasetInfo info;
    const ModelInput& usual = model.usual;
    if (model.task == ModelTask::ImageClasses) {
        info.fields = imageFields({usual.channels, usual.height, usual.width});
        info.mean.assign(static_cast<std::size_t>(usual.channels), 0.5f);
        info.deviation.assign(static_cast<std::size_t>(usual.channels), 0.25f);
    } else {
        info.fields = model.task == ModelTask::NextTokens ? languageFields(usual.tokens) : textFields(usual.tokens);
    }
    for (int i = 0; i < usual.classes; ++i) info.classes.push_back("class " + std::to_string(i));
    return info;
}

// Data that the script can read, for the model.
TrialSpec specFor(const ModelEntry& model) {
    TrialSpec spec;
    const bool isGrey = model.usual.channels == 1;
    spec.dataset.id = model.task == ModelTask::NextTokens    ? "text"
                      : model.task == ModelTask::TextClasses ? "text-csv"
                      : isGrey                               ? "idx"
                                                             : "cifar10";
    spec.dataPath = "/data/some where";
    spec.model.id = model.name;
    spec.devices = "reference:2";
    spec.optimizer = {"sgd", {{"momentum", 0.9}, {"weight_decay", 5e-4}}};
    return spec;
}
TrialSpec specFor(const char* model) { return specFor(*findModel(builtinModels(), model)); }

std::string scriptOf(const TrialSpec& spec, const DatasetInfo* info = nullptr) {
    const auto resolved = resolveToExport(spec, environmentWithData());
    if (!resolved.ok()) throw ProblemError(resolved.problems().front());
    const DatasetInfo usual = infoFor(*resolved.value().model);
    return pytorchScript({.spec = spec,
                          .resolved = resolved.value(),
                          .trained = info ? *info : usual,
                          .devices = devicesNamed(spec),
                          .trial = 7,
                          .hasCheckpoint = true,
                          .file = "train.py",
                          .text = templateText});
}

// The settings that the script says it does not express.
QStringList missingIn(const std::string& script) {
    QStringList found;
    bool begun = false;
    for (const QString& line : QString::fromStdString(script).split('\n')) {
        if (!line.startsWith('#')) break;
        if (begun) found << line.mid(4, line.indexOf(':') - 4);
        begun = begun || line.contains("does not express:");
    }
    return found;
}

struct Setting {
    const char* name;
    void (*change)(TrialSpec& spec);
};

// Each is expressed, or the script says that it is not.
const Setting kExpressed[] = {
    {"adamw",
     [](TrialSpec& spec) {
         spec.optimizer = {"adamw", {}};
     }},
    {"lars",
     [](TrialSpec& spec) {
         spec.optimizer = {"lars", {}};
     }},
    {"muon",
     [](TrialSpec& spec) {
         spec.optimizer = {"muon", {}};
     }},
    {"constant",
     [](TrialSpec& spec) {
         spec.schedule = {"constant", {}};
     }},
    {"step",
     [](TrialSpec& spec) {
         spec.schedule = {"step", {{"warmup", 2.0}}};
     }},
    {"one-cycle",
     [](TrialSpec& spec) {
         spec.schedule = {"one-cycle", {}};
     }},
    {"rate rule", [](TrialSpec& spec) { spec.learningRateRule = "sqrt", spec.batch = 512; }},
    {"smoothing", [](TrialSpec& spec) { spec.labelSmoothing = 0.1; }},
    {"averages", [](TrialSpec& spec) { spec.averageDecay = 0.99; }},
    {"crop",
     [](TrialSpec& spec) {
         spec.augmentation = {{"crop_padding", std::int64_t{4}}};
     }},
    {"flip",
     [](TrialSpec& spec) {
         spec.augmentation = {{"flip", true}};
     }},
    {"cutout",
     [](TrialSpec& spec) {
         spec.augmentation = {{"cutout", std::int64_t{8}}};
     }},
    {"erasing",
     [](TrialSpec& spec) {
         spec.augmentation = {{"random_erasing", 0.25}};
     }},
    {"mixup",
     [](TrialSpec& spec) {
         spec.augmentation = {{"mixup", 0.2}, {"flip", true}};
     }},
    {"cutmix",
     [](TrialSpec& spec) {
         spec.augmentation = {{"cutmix", 1.0}};
     }},
    {"mixup or cutmix",
     [](TrialSpec& spec) {
         spec.augmentation = {{"mixup", 0.2}, {"cutmix", 1.0}, {"flip", true}};
     }},
    {"frozen", [](TrialSpec& spec) { spec.frozen = "block1,block2"; }},
    {"accumulation", [](TrialSpec& spec) { spec.accumulation = 4; }},
    {"tf32", [](TrialSpec& spec) { spec.precision = "tf32"; }},
    {"seed", [](TrialSpec& spec) { spec.seed = ~std::uint64_t{0}; }},
};
const Setting kMissing[] = {
    {"precision", [](TrialSpec& spec) { spec.precision = "bf16"; }},
    {"precision", [](TrialSpec& spec) { spec.precision = "fp16"; }},
    {"mode", [](TrialSpec& spec) { spec.mode = "reproducible"; }},
    {"shard_threads", [](TrialSpec& spec) { spec.mode = "reproducible", spec.shardThreads = 2; }},
    {"shares", [](TrialSpec& spec) { spec.shares = "2,1"; }},
    {"jitter",
     [](TrialSpec& spec) {
         spec.augmentation = {{"jitter_brightness", 0.4}, {"jitter_hue", 0.1}};
     }},
    {"batch_norm", [](TrialSpec& spec) { spec.batchNorm = "synchronised"; }},
    {"recompute", [](TrialSpec& spec) { spec.recompute = "segments"; }},
    {"devices", [](TrialSpec& spec) { spec.devices = "cpu:2x1"; }},
    {"loader_threads", [](TrialSpec& spec) { spec.loaderThreads = 2; }},
    {"loader_limit", [](TrialSpec& spec) { spec.loaderLimit = 100; }},
    {"link_bandwidth, link_latency", [](TrialSpec& spec) { spec.linkBandwidth = 10; }},
    {"weights", [](TrialSpec& spec) { spec.weights = "/w.safetensors", spec.newHead = "auto"; }},
    {"dataset",
     [](TrialSpec& spec) {
         spec.dataset = {"synthetic", {}};
     }},
    {"dataset",
     [](TrialSpec& spec) {
         spec.dataset = {"image-folder", {}};
     }},
};
const QStringList kAlways{"check_every", "checkpoint_minutes", "on_lost_device"};

}  // namespace

class TstExportPytorch : public QObject {
    Q_OBJECT
private slots:
    // After an intended change: LOCKSTEP_UPDATE_GOLDEN=1, then read the diff.
    void aSmallModelsScript() {
        TrialSpec spec = specFor("fashion-cnn");
        spec.model.params = {{"width", std::int64_t{4}}};
        spec.augmentation = {{"flip", true}};
        const QByteArray script = QByteArray::fromStdString(scriptOf(spec));
        QFile golden(LOCKSTEP_SOURCE_DIR "/tests/train/golden/fashion_cnn.py");
        if (qEnvironmentVariableIsSet("LOCKSTEP_UPDATE_GOLDEN")) {
            QVERIFY(golden.open(QIODevice::WriteOnly));
            golden.write(script);
            golden.close();
        }
        QVERIFY(golden.open(QIODevice::ReadOnly));
        QCOMPARE(script.split('\n'), golden.readAll().split('\n'));
    }

    void pythonTakesThemAll() {
        const QString python = QStandardPaths::findExecutable("python3");
        if (python.isEmpty()) QSKIP("python3 is not installed");
        QTemporaryDir folder;
        QStringList files;
        const auto write = [&](const QString& name, const std::string& script) {
            QFile file(folder.filePath(name + ".py"));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(QByteArray::fromStdString(script));
            files << file.fileName();
        };
        for (const ModelEntry& model : builtinModels())
            write(QString::fromStdString(model.name), scriptOf(specFor(model)));
        int number = 0;
        for (const auto& settings : {std::span<const Setting>(kExpressed), std::span<const Setting>(kMissing)}) {
            for (const Setting& setting : settings) {
                TrialSpec spec = specFor("fashion-cnn");
                setting.change(spec);
                write(QString("setting%1").arg(++number), scriptOf(spec));
            }
        }
        for (const DatasetEntry& entry : builtinDatasets({})) {
            const bool isTexts = entry.id.starts_with("text-");
            TrialSpec spec = specFor(entry.id == "text" ? "gpt" : isTexts ? "text-encoder" : "mlp");
            spec.dataset = {entry.id, {}};
            write(QString::fromStdString(entry.id), scriptOf(spec));
        }
        QProcess check;
        check.start(python, QStringList{LOCKSTEP_SOURCE_DIR "/tests/train/names_in_python.py"} + files);
        QVERIFY(check.waitForFinished());
        QCOMPARE(check.readAllStandardError(), QByteArray());
        QCOMPARE(check.readAllStandardOutput(), QByteArray());
        QCOMPARE(check.exitCode(), 0);
    }

    // What a person gave wrong is told in a line with its remedy: no traceback. PyTorch is not needed for that.
    void wrongPathsAreRefusedInALine_data() {
        QTest::addColumn<QString>("dataset");
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* dataset, const QStringList& arguments, const char* says) {
            QTest::addRow("%s %s %s", dataset, qPrintable(arguments.join(' ')), says)
                << dataset << arguments << QString(says);
        };
        for (const char* dataset :
             {"idx", "fashion-mnist", "cifar10", "cifar100", "image-folder", "text", "text-folder", "text-csv"}) {
            row(dataset, {"--data", "nowhere"}, "nowhere does not exist; give --data ");
            row(dataset, {"--data", "empty"}, "empty has ");
        }
        row("idx", {"--data", "cut"}, "train-images-idx3-ubyte is no whole IDX file of images; give --data ");
        row("image-folder", {"--data", "other.csv"}, "other.csv is no folder; give --data ");
        row("text-csv", {"--data", "other.csv"}, "other.csv has no column \"label\"; give --data ");
        row("text-csv", {"--data", "labels.csv"}, "labels.csv has a label that the model does not know: 'b'; give ");
        row("text-csv", {"--data", "whole/train-images-idx3-ubyte"}, "cannot be read: 'utf-8' codec");
        row("idx", {"--data", "whole", "--weights", "nowhere"}, "nowhere does not exist; give --weights ");
        row("idx", {"--data", "whole", "--weights", "other.csv"}, "it is no safetensors file; give --weights ");
        row("idx", {"--data", "whole", "--weights", "short"}, "it is cut short; give --weights ");
        row("idx", {"--data", "whole", "--weights", "empty"}, "cannot be read: Is a directory; give --weights ");
        row("idx", {"--data", "whole", "--order", "nowhere"}, "nowhere does not exist; give --order ");
    }
    void wrongPathsAreRefusedInALine() {
        QFETCH(QString, dataset);
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const QString python = QStandardPaths::findExecutable("python3");
        if (python.isEmpty()) QSKIP("python3 is not installed");
        QTemporaryDir folder;
        const bool isTexts = dataset.startsWith("text-");
        TrialSpec spec = specFor(dataset == "text" ? "gpt" : isTexts ? "text-encoder" : "mlp");
        spec.dataset = {dataset.toStdString(), {}};
        writeFile(folder.filePath("train.py"), QByteArray::fromStdString(scriptOf(spec)));
        writeWrongFiles(folder);
        QProcess script;
        script.setWorkingDirectory(folder.path());
        script.start(python, QStringList{LOCKSTEP_SOURCE_DIR "/tests/train/without_torch.py", "train.py"} + arguments);
        QVERIFY(script.waitForFinished());
        const QString said = QString::fromUtf8(script.readAllStandardError());
        QVERIFY2(script.exitStatus() == QProcess::NormalExit && script.exitCode() == 2, qPrintable(said));
        QVERIFY2(said.startsWith("train.py: ") && said.count('\n') == 1 && said.contains(says), qPrintable(said));
        QCOMPARE(script.readAllStandardOutput(), QByteArray());
    }

    void whatIsExpressedIsNotMissing() {
        QCOMPARE(missingIn(scriptOf(specFor("fashion-cnn"))), kAlways);
        for (const Setting& setting : kExpressed) {
            TrialSpec spec = specFor("fashion-cnn");
            setting.change(spec);
            const std::string script = scriptOf(spec);
            QVERIFY2(missingIn(script) == kAlways, setting.name);
            QVERIFY2(script != scriptOf(specFor("fashion-cnn")), setting.name);
        }
    }

    void whatIsMissingIsSaid() {
        for (const Setting& setting : kMissing) {
            TrialSpec spec = specFor("fashion-cnn");
            setting.change(spec);
            const QStringList missing = missingIn(scriptOf(spec));
            QVERIFY2(missing.contains(setting.name), qPrintable(setting.name + (": " + missing.join(", "))));
        }
        QVERIFY(missingIn(scriptOf(specFor("gpt"))).contains("sample_length"));
        TrialSpec quiet = specFor("gpt");
        quiet.sampleLength = 0, quiet.checkEvery = 0, quiet.devices = "reference:1";
        QCOMPARE(missingIn(scriptOf(quiet)), QStringList{"checkpoint_minutes"});
    }

    // All names of settings that an optimizer, a schedule and the augmentation have, so that a new one is not
    // forgotten.
    void newOnesAreNotForgotten() {
        for (const UpdateEntry& entry : updateRules()) {
            TrialSpec spec = specFor("fashion-cnn");
            spec.optimizer = {entry.name, {}};
            QVERIFY2(bodyOf(scriptOf(spec), "optimizer_of").contains("return "), entry.name.c_str());
        }
        for (const ScheduleEntry& entry : schedules()) {
            TrialSpec spec = specFor("fashion-cnn");
            spec.schedule = {entry.name, {}};
            QCOMPARE(bodyOf(scriptOf(spec), "rate_at").count("return "), entry.name == "one-cycle" ? 4 : 3);
        }
    }

    void whatTheModelNeedsElsewhere() {
        DatasetInfo info = infoFor(*findModel(builtinModels(), "resnet18-cifar"));
        info.classes = {"T-shirt/top", "\"quoted\"\n", "Größe"};
        info.mean = {0.1f, 0.25f, 0.5f};
        const QString script = QString::fromStdString(scriptOf(specFor("resnet18-cifar"), &info));
        QVERIFY(script.contains("\nSIZE = (3, 32, 32)  # channels (R, G, B), height, width\n"));
        QVERIFY(script.contains("\nMEAN = (0.1, 0.25, 0.5,)"));
        QVERIFY(script.contains("\nDEVIATION = (0.25, 0.25, 0.25,)\n"));
        QVERIFY(script.contains("\nCLASSES = [\"T-shirt/top\", \"\\\"quoted\\\"\\n\", \"Größe\"]\n"));
        QVERIFY(script.contains("\nDATA = \"/data/some where\"\n"));
        QVERIFY(!script.contains("measure("));
        info.mean.clear(), info.deviation.clear();
        const QString measuring = QString::fromStdString(scriptOf(specFor("resnet18-cifar"), &info));
        QVERIFY(measuring.contains("# No checkpoint tells mean and deviation"));
        QVERIFY(measuring.contains("    measure(train[\"image\"])\n"));
    }

    void devicesAreCounted_data() {
        QTest::addColumn<QString>("devices");
        QTest::addColumn<int>("count");
        for (const auto& [devices, count] : std::initializer_list<std::pair<const char*, int>>{
                 {"cpu:2", 2}, {"cpu:3x1", 3}, {"cuda:0", 1}, {"cuda:0,1,3", 3}, {"cuda:all", 0}, {"auto", 0}})
            QTest::newRow(devices) << devices << count;
    }
    void devicesAreCounted() {
        QFETCH(QString, devices);
        TrialSpec spec = specFor("fashion-cnn");
        spec.devices = devices.toStdString();
        QTEST(devicesNamed(spec), "count");
        const QString script = QString::fromStdString(scriptOf(spec));  // whatever this machine has
        QVERIFY(script.contains(QString("--nproc-per-node=%1 train.py\n").arg(std::max(devicesNamed(spec), 1))));
        QCOMPARE(script.contains("depended on its machine"), devicesNamed(spec) == 0);
    }

    void namesCannotLeaveTheirPlace() {
        TrialSpec spec = specFor("fashion-cnn");
        spec.title = "x\nimport os";
        spec.dataPath = "/data/\"\nimport os #\\";
        const QString script = QString::fromStdString(scriptOf(spec));
        QVERIFY(script.contains("\nDATA = \"/data/\\\"\\nimport os #\\\\\"\n"));
        QVERIFY(!script.contains("\nimport os #"));
    }

private:
    static void writeFile(const QString& path, const QByteArray& bytes) {
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write %s", qPrintable(path));
    }

    // "whole" has IDX files of no image, and a byte that is no UTF-8; those in "cut" lack their ends.
    static void writeWrongFiles(const QTemporaryDir& folder) {
        for (const char* name : {"empty", "whole", "cut"}) QDir(folder.path()).mkdir(name);
        for (const char* split : {"train", "t10k"}) {
            const QString images = QString("%1-images-idx3-ubyte").arg(split);
            const QString labels = QString("%1-labels-idx1-ubyte").arg(split);
            const QByteArray noImages("\0\0\x08\x03\0\0\0\0\0\0\0\x80\0\0\0\x80", 16),
                noLabels("\0\0\x08\x01\0\0\0\0", 8);
            writeFile(folder.filePath("whole/" + images), noImages);
            writeFile(folder.filePath("whole/" + labels), noLabels);
            writeFile(folder.filePath("cut/" + images), noImages.left(9));
            writeFile(folder.filePath("cut/" + labels), noLabels);
        }
        writeFile(folder.filePath("other.csv"), "text,class\na,b\n");
        writeFile(folder.filePath("labels.csv"), "text,label\na,b\n");
        writeFile(folder.filePath("short"), QByteArray("\xff\0\0\0\0\0\0\0{\"a\"", 12));
    }

    static QString bodyOf(const std::string& script, const QString& function) {
        return QString::fromStdString(script).section("def " + function + "(", 1, 1).section("\ndef ", 0, 0);
    }
};

QTEST_GUILESS_MAIN(TstExportPytorch)
#include "tst_export_pytorch.moc"
