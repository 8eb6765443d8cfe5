#include <QtTest>

#include "tests/ui/compare/compare_facts.h"
#include "ui/compare/compare_answers.h"

using namespace lockstep;
using namespace lockstep::ui;
using namespace lockstep::test;

class TestCompareTable : public QObject {
    Q_OBJECT
private slots:
    void theAxesOfASweepAreItsDimensionsThenMetrics() {
        const CompareTable table = compareTable(madeFacts());
        QStringList keys;
        for (const CompareAxis& axis : table.axes) keys << QString::fromStdString(axis.key);
        QCOMPARE(keys.mid(0, 3), QStringList({"learning_rate", "optimizer", "optimizer.momentum"}));
        QVERIFY(keys.contains("metric.validation_accuracy"));
        QVERIFY(table.axes[0].isLog);
        QVERIFY(!table.axes[2].isLog);
        QCOMPARE(table.axes[1].choices, QStringList({"sgd", "adamw"}));
        QCOMPARE(table.axes[*table.objective].key, std::string("metric.validation_accuracy"));
    }

    void whatHasNoValueSaysWhy() {
        const CompareTable table = compareTable(madeFacts());
        const CompareAxis& momentum = table.axes[2];
        const CompareAxis& objective = table.axes[*table.objective];
        QCOMPARE(momentum.cell(2), QString("not set"));
        QCOMPARE(objective.cell(2), QString("diverged"));
        QCOMPARE(objective.cell(4), QString("failed"));
        QCOMPARE(objective.cell(6), QString("93.00 %"));
        QVERIFY(table.trials[5].isCutShort);
        CompareFacts facts = madeFacts();
        facts.rows[0].state = "running", facts.rows[0].validationAccuracy = {};
        const CompareTable growing = compareTable(facts);
        QCOMPARE(growing.axes[*growing.objective].absences[0], Absence::NotYet);
        QCOMPARE(growing.axes[*growing.objective].cell(0), QString("not yet"));
    }

    void theBestComesFirstBehindItThoseCutShortAndFailedOnesLast() {
        const CompareTable table = compareTable(madeFacts());
        const auto ranking = table.ranking();
        QCOMPARE(table.trials[ranking.front()].trial, 7);
        QCOMPARE(table.trials[ranking[ranking.size() - 3]].trial, 6);
        QVERIFY(table.trials[ranking.back()].hasFailed() && table.trials[ranking[ranking.size() - 2]].hasFailed());
    }

    void brushesOfSeveralAxesMustAllHoldAndPartsOfOneAny() {
        const CompareTable table = compareTable(madeFacts());
        const auto count = [&](const Brushes& brushes) { return std::ranges::count(table.passing(brushes), true); };
        const AxisBrush low{.ranges = {{0.001, 0.004}}}, ends{.ranges = {{0.001, 0.001}, {0.081, 0.081}}};
        QCOMPARE(count({}), 9);
        QCOMPARE(count({{"learning_rate", low}}), 2);
        QCOMPARE(count({{"learning_rate", ends}}), 2);
        QCOMPARE(count({{"optimizer", {.choices = {"adamw"}}}}), 3);
        QCOMPARE(count({{"optimizer", {.choices = {"adamw"}}}, {"learning_rate", ends}}), 1);
        QCOMPARE(count({{"optimizer.momentum", {.without = {Absence::NotSet}}}}), 3);
        QCOMPARE(count({{"metric.validation_accuracy", {.without = {Absence::Failed, Absence::Diverged}}}}), 2);
        QCOMPARE(count({{"of another sweep", low}}), 9);
    }

    // What nobody searched: a setting is one axis where any of these trials has it, and text among numbers makes text
    // of all.
    void settingsOfDifferentTypesUnderOnePathAreWords() {
        CompareFacts facts;
        facts.rows = {madeRow(1, 0.5), madeRow(2, 0.6), madeRow(3, 0.7)};
        facts.settings["model.width"] = {{1, std::int64_t(64)}, {2, std::string("wide")}};
        facts.settings["batch"] = {{1, std::int64_t(32)}, {2, std::int64_t(64)}, {3, std::int64_t(8192)}};
        const CompareTable table = compareTable(facts);
        const CompareAxis& width = table.axes[*table.axisOf("model.width")];
        QCOMPARE(width.choices, QStringList({"64", "wide"}));
        QCOMPARE(width.cell(2), QString("not set"));
        QVERIFY(table.axes[*table.axisOf("batch")].isLog);  // over two decades
    }

    void trialsThatDifferInTheirSeedAloneAreOneGroup() {
        CompareFacts facts;
        facts.rows = {madeRow(1, 0.5), madeRow(2, 0.6), madeRow(3, 0.7)};
        facts.settings["batch"] = {{1, std::int64_t(32)}, {2, std::int64_t(32)}, {3, std::int64_t(64)}};
        facts.settings["seed"] = {{1, std::int64_t(1)}, {2, std::int64_t(2)}, {3, std::int64_t(1)}};
        const CompareTable table = compareTable(facts);
        QCOMPARE(table.trials[0].group, table.trials[1].group);
        QVERIFY(table.trials[2].group != table.trials[0].group);
        QVERIFY(!table.axisOf("seed"));
    }

    void modelsOfDifferentTasksSayWhatTheyShare() {
        CompareFacts facts;
        facts.rows = {madeRow(1, 0.5), madeRow(2, {})};
        facts.rows[1].lowestTestLoss = facts.rows[1].testLoss = 1.5;
        const CompareTable table = compareTable(facts);
        QVERIFY2(table.shared.contains("1 of 2"), qPrintable(table.shared));
    }

    void nothingIsComparedCalmly() {
        const CompareTable none = compareTable({});
        QVERIFY(none.axes.empty());
        QVERIFY(!none.objective);
        CompareFacts one;
        one.rows = {madeRow(1, {}, "queued")};
        QVERIFY(!compareTable(one).objective);
        QCOMPARE(answersOf(*sceneOf(one)).front().value, QString("1"));
    }

    // While no cell of a sweep is trained to its end; and what pauses at a rung was stopped by nobody.
    void answersSpeakOfTheBestAtARung() {
        CompareFacts facts = madeFacts();
        SweepResult& sweep = *facts.sweep;
        sweep.spec.scheduler = "asha";
        sweep.spec.trial.epochs = 9;
        sweep.cells = {{.number = 5, .settings = {{"learning_rate", 0.036}}, .trials = {6}, .paused = 1}};
        sweep.climbers = {{.cell = 5, .losses = {-0.7, -0.75}, .arrivals = {0, 1}, .goal = 1}};
        sweep.bestAtRung = 0, sweep.paused = 1;
        const auto answers = answersOf(*sceneOf(facts));
        QVERIFY2(answers[0].tip.contains("1 paused at a rung") && !answers[0].tip.contains("stopped"),
                 qPrintable(answers[0].tip));
        QCOMPARE(answers[1].name, QString("Best at rung 2"));
        QCOMPARE(answers[1].value, QString("75.00 % at epoch 3"));
        QCOMPARE(answers[1].tip, QString("learning_rate=0.036\nNo cell is trained to its end yet"));
        QCOMPARE(answers[1].trial, 6);
    }

    void answersSpeakOfTheBestTrial() {
        CompareFacts facts = madeFacts();
        facts.sweep.reset();
        const auto answers = answersOf(*sceneOf(facts));
        QCOMPARE(answers[0].value, QString("9"));
        QCOMPARE(answers[1].trial, 7);
        QCOMPARE(answers[2].value, QString("75 of 81"));
    }
};

QTEST_APPLESS_MAIN(TestCompareTable)
#include "tst_compare_table.moc"
