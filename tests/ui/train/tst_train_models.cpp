#include <QJsonArray>
#include <QJsonDocument>
#include <QSignalSpy>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "ui/history/command_text.h"
#include "ui/history/setting_text.h"
#include "ui/train/dataset_text.h"
#include "ui/train/spec_form.h"

using namespace lockstep::ui;
using lockstep::Problem;

namespace {

QJsonObject json(const char* text) {
    const auto object = QJsonDocument::fromJson(text).object();
    if (object.isEmpty()) qFatal("no JSON object: %s", text);
    return object;
}

template <class Answer>
Answer answer(const char* text) {
    return lockstep::replyFrom<Answer>(nlohmann::json::parse(text)).answer;
}

FormCatalog smallCatalog() {
    FormCatalog catalog;
    catalog.take(answer<lockstep::SettingsAnswer>(R"({
        "defaults": {"title": "", "dataset": {"id": "fashion-mnist", "path": ""}, "model": {"id": "mlp"}, "devices": "cpu:2",
                     "batch": 128, "accumulation": 1, "epochs": 5, "optimizer": {"id": "sgd"}, "learning_rate": 0.1,
                     "schedule": {"id": "cosine"}, "augmentation": {}, "mode": "fast", "shards": 8, "seed": 1},
        "trial": [{"name": "batch", "kind": "integer", "fallback": 128, "low": 1, "high": 1000, "unit": "images", "meaning": "M."},
                  {"name": "mode", "kind": "text", "fallback": "fast", "choices": ["fast", "reproducible"], "unit": "", "meaning": "M."},
                  {"name": "shards", "kind": "integer", "fallback": 8, "low": 1, "unit": "", "meaning": "M."}],
        "optimizers": [{"id": "sgd", "params": [{"name": "momentum", "kind": "number", "fallback": 0.9, "low": 0, "high": 1, "unit": "", "meaning": "Speed kept."}]},
                       {"id": "adamw", "params": []}],
        "schedules": [{"id": "cosine", "meaning": "Falls.", "params": []}],
        "augmentation": [{"name": "flip", "kind": "flag", "fallback": false, "unit": "", "meaning": "Mirrors."}]})"));
    catalog.take(
        answer<lockstep::DevicesAnswer>(R"({"devices": [{"id": "cpu", "backend": "cpu", "cores": 2, "name": "CPU"},
                                                 {"id": "cuda:0", "backend": "cuda", "name": "Card"}, {"id": "cuda:1", "backend": "cuda", "name": "Card"}],
                                     "missing": []})"));
    return catalog;
}

}  // namespace

class TestTrainModels : public QObject {
    Q_OBJECT
private slots:
    void theEquationHolds_data() {
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("devices");
        QTest::addColumn<int>("passes");
        QTest::addColumn<QString>("text");
        QTest::newRow("even") << 128 << 2 << 1 << "64 × 2 × 1 = 128";
        QTest::newRow("passes") << 128 << 2 << 4 << "16 × 2 × 4 = 128";
        QTest::newRow("uneven") << 128 << 3 << 1 << "(42 or 43) × 3 × 1 = 128";
        QTest::newRow("fewer images than parts") << 2 << 3 << 1 << "(0 or 1) × 3 × 1 = 2";
    }
    void theEquationHolds() {
        QFETCH(int, batch);
        QFETCH(int, devices);
        QFETCH(int, passes);
        const BatchEquation equation{batch, devices, passes};
        QTEST(equation.text(), "text");
    }

    void everyFactorCanBeEdited() {
        const BatchEquation start{128, 2, 1};
        QCOMPARE(withPerDevice(start, 100).text(), QString("100 × 2 × 1 = 200"));
        QCOMPARE(withDevices(start, 4, Hold::GlobalBatch).text(), QString("32 × 4 × 1 = 128"));
        QCOMPARE(withDevices(start, 4, Hold::PerDevice).text(), QString("64 × 4 × 1 = 256"));
        QCOMPARE(withPasses(start, 2, Hold::GlobalBatch).text(), QString("32 × 2 × 2 = 128"));
        QCOMPARE(withPasses(start, 2, Hold::PerDevice).text(), QString("64 × 2 × 2 = 256"));
        for (int devices = 1; devices < 9; ++devices) {
            for (int passes = 1; passes < 5; ++passes) {
                const auto end = withPerDevice(
                    withPasses(withDevices(start, devices, Hold::GlobalBatch), passes, Hold::PerDevice), 7);
                QVERIFY(end.divides() && end.batch == 7 * devices * passes);
            }
        }
    }

    void aFormStartsWithTheDefaults() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        QCOMPARE(form.value("batch").toInt(), 128);
        QCOMPARE(form.value("optimizer").toString(), QString("sgd"));
        QCOMPARE(form.value("optimizer.momentum").toDouble(), 0.9);  // the fallback; the spec says nothing
        QCOMPARE(form.value("augmentation.flip").toBool(), false);
        QVERIFY(!form.history().canUndo());
    }

    void changesAreUndone() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        const auto before = form.spec();
        form.setValue("optimizer.momentum", 0.5);
        QCOMPARE(form.spec()["optimizer"].toObject()["momentum"].toDouble(), 0.5);
        form.choose("optimizer", "adamw");
        QVERIFY(!form.spec()["optimizer"].toObject().contains("momentum"));
        form.history().undo();
        QCOMPARE(form.value("optimizer.momentum").toDouble(), 0.5);
        form.history().undo();
        QCOMPARE(form.spec(), before);
        form.history().redo();
        QCOMPARE(form.value("optimizer.momentum").toDouble(), 0.5);
    }

    void typingIsOneStep() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        for (const int batch : {1, 12, 125}) form.setValue("batch", batch, Edit::Typing);
        QCOMPARE(form.history().count(), 1);
        form.setValue("seed", 4, Edit::Typing);
        QCOMPARE(form.history().count(), 2);
        form.endTyping();
        form.setValue("seed", 5, Edit::Typing);
        QCOMPARE(form.history().count(), 3);
        form.setDevices("cpu:3");
        form.setDevices("cpu:4");  // clicks, not keys
        QCOMPARE(form.history().count(), 5);
        for (int i = 0; i < 3; ++i) form.history().undo();
        form.history().undo();
        form.history().undo();
        QCOMPARE(form.value("batch").toInt(), 128);
    }

    void devicesKeepTheEquation() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        form.setDevices("cpu:4");
        QCOMPARE(form.equation().text(), QString("32 × 4 × 1 = 128"));
        form.setHold(Hold::PerDevice);
        form.setDevices("cpu:2");
        QCOMPARE(form.value("batch").toInt(), 64);
        form.setPerDevice(10);
        QCOMPARE(form.equation().text(), QString("10 × 2 × 1 = 20"));
        form.setPasses(3);
        QCOMPARE(form.equation().text(), QString("10 × 2 × 3 = 60"));
        form.setDevices("cpu:");  // half typed: nothing else changes
        QCOMPARE(form.value("batch").toInt(), 60);
    }

    void precisionSaysWhatItBringsHere() {
        SpecForm form;
        auto catalog = smallCatalog();
        const auto noteAt = [&](double speed) {
            lockstep::DevicesAnswer devices;
            devices.devices.push_back({{"cpu", "CPU", "cpu", 0, 2}, "", speed});
            catalog.take(devices);
            form.setCatalog(catalog);
            return form.noteAt("precision");
        };
        QVERIFY(noteAt(0.5).isEmpty());  // fp32 is chosen
        form.setValue("precision", "bf16");
        for (const double speed : {0.5, 1.75})
            QCOMPARE(noteAt(speed), QString("On this processor products of matrices run at %1 times the speed of fp32.")
                                        .arg(speed, 0, 'f', 2));
        QVERIFY(form.noteAt("mode").isEmpty());
        QVERIFY(noteAt(0).isEmpty());  // nobody knows
        noteAt(0.5);
        form.setPrecisionRemark("Nearly all of it is fp32.");
        QCOMPARE(form.noteAt("precision"), QString("Nearly all of it is fp32."));
        form.setDevices("cuda:0");
        QVERIFY(form.noteAt("precision").isEmpty());  // another processor
        form.setValue("precision", "auto");
        QVERIFY(form.noteAt("precision").isEmpty());
        form.setValue("mode", "reproducible");
        QVERIFY(form.noteAt("precision").contains("takes fp32"));
    }

    // Of the settings that it depends on, as they were; what is asked twice is measured once.
    void aModelIsMeasuredWhenAskedFor() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        form.setValue("precision", "auto");
        QSignalSpy measuring(&form, &SpecForm::measuring), notes(&form, &SpecForm::notesChanged);
        form.measure();
        form.measure();
        QCOMPARE(measuring.size(), 1);
        QVERIFY(form.noteAt("precision").contains("by turns"));
        const auto of = form.speedsAreOf();
        form.setSpeeds(of, "bf16 is faster", {});
        QCOMPARE(form.noteAt("precision"), QString("bf16 is faster"));
        QCOMPARE(notes.size(), 2);
        form.setValue("epochs", 3);
        QCOMPARE(form.noteAt("precision"), QString("bf16 is faster"));  // which has nothing to do with it
        form.setValue("shares", "2,1");
        QVERIFY(form.noteAt("precision").isEmpty());
        form.setSpeeds(form.speedsAreOf(), "bf16 is faster", {});
        form.setValue("batch", 17);
        QVERIFY(form.noteAt("precision").isEmpty());
        form.setSpeeds(form.speedsAreOf(), {}, {{"batch", "run.memory", {}}});
        QCOMPARE(form.problemsAt("precision").size(), std::size_t{1});
        QVERIFY(form.problems().empty());  // a run may begin all the same
        form.measure();
        form.endMeasuring();
        QVERIFY(!form.noteAt("precision").contains("by turns"));
        form.measure();
        QCOMPARE(measuring.size(), 3);
    }

    void cardsSayHowTheyAre() {
        auto catalog = smallCatalog();
        lockstep::DevicesAnswer devices;
        devices.devices = {{{"cuda:1", "", "cuda"}, "38 °C, 12 % busy"}, {{"cpu", "", "cpu"}, ""}};
        catalog.take(devices);
        QCOMPARE(catalog.deviceFacts, (QHash<QString, QString>{{"cuda:1", "38 °C, 12 % busy"}}));
    }

    void shardsAreThePassesOfTheReproducibleMode() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        form.setPasses(4);
        form.setValue("mode", "reproducible");
        QCOMPARE(form.value("accumulation").toInt(), 1);
        QCOMPARE(form.equation().text(), QString("16 × 2 × 4 = 128"));
        form.setPasses(2);
        QCOMPARE(form.value("accumulation").toInt(), 1);
        form.setPerDevice(8);
        QCOMPARE(form.value("batch").toInt(), 64);
    }

    void whatIsUnknownIsKept() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        const auto strange = json(
            R"({"batch": "many", "tomorrow": {"a": [1, 2]}, "optimizer": "sgd", "model": {"id": "none", "width": 3}})");
        form.setSpec(strange, "By hand");
        QCOMPARE(form.spec(), strange);
        QCOMPARE(form.value("optimizer").toString(), QString("sgd"));
        QVERIFY(!form.chosen("model"));
        QCOMPARE(form.value("schedule").toString(), QString("cosine"));  // what an absent key means
        form.setValue("optimizer.momentum", 0.2);
        QCOMPARE(form.spec()["tomorrow"], strange["tomorrow"]);
        QCOMPARE(form.spec()["optimizer"].toObject()["id"].toString(), QString("sgd"));
        QCOMPARE(form.equation().batch, 1);
    }

    void whatIsUnknownCanBeLeftOut() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        form.setSpec(json(R"({"batch": 3, "tomorrow": 1, "optimizer": {"id": "sgd", "momentum": 1, "momentmu": 2},
                              "augmentation": {"flip": true, "flop": true}, "model": {"id": "none", "width": 3}})"),
                     "By hand");
        QCOMPARE(form.unknownSettings(), (QStringList{"augmentation.flop", "optimizer.momentmu", "tomorrow"}));
        form.leaveOutUnknown();
        QCOMPARE(form.spec(),
                 json(R"({"batch": 3, "optimizer": {"id": "sgd", "momentum": 1}, "augmentation": {"flip": true},
                                       "model": {"id": "none", "width": 3}})"));
        QVERIFY(form.unknownSettings().isEmpty());
        form.history().undo();
        QVERIFY(form.spec().contains("tomorrow"));
    }

    void datasetsAreSummedUp() {
        lockstep::DescribedData data;
        data.trainCount = 2000, data.testCount = 11;
        data.classes = {"a", "b"}, data.trainPerClass = {1000, 1000};
        data.fields = {{"image", "u8", {1, 28, 32}}};
        QCOMPARE(readingText({}), QString("Reading the data …"));
        QCOMPARE(readingText(lockstep::ServeProgress{320'000, 0}), QString("Listing files: 320,000"));
        QCOMPARE(readingText(lockstep::ServeProgress{12, 128}), QString("Reading the data: 12 of 128"));
        QCOMPARE(datasetSummary(data),
                 QString("2,000 training and 11 test samples, 2 classes of 1,000 each, 32 × 28 grey"));
        data.trainCount = 412, data.testCount = 0, data.trainPerClass = {12, 400};
        data.fields = {{"tokens", "i32", {256}}};
        QCOMPARE(datasetSummary(data),
                 QString("412 training and 0 test samples, 2 classes of 12 to 400, 256 bytes of text"));
        data.classes.clear(), data.trainPerClass.clear();
        QCOMPARE(datasetSummary(data), QString("412 training and 0 test samples, 256 bytes of text"));
        data.testCount = 1;
        QCOMPARE(datasetSummary(data), QString("412 training and 1 test sample, 256 bytes of text"));
    }

    void problemsFindTheirFields() {
        SpecForm form;
        form.setCatalog(smallCatalog());
        form.setProblems(
            {{"batch", "a", {}}, {"optimizer.momentum", "b", {}}, {"optimizer.momentmu", "c", {}}, {"model", "d", {}}});
        QCOMPARE(form.problemsAt("batch").size(), 1u);
        QCOMPARE(form.problemsAt("optimizer.momentum").size(), 1u);
        QCOMPARE(form.otherProblems(), (Problems{{"optimizer.momentmu", "c", {}}}));
    }

    void helpSaysMeaningDefaultAndRange() {
        const auto catalog = smallCatalog();
        QCOMPARE(catalog.trial[0].help(), QString("M.\nDefault: 128 images\nRange: 1 … 1000"));
        QCOMPARE(catalog.augmentation[0].help(), QString("Mirrors.\nDefault: off\nRange: on or off"));
        QCOMPARE(catalog.trial[2].range(), QString("at least 1"));
        QCOMPARE(labelOf("crop_padding"), QString("Crop padding"));
        FormCatalog files;
        files.take(answer<lockstep::SettingsAnswer>(
            R"({"trial": [{"name": "weights", "kind": "text", "fallback": "", "unit": "file", "meaning": "M."}]})"));
        QCOMPARE(files.trial[0].kind, FormField::Kind::File);
        QCOMPARE(files.trial[0].help(), QString("M.\nDefault: empty\nRange: any file"));
        QCOMPARE(files.trial[0].whenEmpty(), QString());
    }

    void whatAnEmptyFieldStandsForIsInItsMeaning() {
        FormField field;
        field.meaning = "Where it starts; empty: random ones.";
        QCOMPARE(field.whenEmpty(), QString("random ones"));
    }

    void tilesSwitchDevices() {
        const auto request = smallCatalog().devices;
        const DeviceTiles two(request, "cpu:2");
        QCOMPARE(two.tiles().size(), 6);  // four of the CPU, two cards
        QVERIFY(two.tiles()[0].on && two.tiles()[1].on && !two.tiles()[2].on && !two.anyVirtual());
        QVERIFY(two.tiles()[2].isVirtual);
        QCOMPARE(two.toggled(3), QString("cpu:4"));
        QCOMPARE(two.toggled(1), QString("cpu:1"));
        QCOMPARE(two.toggled(4), QString("cuda:0"));
        QCOMPARE(DeviceTiles(request, "cpu:1").toggled(0), QString("cpu:1"));
        QCOMPARE(DeviceTiles(request, "cuda:0").toggled(5), QString("cuda:0,1"));
        QCOMPARE(DeviceTiles(request, "cuda:0,1").toggled(4), QString("cuda:1"));
        QCOMPARE(DeviceTiles(request, "cuda:0").toggled(4), QString("cuda:0"));
        QCOMPARE(DeviceTiles(request, "cuda:0").toggled(1), QString("cpu:2"));
    }

    void virtualDevicesAreMarked() {
        const auto request = smallCatalog().devices;
        const DeviceTiles four(request, "cpu:4");
        QVERIFY(four.anyVirtual() && four.tiles()[0].isVirtual);
        QVERIFY(DeviceTiles(request, "cuda:0,0").anyVirtual());
        QCOMPARE(DeviceTiles(request, "cuda:0,0").count(), 2);
        const DeviceTiles each(request, "cpu:2x1");
        QCOMPARE(each.coresEach(), 1);
        QCOMPARE(each.withCount(3), QString("cpu:3x1"));
        QCOMPARE(each.withCoresEach(0), QString("cpu:2"));
        QCOMPARE(DeviceTiles(request, "cuda:0").withCount(3), QString("cuda:0,1,0"));
        QVERIFY(!DeviceTiles(request, "cpu:two").problems().empty());
    }

    void commandsSayWhatDiffers() {
        const auto defaults = smallCatalog().defaults;
        QCOMPARE(trainCommand(defaults, defaults), QString("lockstep train --dataset fashion-mnist --model mlp"));
        auto spec = defaults;
        spec["title"] = "it's mine";
        spec["learning_rate"] = 0.05;
        spec["optimizer"] = QJsonObject{{"id", "sgd"}, {"momentum", 0.5}, {"nesterov", true}};
        spec["dataset"] = QJsonObject{{"id", "idx"}, {"path", "/data/my images"}};
        spec["bucket_bytes"] = 4096;
        QCOMPARE(
            trainCommand(spec, defaults),
            QString("lockstep train --dataset idx --data '/data/my images' --model mlp --set optimizer.momentum=0.5 "
                    "--set optimizer.nesterov=true --set bucket_bytes=4096 --lr 0.05 --title 'it'\\''s mine'"));
    }

    void bytesAreReadable() {
        QCOMPARE(bytesText(512), QString("512 B"));
        QCOMPARE(bytesText(1536), QString("1.5 KiB"));
        QCOMPARE(bytesText(150e9), QString("139.7 GiB"));
    }
};

QTEST_APPLESS_MAIN(TestTrainModels)
#include "tst_train_models.moc"
