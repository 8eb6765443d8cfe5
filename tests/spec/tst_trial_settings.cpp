#include <QtTest>
#include <cmath>

#include "engine/spec/setting_condition.h"
#include "engine/spec/trial_settings.h"

using namespace lockstep;

namespace {

// What `--set path=written` makes of a spec, as the setting is read back; a problem's code and arguments otherwise.
QString afterWriting(TrialSpec spec, const std::string& path, const std::string& written) {
    if (const auto problem = writeSetting(spec, path, settingValue(path, written))) {
        QString said = QString::fromStdString(problem->code + " at " + problem->field + ":");
        for (const auto& each : problem->args) said += ' ' + QString::fromStdString(each);
        return said.left(90);
    }
    const auto value = readSetting(spec, path);
    return value ? QString::fromStdString(text(*value)) : "nothing";
}

QString words(const TrialSpec& spec, const TrialSpec& usual = {}) {
    QStringList all;
    for (const auto& each : trainArguments(settingsOf(spec), settingsOf(usual))) all << QString::fromStdString(each);
    return all.join('|');
}

}  // namespace

class TestTrialSettings : public QObject {
    Q_OBJECT
private slots:
    void aPathHasAGroupAndAName() {
        QVERIFY(SettingPath::from("batch") == (SettingPath{"", "batch"}));
        QVERIFY(SettingPath::from("optimizer.momentum") == (SettingPath{"optimizer", "momentum"}));
        QVERIFY(SettingPath::from("optimizer")->isChoice());
        QVERIFY(SettingPath::from("optimizer") == SettingPath::from("optimizer.id"));
        QCOMPARE(SettingPath::from("optimizer.id")->text(), std::string("optimizer"));
        QVERIFY(!SettingPath::from("augmentation")->isChoice());
        for (const char* none : {"", ".", "optimizer.", ".momentum"}) QVERIFY(!SettingPath::from(none));
    }

    void whatHasAPlaceInASpecIsASetting() {
        for (const char* each : {"batch", "optimizer", "optimizer.momentum", "augmentation.flip", "dataset.path"})
            QVERIFY2(isSetting(each), each);
        for (const char* none : {"", "cuda", "augmentation", "optimiser.momentum", "batch.size"})
            QVERIFY2(!isSetting(none), none);
    }

    void conditionsCompareAsTheirValuesDo_data() {
        QTest::addColumn<QString>("asked");
        QTest::addColumn<QStringList>("holding");
        QTest::newRow("number") << "1e-1" << QStringList{"0.1"};
        QTest::newRow("whole") << "64.0" << QStringList{"64"};
        QTest::newRow("above") << ">0.1" << QStringList{"64"};
        QTest::newRow("at least") << ">=0.1" << QStringList{"0.1", "64"};
        QTest::newRow("below") << "<64" << QStringList{"0.1"};
        QTest::newRow("at most") << "<=64" << QStringList{"0.1", "64"};
        QTest::newRow("words") << "COS" << QStringList{"Cosine"};
        QTest::newRow("all of them") << "=cos" << QStringList();
        QTest::newRow("equal") << "=cosine" << QStringList{"Cosine"};
        QTest::newRow("no order of words") << ">a" << QStringList();
        QTest::newRow("flag") << "true" << QStringList{"true"};
        QTest::newRow("not stated") << "default" << QStringList{"-"};
        QTest::newRow("not stated, equal") << "=default" << QStringList{"-"};
    }

    void whatIsStillBeingWrittenAsksForNothing() {
        for (const char* unfinished : {"", ">", "<=", "="}) QVERIFY(SettingCondition("any", unfinished).isEmpty());
        QVERIFY(!SettingCondition("any", ">1").isEmpty());
    }

    void conditionsCompareAsTheirValuesDo() {
        QFETCH(QString, asked);
        QFETCH(QStringList, holding);
        const SettingCondition condition("any", asked.toStdString());
        QStringList held;
        for (const ParamValue& value :
             {ParamValue(0.1), ParamValue(std::int64_t{64}), ParamValue("Cosine"), ParamValue(true)})
            if (condition.holds(value)) held << QString::fromStdString(text(value));
        if (condition.holds(std::nullopt)) held << "-";
        QCOMPARE(held, holding);
    }

    void settingsStandInTheOrderOfTheFile() {
        const auto& keys = settingKeys();
        QCOMPARE(keys.front(), std::string("title"));
        QCOMPARE(keys[1], std::string("dataset"));
        QCOMPARE(keys[2], std::string("model"));
        TrialSpec spec;
        spec.optimizer.params["momentum"] = 0.5;
        spec.seed = 18446744073709551615ull;
        const auto here = settingsOf(spec), there = settingsIn(toJson(spec));
        QCOMPARE(here.size(), there.size());
        for (std::size_t i = 0; i < here.size(); ++i) QVERIFY2(here[i] == there[i], here[i].path.c_str());
        QVERIFY(settingsIn("[1]").empty() && settingsIn("{").empty());
        const auto sorted = settingsIn(R"({"optimizer": {"beta1": 0.8, "id": "adamw"}})");
        QVERIFY(sorted.size() == 2 && sorted[0].path == "optimizer" && sorted[1].path == "optimizer.beta1");
    }

    void whatIsReadCanBeWritten() {
        TrialSpec spec, copy;
        spec.dataset = {"idx", {{"size", std::int64_t{12}}}};
        spec.dataPath = "/data/a b";
        spec.optimizer = {"adamw", {{"beta1", 0.8}}};
        spec.augmentation = {{"flip", true}};
        spec.learningRate = 0.3;
        spec.seed = 9223372036854775808ull;
        for (const auto& each : settingsOf(spec)) QVERIFY(!writeSetting(copy, each.path, each.value));
        QVERIFY(copy == spec);
    }

    void wordsBecomeValues_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("written");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* path, const char* written, const char* expected) {
            QTest::addRow("%s=%s", path, written) << path << written << expected;
        };
        row("epochs", "1e3", "1000");
        row("epochs", "3.0", "3");
        row("epochs", "2.5", "spec.wrong-type at epochs: 2.5 a whole number");
        row("epochs", "many", "spec.wrong-type at epochs: many a whole number");
        row("epochs", "", "spec.wrong-type at epochs:  a whole number");
        row("learning_rate", "0.05", "0.05");
        row("learning_rate", "1", "1");
        row("learning_rate", "nan", "spec.wrong-type at learning_rate: nan a number");
        row("learning_rate", "1e999", "spec.wrong-type at learning_rate: 1e999 a number");
        row("learning_rate", "20000000000000000000", "2e+19");
        row("seed", "18446744073709551615", "18446744073709551615");
        row("seed", "18446744073709551616", "spec.out-of-range at seed: 18446744073709551616 0 18446744073709551615");
        row("seed", "-1", "spec.out-of-range at seed: -1 0 18446744073709551615");
        row("seed", "1e6", "1000000");
        row("title", "3", "3");
        row("title", "\"3\"", "3");
        row("title", "null", "null");
        row("optimizer.momentum", "0.9", "0.9");
        row("optimizer.nesterov", "true", "true");
        row("model.layers", "1e1", "10");
        row("dataset.path", "/tmp/7", "/tmp/7");
        row("optimizer", "adamw", "adamw");
        row("augmentation", "3", "spec.is-a-group at augmentation:");
        row("momentum", "3",
            "spec.unknown-key at momentum: momentum title, dataset, model, validation_share, validation");
        row("batch.size", "3",
            "spec.unknown-key at batch.size: batch.size title, dataset, model, validation_share, valida");
    }
    void wordsBecomeValues() {
        QFETCH(QString, path);
        QFETCH(QString, written);
        QFETCH(QString, expected);
        QCOMPARE(afterWriting({}, path.toStdString(), written.toStdString()), expected);
    }

    void anotherChoiceStartsAfresh() {
        TrialSpec spec;
        spec.optimizer.params["momentum"] = 0.5;
        spec.dataPath = "/data";
        QVERIFY(!writeSetting(spec, "optimizer", std::string("sgd")));
        QVERIFY(!writeSetting(spec, "dataset", spec.dataset.id));
        QCOMPARE(spec.optimizer.params.size(), std::size_t{1});
        QVERIFY(!spec.dataPath.empty());
        QVERIFY(!writeSetting(spec, "optimizer", std::string("lars")));
        QVERIFY(!writeSetting(spec, "dataset", std::string("idx")));
        QVERIFY(spec.optimizer.params.empty() && spec.dataPath.empty());
        QCOMPARE(writeSetting(spec, "optimizer", std::int64_t{3})->code, std::string("spec.wrong-type"));
    }

    void aCommandSaysWhatIsNotAsUsual() {
        TrialSpec spec;
        QCOMPARE(words(spec), QString("--dataset|fashion-mnist|--model|fashion-cnn"));
        spec.learningRate = 0.05;
        spec.model.params["kind"] = std::string("3");
        spec.title = "\"quoted\"";
        spec.samplePrompt = "\"quoted\"";
        spec.optimizer = {"adamw", {{"beta1", 0.9}}};
        QCOMPARE(words(spec),
                 QString("--dataset|fashion-mnist|--model|fashion-cnn|--set|model.kind=\"3\"|--optimizer|adamw|--set|"
                         "optimizer.beta1=0.9|--title|\"quoted\"|--lr|0.05|--set|sample_prompt=\"\\\"quoted\\\"\""));
    }

    // A setting of another optimizer is said though the usual one has the same.
    void settingsOfAnotherChoiceAreSaid() {
        TrialSpec usual, spec;
        usual.optimizer = {"sgd", {{"momentum", 0.9}}};
        spec.optimizer = {"lars", {{"momentum", 0.9}}};
        QVERIFY(words(spec, usual).endsWith("--optimizer|lars|--set|optimizer.momentum=0.9"));
    }

    void aCommandMeansTheSameTrial() {
        TrialSpec spec, back;
        spec.title = "-1";
        spec.dataset = {"idx", {{"size", 0.5}}};
        spec.dataPath = "/data";
        spec.samplePrompt = "true";
        spec.augmentation = {{"cutout", std::int64_t{8}}, {"policy", std::string("1e3")}};
        spec.seed = 18446744073709551615ull;
        const auto arguments = trainArguments(settingsOf(spec), settingsOf({}));
        for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
            auto word = arguments[i + 1];
            std::string path;
            for (const auto& each : settingsOf(spec)) {
                if (settingOption(each.path) == arguments[i]) path = each.path;
            }
            const bool isSet = arguments[i] == "--set";
            if (isSet) path = word.substr(0, word.find('=')), word = word.substr(path.size() + 1);
            const auto value = !isSet && takesText(path) ? ParamValue(word) : settingValue(path, word);
            QVERIFY2(!writeSetting(back, path, value), path.c_str());
        }
        QVERIFY(back == spec);
    }
};

QTEST_APPLESS_MAIN(TestTrialSettings)
#include "tst_trial_settings.moc"
