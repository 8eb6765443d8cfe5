#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QtTest>
#include <cmath>

#include "engine/search/sweep_probes.h"
#include "ui/train/asked_settings.h"
#include "ui/train/number_steps.h"
#include "ui/train/spec_form.h"
#include "ui/train/sweep_command.h"
#include "ui/train/sweep_estimate.h"
#include "ui/train/sweep_form.h"
#include "ui/train/sweep_text.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

ParamField numberField(const char* name, double fallback, double low, double high) {
    return {name, fallback, low, high, {}, "", "M."};
}
ParamField wholeField(const char* name, std::int64_t fallback) {
    return {name, fallback, 1.0, 1'000'000.0, {}, "", "M."};
}
ParamField textField(const char* name, const char* fallback, std::vector<std::string> choices = {}) {
    return {name, std::string(fallback), {}, {}, std::move(choices), "", "M."};
}

OfferedChoice choiceOf(const char* id, ParamSchema params) {
    OfferedChoice choice;
    choice.id = id;
    choice.params = std::move(params);
    choice.task = "image-classes";
    return choice;
}

FormCatalog sweepCatalog() {
    SettingsAnswer settings;
    settings.trial = {wholeField("batch", 128),
                      wholeField("epochs", 5),
                      wholeField("seed", 1),
                      numberField("learning_rate", 0.1, 0, 1000),
                      numberField("validation_share", 0, 0, 0.9),
                      textField("devices", "cpu:2"),
                      textField("precision", "fp32", {"fp32", "bf16"})};
    settings.optimizers = {
        choiceOf("sgd", {numberField("momentum", 0.9, 0, 1), numberField("weight_decay", 0, 0, 1)}),
        choiceOf("adamw", {numberField("beta2", 0.999, 0, 1), numberField("weight_decay", 0.01, 0, 1)}),
        choiceOf("lars", {numberField("momentum", 0.9, 0, 1), numberField("weight_decay", 0, 0, 1)})};
    settings.schedules = {choiceOf("cosine", {})};
    settings.defaults.text = toJson(TrialSpec());
    FormCatalog catalog;
    catalog.take(settings);
    ModelsAnswer models;
    models.models = {choiceOf("fashion-cnn", {wholeField("width", 16)})};
    catalog.take(models);
    return catalog;
}

class Sheet {
public:
    Sheet() { form.setCatalog(sweepCatalog()); }

    void vary(const QString& path, const QStringList& values) {
        form.sweep().setVaried(path, true);
        Variation variation;
        variation.values = values;
        form.sweep().setVariation(path, variation, Edit::Single);
    }
    void varyRange(const QString& path, const QString& from, const QString& to, const QString& points) {
        form.sweep().setVaried(path, true);
        Variation variation;
        variation.isRange = true;
        variation.from = from, variation.to = to, variation.spacing = points;
        form.sweep().setVariation(path, variation, Edit::Typing);
    }
    void repeat(std::int64_t times) {
        auto plan = form.sweep().plan();
        plan.repeats = times;
        form.sweep().setPlan(plan, "seeds", Edit::Single);
    }
    void schedule(const char* scheduler, std::int64_t firstRung = 1) {
        form.sweep().setScheduler(scheduler);
        auto plan = form.sweep().plan();
        plan.firstRung = firstRung;
        form.sweep().setPlan(plan, "rungs", Edit::Single);
    }
    void constrain(const QStringList& constraints) {
        auto state = form.state();
        state.sweep.constraints = constraints;
        form.setState(std::move(state), "constraints");
    }
    QString command() const { return sweepCommand(*form.sweep().made(), form.spec(), form.catalog().defaults); }
    void method(const char* name) { form.sweep().setMethod(name); }

    const QJsonObject json() const {
        if (!form.sweep().made()) return {};
        return QJsonDocument::fromJson(QByteArray::fromStdString(sweepJson(*form.sweep().made()))).object();
    }
    const Dimension* dimension(const std::string& path) const {
        for (const Dimension& each : form.sweep().made()->vary) {
            if (each.path == path) return &each;
        }
        return nullptr;
    }
    QString codes() const {
        QStringList all;
        for (const Problem& each : form.sweep().problems())
            all << QString::fromStdString(each.field + ": " + each.code);
        return all.join("; ");
    }

    SpecForm form;
};

std::vector<DimensionCondition> whileIt(const char* optimizer) { return {{"optimizer", {std::string(optimizer)}}}; }

TrialRow finishedRow(const char* model, double seconds) {
    TrialRow row;
    row.state = "finished";
    row.dataset = "fashion-mnist";
    row.model = model;
    row.devices = "cpu:2";
    row.attempts = 1;
    row.step = 100;
    row.batch = 10;
    row.seconds = seconds;
    return row;
}

}  // namespace

class TestSweepForm : public QObject {
    Q_OBJECT
private slots:
    void aVariedSettingIsInTheSweep() {
        Sheet sheet;
        QVERIFY(!sheet.form.sweep().isSweep() && !sheet.form.sweep().made());
        const auto before = sheet.form.spec();
        sheet.form.sweep().setVaried("learning_rate", true);
        QCOMPARE(sheet.codes(), QString());
        const auto varied = sheet.json()["vary"].toObject();
        QCOMPARE(varied.keys(), QStringList{"learning_rate"});
        const auto rate = varied["learning_rate"].toObject();
        QCOMPARE(rate["from"].toDouble(), 0.01);
        QCOMPARE(rate["to"].toDouble(), 1.0);
        QCOMPARE(rate["scale"].toString(), QString("log"));
        QCOMPARE(rate["points"].toInt(), 3);
        QCOMPARE(sheet.json()["method"].toString(), QString("grid"));
        QCOMPARE(sheet.form.sweep().cells(), 3);
        QCOMPARE(sheet.form.spec(), before);
    }

    void aGridAndItsSeedsAreOnTheButton() {
        Sheet sheet;
        for (const char* path : {"learning_rate", "batch", "optimizer.momentum"})
            sheet.form.sweep().setVaried(path, true);
        sheet.repeat(3);
        QCOMPARE(sheet.codes(), QString());
        QCOMPARE(sheet.form.sweep().cells(), 27);
        QCOMPARE(sheet.form.sweep().made()->repeats, 3);
        QCOMPARE(sweepStartText(27, 3, 2400), QString("Start sweep: 27 trials × 3 seeds, about 40 min"));
        QCOMPARE(sweepStartText(27, 3, std::nullopt), QString("Start sweep: 27 trials × 3 seeds"));
        QCOMPARE(sweepStartText(1, 1, std::nullopt), QString("Start sweep: 1 trial"));
        QCOMPARE(sheet.json()["vary"]["batch"].toArray().size(), 3);
    }

    void suggestionsStayWithinTheirRange() {
        FormField momentum;
        momentum.kind = FormField::Kind::Number;
        momentum.low = 0, momentum.high = 1;
        const auto high = suggestedVariation(momentum, 0.9);
        QCOMPARE(high.from, QString("0.81"));
        QCOMPARE(high.to, QString("0.99"));
        QVERIFY(!high.isLog);
        const auto none = suggestedVariation(momentum, 0);
        QCOMPARE(none.from + " " + none.to, QString("0 0.1"));
        momentum.high = 0.9999;
        QCOMPARE(suggestedVariation(momentum, 0.9).from, QString("0.82"));
        FormField seed;
        seed.kind = FormField::Kind::Integer;
        seed.path = "seed";
        QCOMPARE(suggestedVariation(seed, 7).values, (QStringList{"7", "8", "9"}));
        seed.path = "batch";
        seed.high = 200;
        QCOMPARE(suggestedVariation(seed, 128).values, (QStringList{"64", "128"}));
    }

    void whatIsWrongIsSaidAtItsField_data() {
        QTest::addColumn<QStringList>("typed");  // from, to, points
        QTest::addColumn<QString>("code");
        QTest::newRow("inverted") << QStringList{"1", "0.1", "3"} << "search.inverted";
        QTest::newRow("no number") << QStringList{"fast", "1", "3"} << "spec.wrong-type";
        QTest::newRow("nothing") << QStringList{"0.1", "", "3"} << "spec.wrong-type";
        QTest::newRow("no points") << QStringList{"0.1", "1", "0"} << "spec.out-of-range";
        QTest::newRow("points of words") << QStringList{"0.1", "1", "few"} << "spec.wrong-type";
        QTest::newRow("infinite") << QStringList{"0.1", "inf", "3"} << "search.not-a-number";
        QTest::newRow("endless") << QStringList{"0.1", "1", ""} << "search.endless";
    }
    void whatIsWrongIsSaidAtItsField() {
        QFETCH(QStringList, typed);
        QFETCH(QString, code);
        Sheet sheet;
        QSignalSpy told(&sheet.form, &SpecForm::problemsChanged);
        sheet.varyRange("learning_rate", typed[0], typed[1], typed[2]);
        QVERIFY(!sheet.form.sweep().made());
        QCOMPARE(sheet.codes(), "learning_rate: " + code);
        QCOMPARE(sheet.form.problemsAt("learning_rate").size(), 1u);
        QVERIFY(sheet.form.sweep().otherProblems().empty());
        QVERIFY(!told.isEmpty());
        sheet.form.sweep().setVaried("learning_rate", false);
        QVERIFY(sheet.form.problemsAt("learning_rate").empty());
    }

    void otherProblemsAreTheSweepsOwn() {
        Sheet sheet;
        sheet.vary("seed", {"1", "2"});
        sheet.repeat(2);
        QCOMPARE(sheet.codes(), QString("repeats: search.repeats-of-seeds"));
        QCOMPARE(sheet.form.sweep().otherProblems().size(), 1u);
        QVERIFY(sheet.form.otherProblems().empty());
    }

    void aRangeWithoutEndIsForMethodsThatDraw() {
        Sheet sheet;
        sheet.varyRange("learning_rate", "0.1", "1", "");
        sheet.method("random");
        QCOMPARE(sheet.codes(), QString());
        QCOMPARE(sheet.form.sweep().cells(), 20);
        sheet.method("grid");
        QCOMPARE(sheet.form.sweep().plan().trials, 0);
        sheet.vary("learning_rate", {"0.1", "0.2"});
        sheet.method("sobol");
        QCOMPARE(sheet.form.sweep().cells(), 2);  // there are no more
    }

    void aSettingOfAVariedChoiceHasItsCondition() {
        Sheet sheet;
        sheet.vary("optimizer", {"sgd", "adamw"});
        for (const char* path : {"optimizer.momentum", "optimizer.beta2", "optimizer.weight_decay"})
            sheet.form.sweep().setVaried(path, true);
        QCOMPARE(sheet.codes(), QString());
        const auto conditions = [&](const char* path) { return sheet.dimension(path)->when; };
        QVERIFY(conditions("optimizer.momentum") == whileIt("sgd"));
        QVERIFY(conditions("optimizer.beta2") == whileIt("adamw"));
        QVERIFY(conditions("optimizer.weight_decay").empty());  // all of them have it
        const auto when = sheet.json()["vary"]["optimizer.momentum"]["when"]["optimizer"].toArray();
        QCOMPARE(when, QJsonArray{"sgd"});
        QCOMPARE(sheet.form.sweep().fieldsBeside("optimizer").size(), 1);
        QCOMPARE(sheet.form.sweep().fieldsBeside("optimizer")[0].path, QString("optimizer.beta2"));
        // 3 values of a decay, with 3 momenta or 3 betas.
        QCOMPARE(sheet.form.sweep().cells(), 18);
    }

    void aConditionIsInTheSweep() {
        Sheet sheet;
        sheet.vary("optimizer", {"sgd", "adamw"});
        sheet.vary("batch", {"64", "128"});
        sheet.form.sweep().setConditions("batch", whileIt("sgd"));
        QCOMPARE(sheet.codes(), QString());
        QCOMPARE(sheet.json()["vary"]["batch"]["when"]["optimizer"].toArray(), QJsonArray{"sgd"});
        QCOMPARE(sheet.form.sweep().cells(), 3);
        QVERIFY2(sheet.command().contains("--vary 'batch=64,128?optimizer=sgd'"), qPrintable(sheet.command()));
        QCOMPARE(conditionText("Batch", {std::int64_t{64}, std::int64_t{128}}),
                 QString("only when Batch is 64 or 128"));
        sheet.form.history().undo();
        QCOMPARE(sheet.form.sweep().cells(), 4);
        sheet.form.history().redo();
        sheet.form.sweep().setVaried("optimizer", false);  // the trial's own is the one that it asks for
        QCOMPARE(sheet.codes(), QString());
        sheet.form.choose("optimizer", "adamw");
        QCOMPARE(sheet.codes(), QString("batch: search.never"));
    }

    // Others with some values, but not those that would come back to who asks.
    void whatMayBeAskedAbout() {
        Sheet sheet;
        sheet.vary("optimizer", {"sgd", "adamw"});
        sheet.vary("batch", {"64", "128"});
        sheet.varyRange("learning_rate", "0.1", "1", "");
        for (const char* path : {"optimizer.momentum", "optimizer.weight_decay"})
            sheet.form.sweep().setVaried(path, true);
        const auto asked = [&](const char* path) {
            QStringList paths;
            for (const AskedSetting& each : askableBy(sheet.form.sweep(), path)) paths << each.path;
            return paths;
        };
        QCOMPARE(asked("batch"), (QStringList{"optimizer", "optimizer.momentum", "optimizer.weight_decay"}));
        QCOMPARE(asked("optimizer.weight_decay"), (QStringList{"optimizer", "batch", "optimizer.momentum"}));
        QCOMPARE(asked("optimizer.momentum"),
                 (QStringList{"batch", "optimizer.weight_decay"}));  // it has its optimizer
        QCOMPARE(askableBy(sheet.form.sweep(), "optimizer").front().values, (ChoiceOfValues{64, 128}));
        sheet.form.sweep().setConditions("batch", {{"optimizer.momentum", {0.9}}});
        QCOMPARE(asked("optimizer.momentum"), QStringList{"optimizer.weight_decay"});
        sheet.form.sweep().setConditions("optimizer.momentum", {{"batch", {std::int64_t{64}}}});  // of a file
        QCOMPARE(sheet.codes(), QString("batch: search.circle"));
        QCOMPARE(asked("optimizer"), QStringList{"optimizer.weight_decay"});
        const DimensionCondition gone{"batch", {std::int64_t{64}, std::int64_t{32}}};
        QCOMPARE(askedBy(sheet.form.sweep(), "optimizer", gone).values, (ChoiceOfValues{64, 128, 32}));
    }

    // Also those about a setting's own choice, where they are narrower than what follows from it.
    void conditionsComeBack() {
        Sheet sheet;
        sheet.vary("optimizer", {"sgd", "adamw", "lars"});
        for (const char* path : {"optimizer.momentum", "optimizer.weight_decay", "batch"})
            sheet.form.sweep().setVaried(path, true);
        sheet.form.sweep().setConditions("optimizer.weight_decay", whileIt("adamw"));
        sheet.form.sweep().setConditions("batch", whileIt("lars"));
        QCOMPARE(sheet.codes(), QString());
        const auto made = *sheet.form.sweep().made();
        Sheet other;
        other.form.setState(stateOf(made, other.form.catalog()), "a file");
        QVERIFY2(other.form.sweep().made(), qPrintable(other.codes()));
        QCOMPARE(sweepJson(*other.form.sweep().made()), sweepJson(made));
        QVERIFY(other.form.sweep().variation("optimizer.weight_decay").when == whileIt("adamw"));
        QVERIFY(other.form.sweep().variation("optimizer.momentum").when.empty());  // it follows
        other.form.sweep().setConditions("optimizer.momentum", whileIt("lars"));
        QVERIFY(other.dimension("optimizer.momentum")->when == whileIt("lars"));
    }

    void constraintsAreInTheSweep() {
        Sheet sheet;
        sheet.vary("batch", {"64", "128", "256"});
        sheet.vary("epochs", {"1", "2", "3"});
        sheet.constrain({"batch / devices >= 64", " ", "batch * epochs <= 384"});
        QCOMPARE(sheet.codes(), QString());
        QCOMPARE(sheet.json()["constraints"].toArray(), (QJsonArray{"batch / devices >= 64", "batch * epochs <= 384"}));
        const auto& sweep = sheet.form.sweep();
        QCOMPARE(sweep.cells(), 4);
        QCOMPARE(sweep.cellsMeeting(0), QString("met by 6 of 9 cells"));
        QCOMPARE(sweep.cellsMeeting(1), QString());
        QCOMPARE(sweep.cellsMeeting(2), QString("met by 7 of 9 cells"));
        QVERIFY2(sheet.command().contains("--constraint 'batch / devices >= 64' --constraint 'batch * epochs <= 384'"),
                 qPrintable(sheet.command()));
        Sheet other;
        other.form.setState(stateOf(*sweep.made(), other.form.catalog()), "a file");
        QCOMPARE(other.form.sweep().constraints(), (QStringList{"batch / devices >= 64", "batch * epochs <= 384"}));
        QCOMPARE(sweepJson(*other.form.sweep().made()), sweepJson(*sweep.made()));
        sheet.form.sweep().removeConstraint(2);
        QCOMPARE(sweep.cells(), 6);
        sheet.form.history().undo();
        QCOMPARE(sweep.cells(), 4);
        sheet.method("random");
        QCOMPARE(sweep.cellsMeeting(0), QString());
        QCOMPARE(sweep.cells(), 4);  // there are no more
    }

    void whatIsWrongWithAConstraintIsSaidAtIt() {
        Sheet sheet;
        sheet.vary("batch", {"64", "128"});
        const auto codeAt = [&](int index) {
            const auto found = sheet.form.sweep().problemsOfConstraint(index);
            return found.size() == 1 ? QString::fromStdString(found.front().code) : QString();
        };
        sheet.constrain({"batch >= 64", "batch >"});
        QCOMPARE(sheet.codes(), QString("Constraint 2: search.constraint"));
        QVERIFY(codeAt(0).isEmpty());
        QCOMPARE(codeAt(1), QString("search.constraint"));
        sheet.constrain({"bach >= 64", "batch > 64"});
        QCOMPARE(codeAt(0), QString("search.not-a-setting"));
        QVERIFY(codeAt(1).isEmpty());
        sheet.constrain({"batch >= 64", "batch > 128"});
        QCOMPARE(codeAt(1), QString("sweep.no-cells"));
        QCOMPARE(sheet.form.sweep().cellsMeeting(1), QString("met by 0 of 2 cells"));
        QVERIFY(sheet.form.sweep().otherProblems().empty() && !sheet.form.sweep().made());
        sheet.constrain({});
        QCOMPARE(sheet.codes(), QString());
    }

    void whatNoChoiceHasAnyMoreIsNotVaried() {
        Sheet sheet;
        sheet.vary("optimizer", {"sgd", "adamw"});
        sheet.form.sweep().setVaried("optimizer.beta2", true);
        sheet.form.sweep().setVaried("optimizer.momentum", true);
        sheet.vary("optimizer", {"adamw"});  // the trial's own is not tried: another is
        QCOMPARE(sheet.form.value("optimizer").toString(), QString("adamw"));
        QCOMPARE(sheet.form.sweep().paths(), (QStringList{"optimizer", "optimizer.beta2"}));
        sheet.form.history().undo();
        QCOMPARE(sheet.form.value("optimizer").toString(), QString("sgd"));
        QVERIFY(sheet.form.sweep().isVaried("optimizer.momentum"));
        sheet.form.sweep().setVaried("optimizer", false);
        QCOMPARE(sheet.form.sweep().paths(), QStringList{"optimizer.momentum"});
        sheet.form.choose("optimizer", "adamw");
        QVERIFY(!sheet.form.sweep().isSweep());
    }

    void varyingIsUndone() {
        Sheet sheet;
        auto& history = sheet.form.history();
        sheet.form.sweep().setVaried("batch", true);
        QCOMPARE(history.count(), 1);
        for (const char* typed : {"6", "64", "64,", "64, 3"}) {
            auto variation = sheet.form.sweep().variation("batch");
            variation.values = valuesIn(sheet.form.sweep().field("batch"), typed);
            sheet.form.sweep().setVariation("batch", variation, Edit::Typing);
        }
        QCOMPARE(history.count(), 2);
        QCOMPARE(QString::fromStdString(wordsOf(*sheet.dimension("batch"))), QString("batch=64,3"));
        sheet.repeat(3);
        history.undo();
        QCOMPARE(sheet.form.sweep().plan().repeats, 1);
        history.undo();
        QCOMPARE(sheet.form.sweep().variation("batch").values, (QStringList{"64", "128", "256"}));
        history.undo();
        QVERIFY(!sheet.form.sweep().isSweep());
        history.redo();
        QVERIFY(sheet.form.sweep().isVaried("batch"));
    }

    void anotherTrialVariesNothing() {
        Sheet sheet;
        sheet.form.sweep().setVaried("epochs", true);
        sheet.form.setSpec({{"batch", 3}}, "a clone");
        QVERIFY(!sheet.form.sweep().isSweep());
        sheet.form.history().undo();
        QVERIFY(sheet.form.sweep().isVaried("epochs"));
    }

    void aSweepComesBackAsItWas() {
        Sheet sheet;
        sheet.vary("optimizer", {"sgd", "adamw"});
        sheet.vary("optimizer.momentum", {"0.5", "0.9"});
        sheet.varyRange("learning_rate", "0.001", "1", "4");
        sheet.vary("precision", {"fp32", "bf16"});
        sheet.repeat(2);
        const auto made = *sheet.form.sweep().made();
        Sheet other;
        other.form.setState(stateOf(made, other.form.catalog()), "a file");
        QVERIFY2(other.form.sweep().made(), qPrintable(other.codes()));
        QCOMPARE(sweepJson(*other.form.sweep().made()), sweepJson(made));
    }

    void valuesAreReadAsTheyAreTyped() {
        FormField number, text;
        number.kind = FormField::Kind::Number;
        QCOMPARE(valuesIn(number, " 1, 2;3  4,"), (QStringList{"1", "2", "3", "4"}));
        QCOMPARE(valuesIn(text, "cpu:2; cuda:0,1 ;"), (QStringList{"cpu:2", "cuda:0,1"}));
        QCOMPARE(typedValues(text, {"cpu:2", "cuda:0,1"}), QString("cpu:2; cuda:0,1"));
        Variation values;
        values.values = {"1", "3"};
        const auto range = asRange(values, true);
        QCOMPARE(range.from + ' ' + range.to + ' ' + range.spacing, QString("1 3 2"));
        QCOMPARE(asRange(range, false).values, values.values);
    }

    void everyValueIsProbed() {
        Sheet sheet;
        sheet.vary("epochs", {"2", "5"});
        sheet.varyRange("learning_rate", "0.1", "1", "3");
        QStringList probes;
        for (const TrialSpec& each : probesOf(*sheet.form.sweep().made(), *sheet.form.sweep().space()))
            probes << QString("%1 %2").arg(each.epochs).arg(each.learningRate);
        QCOMPARE(probes, (QStringList{"2 0.1", "5 0.1", "5 0.1", "5 1"}));
    }

    void theTimeIsThatOfTrialsLikeIt() {
        Sheet sheet;
        sheet.vary("epochs", {"1", "3"});
        sheet.repeat(2);
        const auto& sweep = *sheet.form.sweep().made();
        const auto secondsWith = [&](const std::vector<TrialRow>& rows, int atOnce) {
            return sweepSeconds(sweep, *sheet.form.sweep().space(), 1000, atOnce, MeasuredSpeeds(rows));
        };
        QVERIFY(!secondsWith({}, 1));
        QVERIFY(!secondsWith({finishedRow("another", 10)}, 1));
        const std::vector<TrialRow> rows{finishedRow("fashion-cnn", 10), finishedRow("another", 1000),
                                         finishedRow("fashion-cnn", 20)};
        QCOMPARE(*secondsWith(rows, 1), 2 * (1 + 3) * 15.0);  // 15 ms a sample
        QCOMPARE(*secondsWith(rows, 2), (1 + 3) * 15.0);
        auto running = finishedRow("fashion-cnn", 10);
        running.state = "running";
        QVERIFY(!secondsWith({running}, 1));
        auto resumed = finishedRow("fashion-cnn", 10);
        resumed.attempts = 2;
        resumed.samplesPerSecond = 1000;
        QCOMPARE(*secondsWith({resumed}, 1), 2 * (1 + 3) * 1.0);
    }

    void aSchedulerTrainsFewerEpochs() {
        Sheet sheet;
        sheet.form.setValue("epochs", 9);
        sheet.vary("batch", {"64", "128", "256"});
        sheet.varyRange("learning_rate", "0.1", "0.9", "9");
        const auto estimate = [&] { return rungEstimate(*sheet.form.sweep().made(), sheet.form.sweep().cells()); };
        const auto seconds = [&] {
            const MeasuredSpeeds speeds({finishedRow("fashion-cnn", 10)});
            return *sweepSeconds(*sheet.form.sweep().made(), *sheet.form.sweep().space(), 1000, 1, speeds);
        };
        QVERIFY(!estimate());
        const double whole = seconds();
        sheet.schedule("asha");
        QCOMPARE(sheet.codes(), QString());
        QCOMPARE(estimate()->epochs, 63);
        QCOMPARE(rungShareText(*estimate(), 1),
                 QString("About 63 of 243 epochs, or a few more, as no cell waits for the others."));
        QVERIFY(rungShareText(*estimate(), 2).contains("of each seed"));
        QCOMPARE(rungPlanSpoken(estimate()->plan),
                 QString("Rung 1: epochs 1, cells 27; Rung 2: epochs 3, cells 9; Rung 3: epochs 9, cells 3"));
        QCOMPARE(rungPlanTable(estimate()->plan).count("<tr>"), 4);
        QVERIFY(std::abs(seconds() - whole * 63 / 243) < 1e-9);
    }

    void aSchedulerIsKept() {
        Sheet sheet;
        sheet.vary("batch", {"64", "128"});
        sheet.schedule("asha-stopping", 2);
        QCOMPARE(sheet.codes(), QString());
        const auto& made = *sheet.form.sweep().made();
        const auto command = sheet.command();
        QVERIFY2(command.endsWith("--scheduler asha-stopping --first-rung 2"), qPrintable(command));
        const auto read = stateOf(sweepFromJson(sweepJson(made), "").value(), sheet.form.catalog());
        QCOMPARE(read.sweep.plan.scheduler, std::string("asha-stopping"));
        QCOMPARE(read.sweep.plan.firstRung, 2);
    }

    void whatIsWrongWithRungsIsSaidAtItsField() {
        Sheet sheet;
        sheet.vary("batch", {"64", "128"});
        sheet.schedule("asha", 5);  // as many as it has epochs
        QCOMPARE(sheet.codes(), QString("first_rung: rungs.first"));
        QCOMPARE(sheet.form.sweep().otherProblems().size(), 1u);
        sheet.schedule("asha", 1);
        sheet.vary("epochs", {"3", "9"});
        QCOMPARE(sheet.codes(), QString("epochs: search.scheduled-epochs"));
        QCOMPARE(sheet.form.problemsAt("epochs").size(), 1u);
        QVERIFY(sheet.form.sweep().otherProblems().empty());
        sheet.schedule("");
        QCOMPARE(sheet.codes(), QString());
    }

    void theEngineKnowsWhatIsOffered() {
        Sheet sheet;
        sheet.vary("batch", {"64", "128"});
        for (const SweepChoice& each : sweepMethods()) {
            sheet.method(qPrintable(each.id));
            QVERIFY2(sheet.codes().isEmpty(), qPrintable(each.id));
            QVERIFY(each.help.startsWith(each.name + ":"));
        }
        for (const SweepChoice& each : sweepSchedulers()) {
            sheet.schedule(qPrintable(each.id));
            QVERIFY2(sheet.codes().isEmpty(), qPrintable(each.id));
        }
        QVERIFY(choiceHelp(sweepMethods())
                    .contains("Default: grid\nOne of: grid, random, sobol, auto, tpe, tpe-univariate, gp"));
        QVERIFY(choiceHelp(sweepSchedulers()).endsWith("Default: none\nOne of: none, asha, asha-stopping"));
    }

    void timesAreRough_data() {
        QTest::addColumn<double>("seconds");
        QTest::addColumn<QString>("words");
        QTest::newRow("seconds") << 3.0 << "a few seconds";
        QTest::newRow("more") << 42.0 << "about 40 s";
        QTest::newRow("minutes") << 2400.0 << "about 40 min";
        QTest::newRow("hour") << 3590.0 << "about 1 h";
        QTest::newRow("hours") << 7900.0 << "about 2 h 10 min";
        QTest::newRow("long") << 72'000.0 << "about 20 h";
        QTest::newRow("days") << 260'000.0 << "about 3 days";
    }
    void timesAreRough() {
        QFETCH(double, seconds);
        QTEST(roughDuration(seconds), "words");
    }

    void numbersHaveNeighbours_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("number");
        QTest::addColumn<QString>("less");
        QTest::addColumn<QString>("more");
        constexpr const char* kRows[][4] = {
            {"epochs", "5", "4", "6"},
            {"epochs", "1", "", "2"},
            {"epochs", "many", "", ""},
            {"validation_share", "0", "", "0.05"},
            {"validation_share", "0.15", "0.1", "0.2"},
            {"validation_share", "0.12", "0.1", "0.15"},
            {"validation_share", "0.9", "0.85", ""},
            {"learning_rate", "0.1", "0.05", "0.2"},
            {"learning_rate", "0.03", "0.02", "0.05"},
            {"learning_rate", "5", "2", "10"},
            {"learning_rate", "0", "", "0.0001"},
            {"learning_rate", "0.0001", "0", "0.0002"},
            {"learning_rate", "1000", "500", ""},
        };
        for (const auto& [path, number, less, more] : kRows)
            QTest::addRow("%s %s", path, number) << path << number << less << more;
    }
    void numbersHaveNeighbours() {
        QFETCH(QString, path);
        QFETCH(QString, number);
        const Sheet sheet;
        const auto* field = sheet.form.trialField(path);
        QVERIFY(field);
        QTEST(steppedNumber(*field, number, -1), "less");
        QTEST(steppedNumber(*field, number, 1), "more");
    }

    void whatChoosesIsSaid() {
        QVERIFY(choosingText(0.125, {}).startsWith("12.5 % of the training samples are held out"));
        QVERIFY(choosingText(0, 100).startsWith("The data's own validation samples choose"));
        QVERIFY(choosingText(0, 0).contains("too good"));
        QVERIFY(choosingText(0, {}).contains("unless the data have validation samples"));
    }

    void theCommandMeansTheSameSweep() {
        Sheet sheet;
        sheet.vary("batch", {"64", "128"});
        sheet.varyRange("learning_rate", "0.01", "1", "3");
        sheet.repeat(3);
        QCOMPARE(sheet.command(),
                 QString("lockstep sweep --dataset fashion-mnist --model fashion-cnn --vary batch=64,128 "
                         "--vary learning_rate=0.01..1/3 --method grid --repeats 3"));
        sheet.vary("devices", {"cpu:2", "cuda:0,1"});  // whose comma is not one of those between
        QVERIFY2(sheet.command().contains("--vary 'devices=cpu:2,\"cuda:0,1\"'"), qPrintable(sheet.command()));
    }
};

QTEST_APPLESS_MAIN(TestSweepForm)
#include "tst_sweep_form.moc"
