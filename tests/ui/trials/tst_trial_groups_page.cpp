#include <QApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QtTest>
#include <algorithm>

#include "engine/history/queue_store.h"
#include "engine/queue/sweep_progress.h"
#include "tests/history/history_support.h"
#include "tests/ui/trials/trials_desktop.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::Desktop;

namespace {

// A sweep of two rates with two seeds each, whose trials have finished; then a trial of none, the newest.
struct SweptDesktop : Desktop {
    explicit SweptDesktop(GroupState state = GroupState::Active) {
        SweepSpec sweep;
        sweep.title = "rates";
        sweep.method = "grid";
        sweep.trials = 0;
        sweep.repeats = 2;
        sweep.objective = "test_accuracy";
        sweep.vary = {{.path = "learning_rate", .values = ChoiceOfValues{0.1, 0.01}}};
        QueueStore queue(*store);
        TrialGroup made;
        made.title = sweep.title, made.specJson = sweepJson(sweep);
        group = queue.createGroup(made);
        const std::vector<Cell> cells{{{"learning_rate", 0.1}}, {{"learning_rate", 0.01}}};
        for (std::int64_t cell = 0; cell < 2; ++cell) {
            const Cell& settings = cells[static_cast<std::size_t>(cell)];
            queue.addCell(group, {cell, cellText(settings)});
            for (std::int64_t repeat = 0; repeat < 2; ++repeat)
                queue.createTrial(trialAt(sweep, settings, repeat), places.runs(), {}, GroupPlace{group, cell, repeat});
        }
        finish(1, 0.90), finish(2, 0.92), finish(3, 0.5), finish(4, 0.6);
        if (state != GroupState::Active) queue.setGroupState(group, state);
        store->createTrial({}, places.runs());
    }
    void finish(std::int64_t trial, double accuracy) {
        QueueStore(*store).remove(trial);
        store->setState(trial, RunState::Finished);
        test::ask(places.history(), "UPDATE trial SET best_accuracy = " + std::to_string(accuracy) +
                                        " WHERE id = " + std::to_string(trial));
    }
    void groupBySweep() {
        QTRY_VERIFY(action("Group by sweep").isEnabled());
        action("Group by sweep").trigger();
    }
    QString line(int row = 1) const { return cell(row, kTitleColumn); }

    std::unique_ptr<TrialStore> store = test::openStore(places.history());
    std::int64_t group = 0;
};

QList<int> chosenRows(const Desktop& desktop) {
    QList<int> rows;
    for (const QModelIndex& each : desktop.table().selectionModel()->selectedRows()) rows << each.row();
    std::sort(rows.begin(), rows.end());
    return rows;
}

}  // namespace

class TestTrialGroupsPage : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    void aSweepTellsWhatHasComeOfIt() {
        SweptDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
        desktop.groupBySweep();
        QCOMPARE(desktop.rows(), 6);
        QVERIFY(desktop.says("5 trials"));
        QTRY_COMPARE(desktop.line(),
                     QString("Sweep 1: rates — 4 of 4 finished, best 91.00 % ± 1.41 (n 2): learning_rate=0.1"));
        desktop.finish(1, 0.94);
        QTRY_VERIFY_WITH_TIMEOUT(desktop.line().contains("best 93.00 % ± 1.41 (n 2)"), 10'000);
        QueueStore(*desktop.store).setGroupState(desktop.group, GroupState::Paused);
        QTRY_VERIFY(desktop.line().startsWith("Sweep 1: rates — paused"));
    }

    void cellsComeWithTheFirstSweep() {
        Desktop bare({3, 0, 1});
        bare.open();
        QTRY_VERIFY(bare.rows() > 0);
        QTest::qWait(50);
        QVERIFY(bare.table().isColumnHidden(kCellColumn));
        QVERIFY(!bare.action("Group by sweep").isEnabled());
        SweptDesktop desktop;
        desktop.open();
        QTRY_VERIFY(!desktop.table().isColumnHidden(kCellColumn));
        QTRY_COMPARE(desktop.rows(), 5);
        QCOMPARE(desktop.cell(1, kCellColumn), QString("learning_rate=0.01"));
        desktop.table().setColumnHidden(kCellColumn, true);  // by the person, for good
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
        QTest::qWait(50);
        QVERIFY(desktop.table().isColumnHidden(kCellColumn));
    }

    // As the page of the queue asks for it: also before the page was shown, and of a sweep that is folded at first.
    void aSweepIsShownAlone() {
        SweptDesktop desktop(GroupState::Finished);
        desktop.open();
        desktop.page->showSweep(desktop.group);
        QTRY_COMPARE(desktop.rows(), 5);  // its line and its four trials
        QTRY_VERIFY(desktop.line(0).startsWith("Sweep 1: rates — 4 of 4 finished"));
        QVERIFY(desktop.action("Group by sweep").isChecked());
        desktop.page->showSweep(desktop.group);
        QCOMPARE(desktop.rows(), 5);
    }

    void whatHasEndedIsFoldedAndUnfolds() {
        SweptDesktop desktop(GroupState::Finished);
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
        desktop.groupBySweep();
        QCOMPARE(desktop.rows(), 2);
        QVERIFY(desktop.says("5 trials"));
        auto& table = desktop.table();
        table.setFocus();
        table.setCurrentIndex(table.model()->index(1, kTitleColumn));
        QVERIFY(chosenRows(desktop).isEmpty());
        QVERIFY(!desktop.action("Open").isEnabled() && !desktop.action("Delete").isEnabled());
        QTest::keyClick(&table, Qt::Key_Right);
        QCOMPARE(desktop.rows(), 6);
        QTest::keyClick(&table, Qt::Key_Right);  // as it is
        QCOMPARE(desktop.rows(), 6);
        QTest::keyClick(&table, Qt::Key_Left);
        QCOMPARE(desktop.rows(), 2);
        QTest::keyClick(&table, Qt::Key_Space);
        QCOMPARE(desktop.rows(), 6);
        QTest::keyClick(&table, Qt::Key_Return);
        QCOMPARE(desktop.rows(), 2);
        const QSignalSpy opened(desktop.page.get(), &TrialsPage::openRequested);
        const QRect row = table.visualRect(table.model()->index(1, kTitleColumn));
        QTest::mouseDClick(table.viewport(), Qt::LeftButton, {}, row.center());
        QCOMPARE(desktop.rows(), 6);
        QCOMPARE(opened.count(), 0);
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, QPoint(8, row.center().y()));
        QCOMPARE(desktop.rows(), 2);
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, QPoint(8, table.rowViewportPosition(0) + 4));
        QCOMPARE(chosenRows(desktop), QList<int>{0});  // a trial has no triangle
    }

    void sweepsAreNeverSelected() {
        SweptDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
        desktop.groupBySweep();
        auto& table = desktop.table();
        table.selectAll();
        QCOMPARE(chosenRows(desktop), (QList<int>{0, 2, 3, 4, 5}));
        QVERIFY(desktop.says("5 trials, 5 selected"));
        QTRY_COMPARE(desktop.settings().model()->columnCount(), 5);
        desktop.action("Star").trigger();
        QCOMPARE(desktop.page->undoStack()->count(), 1);
        table.setFocus();
        desktop.select(0);
        QTest::keyClick(&table, Qt::Key_Down);
        QVERIFY(chosenRows(desktop).isEmpty());
        QTest::keyClick(&table, Qt::Key_Down);
        QCOMPARE(chosenRows(desktop), QList<int>{2});
        QTest::keyClick(&table, Qt::Key_Up, Qt::ShiftModifier);
        QTest::keyClick(&table, Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(chosenRows(desktop), (QList<int>{0, 2}));
        table.clearSelection();
        table.selectNear(1);
        QCOMPARE(chosenRows(desktop), QList<int>{2});
        QTest::mouseMove(table.viewport(), table.visualRect(table.model()->index(1, kTitleColumn)).center());
        QVERIFY(!desktop.selection.hovered());
    }

    void groupingIsRemembered() {
        SweptDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
        desktop.groupBySweep();
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 6);
        QVERIFY(desktop.action("Group by sweep").isChecked());
        desktop.groupBySweep();
        QCOMPARE(desktop.rows(), 5);
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
    }

    void aTrialThatIsAskedForIsUnfolded() {
        SweptDesktop desktop(GroupState::Cancelled);
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
        desktop.groupBySweep();
        QCOMPARE(desktop.rows(), 2);
        desktop.page->selectTrial(3);
        QCOMPARE(desktop.table().currentIndex().data(TrialTableModel::TrialRole).toLongLong(), 3);
        QCOMPARE(desktop.rows(), 6);
    }

    void theFilterKnowsSweepsAndSaysWhatItDoesNot() {
        SweptDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
        auto& filter = *desktop.page->findChild<QLineEdit*>();
        filter.setText("sweep:1 learning_rate>0.01");
        QTRY_COMPARE(desktop.rows(), 2);
        filter.setText("sweep:none");
        QTRY_COMPARE(desktop.rows(), 1);
        filter.setText("best>70%");
        QTRY_COMPARE(desktop.rows(), 2);
        filter.setText("lerning_rate>0.01");
        QTRY_VERIFY(desktop.says("did you mean learning_rate?"));
        QCOMPARE(desktop.rows(), 0);
        filter.setText("best>good");
        QTRY_VERIFY(desktop.says("is no number that best"));
        QCOMPARE(desktop.rows(), 5);
        filter.clear();
        QTRY_VERIFY(!desktop.says("is no number"));
    }

    void aSweepsMenuShowsItAlone() {
        SweptDesktop desktop;
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 5);
        desktop.groupBySweep();
        QTimer::singleShot(100, qApp, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (!menu) return;
            for (auto* action : menu->actions())
                if (action->text() == "Show its trials alone") action->trigger();
            menu->close();
        });
        const QPoint at = desktop.table().visualRect(desktop.table().model()->index(1, kTitleColumn)).center();
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, desktop.table().viewport()->mapToGlobal(at));
        QApplication::sendEvent(desktop.table().viewport(), &event);
        QCOMPARE(desktop.selection.filter(), QString("sweep:1"));
        QTRY_COMPARE(desktop.rows(), 5);  // its row and four trials
        QVERIFY(desktop.line(0).contains("4 match the filter"));
    }
};

QTEST_MAIN(TestTrialGroupsPage)
#include "tst_trial_groups_page.moc"
