#include <QtTest>

#include "engine/search/chosen_method.h"
#include "engine/search/sweep_spec.h"

using namespace lockstep;

namespace {

std::string problemsOf(const auto& result) {
    std::string all;
    if (result.ok()) return all;
    for (const Problem& each : result.problems()) all += (all.empty() ? "" : "; ") + each.field + ": " + each.code;
    return all;
}

std::string readProblems(const std::string& json) { return problemsOf(sweepFromJson(json, "s.json")); }

SweepSpec sweepOf(std::initializer_list<const char*> words) {
    SweepSpec sweep;
    for (const char* each : words) sweep.vary.push_back(dimensionFrom(each).value());
    adoptKinds(sweep, ownField);
    return sweep;
}

}  // namespace

class TestSweepSpec : public QObject {
    Q_OBJECT
private slots:
    void itReadsWhatItWrites() {
        SweepSpec sweep = sweepOf({"batch=64,128", "learning_rate=log:1e-3..1", "optimizer=sgd,adamw",
                                   "optimizer.momentum=0.8..0.99:0.01?optimizer=sgd", "epochs=1..9/3"});
        sweep.title = "first \"try\"";
        sweep.trial.model.id = "lenet5";
        sweep.trial.seed = ~0ull;
        sweep.constraints.push_back(Constraint::parse("batch >= 2 * devices", "c").value());
        sweep.method = "sobol";
        sweep.objective = "test_loss";
        sweep.seed = ~0ull;
        sweep.repeats = 3;
        const auto again = sweepFromJson(sweepJson(sweep), "s.json");
        QVERIFY2(again.ok(), problemsOf(again).c_str());
        SweepSpec read = again.value();
        std::ranges::sort(sweep.vary, {}, &Dimension::path);  // as keys of an object are read
        std::ranges::sort(read.vary, {}, &Dimension::path);
        QVERIFY(read == sweep);
        QCOMPARE(sweepJson(read), sweepJson(sweep));
        QVERIFY2(spaceOf(read).ok(), problemsOf(spaceOf(read)).c_str());
    }

    void everyMethodIsTaken() {
        SweepSpec sweep = sweepOf({"batch=64,128", "epochs=1,2"});
        for (const std::string& each : searchMethods()) {
            sweep.method = each;
            QVERIFY2(spaceOf(sweepFromJson(sweepJson(sweep), "s.json").value()).ok(), each.c_str());
        }
        sweep.method = "bayes";
        QCOMPARE(problemsOf(spaceOf(sweep)), std::string("method: spec.not-a-choice"));
    }

    // Names are those of the function, and what is not varied is nothing.
    void aFunctionsSpaceAsksForNoSettings() {
        SweepSpec sweep;
        sweep.vary = {{"x1", NumberRange{0, 1}}, {"x2", NumberRange{0, 1}, {{"kind", {std::string("a")}}}}};
        QCOMPARE(problemsOf(functionSpaceOf(sweep)), std::string("x2: search.never"));
        sweep.vary.push_back({"kind", ChoiceOfValues{std::string("a"), std::string("b")}});
        sweep.constraints.push_back(Constraint::parse("x1 + x2 <= 1", "c").value());
        QVERIFY(functionSpaceOf(sweep).ok());
        sweep.constraints.push_back(Constraint::parse("x1 <= batch", "c").value());
        QCOMPARE(problemsOf(functionSpaceOf(sweep)), std::string("x1 <= batch: search.not-a-setting"));
    }

    void shortFormsAreTaken() {
        const auto sweep = sweepFromJson(
            R"({"trial": {"batch": 32}, "vary": {"epochs": [1, 2], "optimizer.momentum":
                {"from": 0, "to": 1, "when": {"optimizer": "sgd"}}}, "trials": 7})",
            "s.json");
        QVERIFY2(sweep.ok(), problemsOf(sweep).c_str());
        QCOMPARE(sweep.value().trial.batch, 32);
        QCOMPARE(sweep.value().trials, 7);
        QCOMPARE(sweep.value().vary[1].when[0].values.size(), 1u);
    }

    void whatIsWrongIsNamedWithItsPath_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("problems");
        const auto row = [](const char* json, const char* problems) {
            QTest::newRow(json) << QByteArray(json) << QByteArray(problems);
        };
        row("{", "s.json: spec.malformed");
        row("[]", "s.json: : spec.wrong-type");
        row(R"({"version": 2, "news": 1})", "s.json: version: sweep.newer-version");
        row(R"({"trails": 3})", "s.json: trails: spec.unknown-key");
        row(R"({"trials": 1.5})", "s.json: trials: spec.wrong-type");
        row(R"({"trials": 18446744073709551615})", "s.json: trials: spec.out-of-range");
        row(R"({"vary": {"batch": 3}})", "s.json: vary.batch: spec.wrong-type");
        row(R"({"vary": {"batch": {"from": 3}}})", "s.json: vary.batch: spec.wrong-type");
        row(R"({"vary": {"batch": {"from": 3, "to": "many"}}})", "s.json: vary.batch.to: spec.wrong-type");
        row(R"({"vary": {"batch": {"from": 3, "to": 4, "scale": "wide"}}})",
            "s.json: vary.batch.scale: spec.wrong-type");
        row(R"({"vary": {"batch": {"from": 3, "to": 4, "stepp": 1}}})", "s.json: vary.batch.stepp: spec.unknown-key");
        row(R"({"vary": {"batch": {"values": [1], "when": {"optimizer": []}}}})",
            "s.json: vary.batch.when.optimizer: spec.wrong-type");
        row(R"({"vary": {"batch": [[]]}})", "s.json: vary.batch: spec.wrong-type");
        row(R"({"vary": {"batch": [1], "batch": [2]}})", "s.json: vary.batch: spec.duplicate-key");
        row(R"({"constraints": ["batch >"]})", "s.json: constraints[0]: search.constraint");
        row(R"({"trial": {"batsch": 3}})", "s.json: trial: batsch: spec.unknown-key");
        row(R"({"seed": -1})", "s.json: seed: spec.wrong-type");
    }
    void whatIsWrongIsNamedWithItsPath() {
        QFETCH(QByteArray, json);
        QTEST(QByteArray::fromStdString(readProblems(json.toStdString())), "problems");
    }

    // So that what else is wrong is said in the same breath.
    void whatCanBeReadIsReadAllTheSame() {
        std::vector<Problem> problems;
        const auto sweep =
            readSweep("{\"trials\": 1.5, \"method\": \"grid\", \"vary\": {\"batch\": 3, \"epochs\": [1, 2]}}", "s.json",
                      problems);
        QVERIFY(sweep);
        QCOMPARE(problems.size(), 2u);
        QCOMPARE(sweep->method, "grid");
        QCOMPARE(sweep->vary.size(), 1u);
        QCOMPARE(sweep->vary[0].path, "epochs");
        for (const char* hopeless : {"{", "[]", "{\"version\": 9}", "{\"trial\": {\"batsch\": 3}, \"trials\": 4}"}) {
            problems.clear();
            QVERIFY2(!readSweep(hopeless, "s.json", problems) && problems.size() == 1, hopeless);
        }
    }

    void cellsAreJudgedByTheSameSamples() {
        SweepSpec sweep = sweepOf({"validation_share=0.1,0.2"});
        QCOMPARE(problemsOf(spaceOf(sweep)), "validation_share: search.other-samples");
        sweep.objective = "validation_accuracy";
        QCOMPARE(problemsOf(spaceOf(sweep)), "validation_share: search.other-samples");
        sweep.objective = "test_accuracy";
        QVERIFY(spaceOf(sweep).ok());
        sweep = sweepOf({"validation_seed=1,2"});
        QVERIFY(spaceOf(sweep).ok());  // it means nothing: nothing is held out
        sweep.trial.validationShare = 0.1;
        QCOMPARE(problemsOf(spaceOf(sweep)), "validation_seed: search.other-samples");
    }

    void whatNoSweepCanDoIsRefused() {
        SweepSpec sweep = sweepOf({"batch=64,128"});
        sweep.method = "guess";
        sweep.repeats = 0;
        sweep.objective = "colour";
        QCOMPARE(problemsOf(spaceOf(sweep)),
                 "repeats: spec.out-of-range; method: spec.not-a-choice; objective: search.objective");
        sweep = sweepOf({"seed=1..3"});
        sweep.repeats = 2;
        QCOMPARE(problemsOf(spaceOf(sweep)), "repeats: search.repeats-of-seeds");
        sweep = sweepOf({"learning_rate=0.1..1"});
        sweep.method = "grid";
        QCOMPARE(problemsOf(spaceOf(sweep)), "learning_rate: search.endless");
        sweep.method = "random";
        sweep.trials = 0;
        QCOMPARE(problemsOf(spaceOf(sweep)), "trials: spec.out-of-range");
    }

    void rungsFollowFromTheSpec() {
        SweepSpec sweep = sweepOf({"batch=64,128"});
        sweep.trial.epochs = 9;
        QVERIFY(!rungsOf(sweep));
        sweep.scheduler = "asha-stopping";
        sweep.firstRung = 2;
        sweep.reduction = 4;
        QVERIFY(spaceOf(sweep).ok());
        QCOMPARE(rungsOf(sweep)->epochs, (std::vector<std::int64_t>{2, 9}));
        QVERIFY(rungsOf(sweep)->stops);
        QVERIFY(sweepFromJson(sweepJson(sweep), "s.json").value() == sweep);
        sweep.firstRung = 9;
        QCOMPARE(problemsOf(spaceOf(sweep)), "first_rung: rungs.first");
        sweep.firstRung = 1;
        sweep.reduction = 1;
        QCOMPARE(problemsOf(spaceOf(sweep)), "reduction: spec.out-of-range");
        sweep = sweepOf({"epochs=2..9"});
        sweep.firstRung = sweep.trial.epochs;
        sweep.scheduler = "asya";
        QCOMPARE(problemsOf(spaceOf(sweep)),
                 "scheduler: spec.not-a-choice; epochs: search.scheduled-epochs; first_rung: rungs.first");
    }

    void kindsAreThoseOfTheSettings() {
        const SweepSpec sweep = sweepOf({"batch=16..64", "learning_rate=0..1", "label_smoothing=0,1", "seed=1..9"});
        QVERIFY(*std::get<NumberRange>(sweep.vary[0].values).isWhole);
        QVERIFY(!*std::get<NumberRange>(sweep.vary[1].values).isWhole);
        QVERIFY(std::holds_alternative<double>(std::get<ChoiceOfValues>(sweep.vary[2].values)[1]));
        QVERIFY(*std::get<NumberRange>(sweep.vary[3].values).isWhole);
    }

    void wordsAreReadBack_data() {
        QTest::addColumn<QString>("words");
        for (const char* words :
             {"batch=64,128", "learning_rate=log:0.001..1", "optimizer.momentum=0.8..0.99:0.01", "epochs=1..9/3",
              "optimizer.beta2=0.9..0.999?optimizer=adamw,lamb?batch=64", "precision=bf16,fp32", "learning_rate=-1..1"})
            QTest::newRow(words) << words;
    }
    void wordsAreReadBack() {
        QFETCH(QString, words);
        QCOMPARE(QString::fromStdString(wordsOf(dimensionFrom(words.toStdString()).value())), words);
    }

    void whatIsNotUnderstoodIsSaid() {
        for (const char* words : {"", "batch", "=3", "batch=", "batch=1..", "batch=a..b", "batch=1..2:0",
                                  "batch=1..2/1.5", "batch=log:3", "batch=1,2?optimizer", "batch=1..2:"})
            QVERIFY2(!dimensionFrom(words).ok(), words);
    }
};

QTEST_GUILESS_MAIN(TestSweepSpec)
#include "tst_sweep_spec.moc"
