#include <QSignalSpy>
#include <QtTest>

#include "tests/ui/compare/compare_desktop.h"
#include "tests/ui/compare/compare_facts.h"
#include "ui/compare/next_sweep.h"
#include "ui/compare/trial_diff.h"

using namespace lockstep;
using namespace lockstep::ui;
using namespace lockstep::test;

namespace {

const Dimension* dimensionAt(const SweepSpec& sweep, const std::string& path) {
    const auto found = std::ranges::find(sweep.vary, path, &Dimension::path);
    return found == sweep.vary.end() ? nullptr : &*found;
}

QAction& actionOf(const ComparePage& page, const QString& id) {
    for (QAction* each : page.commands())
        if (each->objectName() == id) return *each;
    qFatal("no action %s", qPrintable(id));
}

}  // namespace

class TestCompareDoing : public QObject {
    Q_OBJECT
private slots:
    void brushesNarrowTheNextSweep() {
        const CompareFacts facts = madeFacts();
        const Brushes brushes{{"learning_rate", {.ranges = {{0.004, 0.009}, {0.036, 0.049}}}},
                              {"optimizer", {.choices = {"sgd"}}}};
        const auto sweep = brushedSweep(*sceneOf(facts, brushes), brushes, {});
        QVERIFY(sweep);
        const auto& rate = std::get<NumberRange>(dimensionAt(*sweep, "learning_rate")->values);
        QCOMPARE(rate.low, 0.004);
        QCOMPARE(rate.high, 0.049);
        QVERIFY(rate.isLog);
        QVERIFY(!dimensionAt(*sweep, "optimizer"));  // one choice is left: no longer varied
        QCOMPARE(sweep->trial.optimizer.id, std::string("sgd"));
        QVERIFY(dimensionAt(*sweep, "optimizer.momentum"));
    }

    void trialsOfNoSweepBecomeOne() {
        CompareFacts facts;
        facts.rows = {madeRow(1, 0.5), madeRow(2, 0.6), madeRow(3, 0.7)};
        facts.settings["batch"] = {{1, std::int64_t(32)}, {2, std::int64_t(64)}, {3, std::int64_t(128)}};
        TrialSpec base;
        base.batch = 128;
        const Brushes brushes{{"batch", {.ranges = {{64, 128}}}}};
        const auto sweep = brushedSweep(*sceneOf(facts, brushes), brushes, base);
        QVERIFY(sweep);
        const auto& batch = std::get<NumberRange>(dimensionAt(*sweep, "batch")->values);
        QCOMPARE(batch.low, 64.0);
        QVERIFY(batch.isWhole.value_or(false));
        const Brushes one{{"batch", {.ranges = {{64, 64}}}}};
        QVERIFY(!brushedSweep(*sceneOf(facts, one), one, base));
    }

    void moreSeedsAreNewOnes() {
        CompareFacts facts;
        facts.rows = {madeRow(1, 0.5), madeRow(2, 0.6), madeRow(3, 0.7)};
        facts.settings["batch"] = {{1, std::int64_t(32)}, {2, std::int64_t(32)}, {3, std::int64_t(64)}};
        TrialSpec best;
        best.seed = 7;
        const SweepSpec sweep = moreSeeds(*sceneOf(facts), 0, best, 5);
        QCOMPARE(sweep.repeats, 5);                    // of one cell
        QCOMPARE(sweep.trial.seed, std::uint64_t(9));  // 7 and 8 are those of its group
        QCOMPARE(moreSeeds(*sceneOf(facts), 1, best, 5).trial.seed, std::uint64_t(8));  // 6 and 7 are
        QVERIFY(spaceOf(sweep).ok());
    }

    void equalRowsAreKnownAndTheBetterIsExplained() {
        const CompareFacts facts = madeFacts();
        auto scene = std::make_shared<CompareScene>(*sceneOf(facts));
        scene->importance.assign(scene->table->axes.size(), 0.0);
        scene->importance[0] = 0.6;
        TrialFacts first{.trial = 1}, seventh{.trial = 7};
        first.spec.learningRate = 0.001, seventh.spec.learningRate = 0.049;
        first.spec.batch = 64;
        first.spec.precision = seventh.spec.precision = "auto";
        first.started.emplace().precision = "fp32", seventh.started.emplace().precision = "bf16";
        const auto rows = diffOf(*scene, {first, seventh});
        const auto equal = [&](const QString& key) { return std::ranges::find(rows, key, &DiffRow::key)->isEqual; };
        QVERIFY(!equal("learning_rate"));
        QVERIFY(equal("epochs") && equal("precision") && !equal("precisionInUse"));
        const QString why = whyBetter(*scene, {first, seventh});
        QVERIFY2(why.startsWith("#7 is better than #1"), qPrintable(why));
        QVERIFY2(why.indexOf("Learning rate") < why.indexOf("Batch"), qPrintable(why));
        QVERIFY2(why.contains("60 %"), qPrintable(why));
        QCOMPARE(whyBetter(*scene, {first}), QString());
        TrialFacts second{.trial = 2};
        second.spec = first.spec;
        second.spec.seed = 99;
        QVERIFY(whyBetter(*scene, {first, second}).contains("chance"));
    }

    void theRestIsPutAwayAndTakenBack() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        desktop.selection->brush("metric.test_accuracy", {.ranges = {{0.7, 1}}});
        actionOf(*desktop.page, "compare.archive-rest").trigger();
        const auto archived = [&] {
            const auto query = std::move(TrialQuery::open(desktop.places.history())).value();
            return std::ranges::count_if(query->list({}), [](const TrialRow& row) { return row.archived; });
        };
        QTRY_COMPARE(archived(), 6);
        desktop.page->undoStack()->undo();
        QTRY_COMPARE(archived(), 0);
    }

    void theFormGetsASweepOrASpec() {
        CompareDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 10);
        QSignalSpy sweeps(desktop.page.get(), &ComparePage::sweepRequested);
        QSignalSpy clones(desktop.page.get(), &ComparePage::cloneRequested);
        actionOf(*desktop.page, "compare.more-seeds").trigger();
        QTRY_COMPARE(sweeps.count(), 1);
        QVERIFY(sweepFromJson(sweeps[0][0].toString().toStdString(), "").ok());
        actionOf(*desktop.page, "compare.sweep-brushed").trigger();
        QTRY_COMPARE(sweeps.count(), 2);
        actionOf(*desktop.page, "compare.clone").trigger();
        QTRY_COMPARE(clones.count(), 1);
    }
};

QTEST_MAIN(TestCompareDoing)
#include "tst_compare_doing.moc"
