#include <qcustomplot.h>

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <memory>

#include "engine/history/database.h"
#include "tests/history/history_support.h"
#include "tests/ui/trials/trials_desktop.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::Desktop;
using test::RunningTrial;
namespace fs = std::filesystem;

class TestTrialsPage : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*static_cast<QApplication*>(QCoreApplication::instance()), ThemeChoice::Light); }
    void anEmptyHomeSaysWhatToDo();
    void trialsAppearAsOthersWriteThem();
    void theSelectionIsShared();
    void aLostEngineIsACrash();
    void archiveTrashAndUndo();
    void runningTrialsStay();
    void selectedTrialsAreCompared();
    void notesAreKept();
    void theFilterNarrowsAndTheEmptyPageHelps();
    void theFilterAsksForSettings();
    void requestsAreSignals();
    void theTableIsExported();
    void columnsAreRemembered();
    void aTrialYetToComeIsSelected();
    void purgedTrialsAreGoneWithTheirFiles();
    void whatAnEngineHasTakenUpIsNotDeleted();
    void aLockedHistoryHoldsUpNobody();
    void whatCannotBeWrittenIsSaidAndTakenBack();
    void aNewerHistoryIsExplainedAndLeftAlone();
    void aHistoryThatIsMovedAwayIsMissed();
    void anOlderHistoryIsBroughtUpToDate();
    void controlsHaveNames();
    void tenThousandTrials();
    void pictures();
};

void TestTrialsPage::anEmptyHomeSaysWhatToDo() {
    Desktop desktop;
    desktop.open();
    QTRY_VERIFY(desktop.says("No trials yet"));
    const QSignalSpy wanted(desktop.page.get(), &Page::commandWanted);
    QTRY_VERIFY(desktop.button("Train something"));
    desktop.button("Train something")->click();
    QCOMPARE(wanted.count(), 1);
    QCOMPARE(wanted.front().front().toString(), QString("page.train"));
    QVERIFY(!fs::exists(desktop.places.history()));
}

void TestTrialsPage::trialsAppearAsOthersWriteThem() {
    Desktop desktop;
    desktop.open();
    QTRY_VERIFY(desktop.says("No trials yet"));
    const auto store = test::openStore(desktop.places.history());
    const auto trial = store->createTrial({}, desktop.places.runs());
    QTRY_COMPARE(desktop.rows(), 1);
    store->setTitle(trial, "renamed elsewhere");
    QTRY_COMPARE(desktop.cell(0, kTitleColumn), QString("renamed elsewhere"));
    store->createTrial({}, desktop.places.runs());
    QTRY_COMPARE(desktop.rows(), 2);
    QTRY_VERIFY(desktop.says("2 trials"));
}

// What is selected here is pinned when it is to be compared, and not before: pins are made on purpose.
void TestTrialsPage::theSelectionIsShared() {
    Desktop desktop({.trials = 5});
    desktop.open();
    QTRY_COMPARE(desktop.rows(), 5);
    const auto select = [&](const std::vector<std::int64_t>& trials) {
        desktop.table().clearSelection();
        for (int row = 0; row < desktop.rows(); ++row)
            if (std::ranges::find(trials, desktop.cell(row, kIdColumn).toLongLong()) != trials.end())
                desktop.table().selectionModel()->select(desktop.table().model()->index(row, 0),
                                                         QItemSelectionModel::Select | QItemSelectionModel::Rows);
    };
    select({2, 5});
    QVERIFY(desktop.selection.pinned().empty());
    const auto strong = [&] {
        int count = 0;
        const auto& plot = *desktop.plot().findChild<QCustomPlot*>();
        for (int i = 0; i < plot.graphCount(); ++i) count += plot.graph(i)->pen().color().alpha() == 255;
        return count;
    };
    QTRY_VERIFY(strong() == 4);  // lines and markers of two
    desktop.selection.setHovered(5);
    QCOMPARE(strong(), 2);
    desktop.selection.setHovered(3);  // which is not among them
    QCOMPARE(strong(), 4);
    select({2, 3, 5});  // its curve comes while the pointer rests on it
    QTRY_COMPARE(strong(), 2);
    select({2, 5});
    QTRY_COMPARE(strong(), 4);
    QSignalSpy compared(desktop.page.get(), &TrialsPage::compareRequested);
    desktop.action("Compare").trigger();
    QCOMPARE(compared.count(), 1);
    QCOMPARE(desktop.selection.listed()->size(), std::size_t(5));
    QVERIFY(std::ranges::is_permutation(desktop.selection.pinned(), std::vector<std::int64_t>{2, 5}));
    desktop.selection.setFilter("no such trial");
    QTRY_COMPARE(desktop.rows(), 0);
    QCOMPARE(desktop.page->findChild<QLineEdit*>()->text(), QString("no such trial"));
    desktop.selection.setFilter({});
    QTRY_COMPARE(desktop.rows(), 5);
    const auto first = desktop.table().visualRect(desktop.table().model()->index(0, kTitleColumn)).center();
    QTest::mouseMove(desktop.table().viewport(), first);
    QTRY_COMPARE(desktop.selection.hovered(), std::optional<std::int64_t>(5));
}

void TestTrialsPage::aLostEngineIsACrash() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    RunningTrial run(desktop.places, *store);
    desktop.open();
    QTRY_COMPARE(desktop.rows(), 1);
    QCOMPARE(desktop.cell(0, kStateColumn), QString("running"));
    run.lease.reset();
    QTRY_COMPARE(desktop.cell(0, kStateColumn), QString("crashed"));
    QCOMPARE(test::openQuery(desktop.places.history())->find(run.trial)->state,
             std::string("running"));  // shown, not written
}

void TestTrialsPage::archiveTrashAndUndo() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    for (int i = 0; i < 3; ++i) store->setState(store->createTrial({}, desktop.places.runs()), RunState::Finished);
    const auto query = test::openQuery(desktop.places.history());
    desktop.open();
    QTRY_COMPARE(desktop.rows(), 3);
    desktop.select(0);
    desktop.action("Star").trigger();
    QTRY_VERIFY(query->find(3)->star);
    desktop.action("Archive").trigger();
    QCOMPARE(desktop.rows(), 2);
    QTRY_VERIFY(query->find(3)->archived);
    QVERIFY(desktop.says("Moved to the archive: 1 trial."));
    desktop.table().setFocus();
    desktop.table().selectAll();
    QTest::keyClick(&desktop.table(), Qt::Key_Delete);
    QCOMPARE(desktop.rows(), 0);
    QTRY_VERIFY(query->find(1)->deleted && query->find(2)->deleted);
    QVERIFY(desktop.says("No current trials"));
    desktop.button("Undo")->click();
    QCOMPARE(desktop.rows(), 2);
    desktop.page->undoStack()->undo();
    desktop.page->undoStack()->undo();
    QCOMPARE(desktop.rows(), 3);
    QTRY_VERIFY(!query->find(3)->archived && !query->find(3)->star && !query->find(1)->deleted);
    QTest::qWait(700);  // a look later it is still so
    QCOMPARE(desktop.rows(), 3);
}

void TestTrialsPage::runningTrialsStay() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    const RunningTrial run(desktop.places, *store);
    store->setState(store->createTrial({}, desktop.places.runs()), RunState::Finished);
    desktop.open();
    QTRY_COMPARE(desktop.rows(), 2);
    desktop.table().selectAll();
    desktop.action("Delete").trigger();
    QCOMPARE(desktop.rows(), 1);
    QVERIFY(desktop.says("stop them first: 1 trial"));
    desktop.select(0);
    QVERIFY(!desktop.action("Delete").isEnabled());
}

void TestTrialsPage::selectedTrialsAreCompared() {
    Desktop desktop({6, 50, 1});
    desktop.open();
    QTRY_VERIFY(desktop.rows() >= 4);
    desktop.select(0);
    QTRY_VERIFY(desktop.settings().model()->rowCount() > 10);
    desktop.table().selectAll();
    QTRY_VERIFY(desktop.settings().model()->columnCount() == desktop.rows());
    QTRY_VERIFY(desktop.plot().model().series().size() > 2);
    QVERIFY(desktop.says("Differences between"));
    desktop.table().clearSelection();
    QTRY_COMPARE(desktop.settings().model()->rowCount(), 0);
    QVERIFY(desktop.says("No trial is selected") && desktop.says("Select trials to see their curves"));
}

void TestTrialsPage::notesAreKept() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    for (int i = 0; i < 2; ++i) store->createTrial({}, desktop.places.runs());
    const auto query = test::openQuery(desktop.places.history());
    desktop.open();
    QTRY_COMPARE(desktop.rows(), 2);
    auto& note = *desktop.page->findChild<QPlainTextEdit*>();
    QVERIFY(!note.isEnabled());
    desktop.select(0);
    QTRY_VERIFY(note.isEnabled());
    note.setFocus();
    QTest::keyClicks(&note, "remember");
    store->setTitle(2, "changed meanwhile");
    QTRY_COMPARE(desktop.cell(0, kTitleColumn), QString("changed meanwhile"));
    QTest::qWait(2300);  // the pane has looked again
    QCOMPARE(note.toPlainText(), QString("remember"));
    desktop.select(1);
    QTRY_COMPARE(QString::fromStdString(query->find(2)->note), QString("remember"));
    QTRY_VERIFY(note.toPlainText().isEmpty());
    QTest::keyClicks(&note, "last words");
    desktop.page.reset();
    QCOMPARE(QString::fromStdString(query->find(1)->note), QString("last words"));
}

void TestTrialsPage::theFilterNarrowsAndTheEmptyPageHelps() {
    Desktop desktop({30, 0, 1});
    desktop.open();
    QTRY_VERIFY(desktop.rows() > 20);
    const int all = desktop.rows();
    auto& filter = *desktop.page->findChild<QLineEdit*>();
    QTest::keyClicks(&filter, "no such thing");
    QTRY_VERIFY(desktop.says("No trial matches"));
    desktop.button("Clear the filter")->click();
    QTRY_COMPARE(desktop.rows(), all);
    QTest::keyClick(&filter, Qt::Key_Down);
    QCOMPARE(desktop.table().selectionModel()->selectedRows().size(), 1);
    auto& shelf = *desktop.page->findChild<QComboBox*>();
    QCOMPARE(shelf.accessibleName(), QString("Which trials are shown"));
    shelf.setCurrentIndex(2);
    QVERIFY(desktop.action("Empty trash…").isVisible() && !desktop.action("Delete").isVisible());
}

void TestTrialsPage::theFilterAsksForSettings() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    const auto add = [&](double momentum) {
        TrialSpec spec;
        spec.optimizer.params["momentum"] = momentum;
        store->createTrial(spec, desktop.places.runs());
    };
    add(0.5);
    add(0.9);
    desktop.open();
    QTRY_COMPARE(desktop.rows(), 2);
    QTest::keyClicks(desktop.page->findChild<QLineEdit*>(), "optimizer.momentum:>=0.9");
    QTRY_COMPARE(desktop.rows(), 1);
    QCOMPARE(desktop.cell(0, kIdColumn), QString("2"));
    add(0.95);
    QTRY_COMPARE(desktop.rows(), 2);
    add(0.1);
    add(0.99);
    QTRY_COMPARE(desktop.rows(), 3);
}

void TestTrialsPage::requestsAreSignals() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    TrialSpec spec;
    spec.seed = 77;
    store->setState(store->createTrial(spec, desktop.places.runs()), RunState::Stopped);
    desktop.open();
    QTRY_COMPARE(desktop.rows(), 1);
    QSignalSpy open(desktop.page.get(), &TrialsPage::openRequested),
        resume(desktop.page.get(), &TrialsPage::resumeRequested),
        clone(desktop.page.get(), &TrialsPage::cloneRequested);
    desktop.select(0);
    desktop.table().setFocus();
    QTest::keyClick(&desktop.table(), Qt::Key_Return);
    QCOMPARE(open.count(), 1);
    desktop.action("Resume").trigger();
    QCOMPARE(resume.front().front().toLongLong(), 1);
    desktop.action("Clone").trigger();
    QTRY_COMPARE(clone.count(), 1);
    QVERIFY(trialSpecFromJson(clone.front().front().toString().toStdString(), "").value() == spec);
    desktop.action("Copy command").trigger();
    QTRY_VERIFY(QApplication::clipboard()->text().contains("--seed 77"));
}

void TestTrialsPage::theTableIsExported() {
    Desktop desktop({9, 0, 1});
    desktop.open();
    QTRY_VERIFY(desktop.rows() > 5);
    const QString file = desktop.home.filePath("out.csv");
    desktop.page->exportCsv(file);
    QFile in(file);
    QVERIFY(in.open(QIODevice::ReadOnly));
    const QByteArray text = in.readAll();
    QCOMPARE(text.count("\r\n"), desktop.rows() + 1);
    QVERIFY(text.startsWith("Star,Trial,Title,State"));
    desktop.page->exportCsv("/no/such/folder/out.csv");
    QVERIFY(desktop.says("was not saved"));
}

void TestTrialsPage::columnsAreRemembered() {
    Desktop desktop({3, 0, 1});
    desktop.open();
    QVERIFY(desktop.table().isColumnHidden(kNoteColumn));
    auto* menu = desktop.table().columnsMenu();
    emit menu->aboutToShow();
    menu->actions()[kNoteColumn]->trigger();
    desktop.table().sortByColumn(kBestColumn, Qt::DescendingOrder);
    QVERIFY(!desktop.table().isColumnHidden(kNoteColumn));
    desktop.open();
    QVERIFY(!desktop.table().isColumnHidden(kNoteColumn));
    QCOMPARE(desktop.table().horizontalHeader()->sortIndicatorSection(), static_cast<int>(kBestColumn));
    emit desktop.table().columnsMenu()->aboutToShow();
    desktop.table().columnsMenu()->actions().last()->trigger();
    QVERIFY(desktop.table().isColumnHidden(kNoteColumn));
}

void TestTrialsPage::aTrialYetToComeIsSelected() {
    Desktop desktop({6, 0, 1});
    desktop.open();
    QTRY_VERIFY(desktop.rows() > 3);
    QTest::keyClicks(desktop.page->findChild<QLineEdit*>(), "hides everything");
    QTRY_COMPARE(desktop.rows(), 0);
    desktop.page->selectTrial(7);
    test::openStore(desktop.places.history())->createTrial({}, desktop.places.runs());
    QTRY_COMPARE(desktop.table().currentIndex().data(TrialTableModel::TrialRole).toLongLong(), 7);
    QVERIFY(desktop.rows() > 3);
}

void TestTrialsPage::purgedTrialsAreGoneWithTheirFiles() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    const auto trial = store->createTrial({}, desktop.places.runs());
    fs::create_directories(desktop.places.run(trial) / "trace");
    RunningTrial run(desktop.places, *store);
    for (const auto each : {trial, run.trial}) store->deleteTrial(each, false);
    HistoryService history(desktop.places);
    QSignalSpy read(&history, &HistoryService::rowsRead);
    history.purge({trial, run.trial});
    QTRY_VERIFY(!read.isEmpty());
    const auto query = test::openQuery(desktop.places.history());
    QVERIFY(!query->find(trial) && query->find(run.trial));
    QVERIFY(!fs::exists(desktop.places.run(trial)) && fs::exists(desktop.places.run(run.trial)));
}

// Between the look at its row and the edit.
void TestTrialsPage::whatAnEngineHasTakenUpIsNotDeleted() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    RunningTrial run(desktop.places, *store);
    const auto other = store->createTrial({}, desktop.places.runs());
    HistoryService history(desktop.places);
    QSignalSpy refused(&history, &HistoryService::notWritten);
    history.write({{run.trial, TrialEdit::Field::Deleted, true}, {other, TrialEdit::Field::Deleted, true}});
    QTRY_COMPARE(refused.size(), 1);
    QCOMPARE(refused[0][0].value<Problem>(), (Problem{"trial", "trial.running", {std::to_string(run.trial)}}));
    const auto query = test::openQuery(desktop.places.history());
    QVERIFY(!query->find(run.trial)->deleted && query->find(other)->deleted);
}

void TestTrialsPage::aLockedHistoryHoldsUpNobody() {
    Desktop desktop({6, 0, 1});
    desktop.open();
    QTRY_VERIFY(desktop.rows() > 3);
    sqlite3* other = nullptr;
    sqlite3_open(desktop.places.history().c_str(), &other);
    QCOMPARE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    QElapsedTimer timer;
    timer.start();
    desktop.select(0);
    const auto trial = desktop.table().currentIndex().data(TrialTableModel::TrialRole).toLongLong();
    const auto query = test::openQuery(desktop.places.history());
    const bool starred = query->find(trial)->star;
    desktop.action(starred ? "Unstar" : "Star").trigger();
    QVERIFY(timer.elapsed() < 1000);
    QTest::qWait(300);
    QCOMPARE(query->find(trial)->star, starred);
    sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr);
    sqlite3_close(other);
    QTRY_COMPARE_WITH_TIMEOUT(query->find(trial)->star, !starred, 10'000);
}

void TestTrialsPage::whatCannotBeWrittenIsSaidAndTakenBack() {
    Desktop desktop;
    const auto store = test::openStore(desktop.places.history());
    store->createTrial({}, desktop.places.runs());
    desktop.open();
    QTRY_COMPARE(desktop.rows(), 1);
    test::ask(desktop.places.history(),
              "CREATE TRIGGER no BEFORE UPDATE ON trial BEGIN SELECT RAISE(ABORT, 'no'); END");
    desktop.select(0);
    desktop.action("Star").trigger();
    QCOMPARE(desktop.cell(0, kStarColumn), QString("★"));
    QTRY_VERIFY(desktop.says("history.refused"));
    QTRY_COMPARE(desktop.cell(0, kStarColumn), QString());
}

void TestTrialsPage::aNewerHistoryIsExplainedAndLeftAlone() {
    Desktop desktop({3, 0, 1});
    test::ask(desktop.places.history(), "PRAGMA user_version = 99");
    const auto when = fs::last_write_time(desktop.places.history());
    desktop.open();
    QTRY_VERIFY(desktop.says("The history cannot be read"));
    QVERIFY(desktop.says("history.newer") && desktop.says("do this"));
    QVERIFY(fs::last_write_time(desktop.places.history()) == when);
    test::ask(desktop.places.history(), "PRAGMA user_version = " + std::to_string(migrations().size()));
    QTRY_VERIFY(desktop.rows() > 0);  // as soon as it can be read
}

void TestTrialsPage::aHistoryThatIsMovedAwayIsMissed() {
    Desktop desktop({3, 0, 1});
    desktop.open();
    QTRY_VERIFY(desktop.rows() > 0);
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(desktop.places.history().string() + end);
    QTRY_VERIFY(desktop.says("No trials yet"));
    std::ofstream(desktop.places.history())
        << "this is a letter, and no database at all; it is long enough to be read ............";
    QTRY_VERIFY(desktop.says("history.not-a-history"));
}

void TestTrialsPage::anOlderHistoryIsBroughtUpToDate() {
    Desktop desktop;
    openForWriting(desktop.places.history(), migrations().first(1));
    desktop.open();
    QTRY_VERIFY(desktop.says("No trials yet"));
    QVERIFY(test::openQuery(desktop.places.history()) != nullptr);
}

void TestTrialsPage::controlsHaveNames() {
    Desktop desktop({3, 0, 1});
    desktop.open();
    for (const auto* each : desktop.page->findChildren<QWidget*>()) {
        if (each->focusPolicy() == Qt::NoFocus || !each->isVisible()) continue;
        if (qobject_cast<const QAbstractScrollArea*>(each) || qobject_cast<const QLineEdit*>(each) ||
            qobject_cast<const QComboBox*>(each)) {
            QVERIFY2(!each->accessibleName().isEmpty(), each->metaObject()->className());
        }
        if (const auto* button = qobject_cast<const QAbstractButton*>(each); button && button->objectName().isEmpty()) {
            QVERIFY2(!button->text().isEmpty() || !button->accessibleName().isEmpty(), each->metaObject()->className());
        }
    }
}

void TestTrialsPage::tenThousandTrials() {
    Desktop desktop({10'000, 0, 1});
    QElapsedTimer timer;
    timer.start();
    desktop.open();
    QTRY_VERIFY_WITH_TIMEOUT(desktop.rows() > 9'000, 20'000);
    qInfo("10,000 trials after %lld ms", static_cast<long long>(timer.elapsed()));
    timer.start();
    desktop.table().selectAll();
    QTRY_VERIFY(desktop.settings().model()->columnCount() == 50);
    qInfo("all selected and 50 compared after %lld ms", static_cast<long long>(timer.elapsed()));
}

// Pictures to look at, in the folder LOCKSTEP_PICTURES.
void TestTrialsPage::pictures() {
    const QString folder = qEnvironmentVariable("LOCKSTEP_PICTURES");
    if (folder.isEmpty()) QSKIP("LOCKSTEP_PICTURES names no folder");
    Desktop empty, full({300, 200, 1});
    for (const auto choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
        applyTheme(*static_cast<QApplication*>(QCoreApplication::instance()), choice);
        const QString end = choice == ThemeChoice::Light ? "-light.png" : "-dark.png";
        empty.open();
        QTRY_VERIFY(empty.says("No trials yet"));
        QVERIFY(empty.page->grab().save(folder + "/trials-empty" + end));
        full.open();
        QTRY_VERIFY(full.rows() > 100);
        const auto picture = [&](const QString& name) {
            QTest::qWait(700);
            QVERIFY(full.page->grab().save(folder + "/trials-" + name + end));
        };
        picture("none-selected");
        full.select(1);
        picture("one");
        full.table().clearSelection();
        const auto add = [&](int from, int to) {
            for (int row = from; row < to; ++row) {
                full.table().selectionModel()->select(full.table().model()->index(row, 0),
                                                      QItemSelectionModel::Select | QItemSelectionModel::Rows);
            }
        };
        add(0, 2);
        picture("two");
        add(2, 12);
        picture("twelve");
        full.page->findChild<QCheckBox*>("bySeeds")->setChecked(true);
        for (auto* box : full.page->findChildren<QComboBox*>())
            if (box->accessibleName() == "Quantity of the curves")
                box->setCurrentIndex(box->findData("both_accuracies"));
        picture("bands");
        full.action("Archive").trigger();
        picture("archived");
        full.page->undoStack()->undo();
        full.page->findChild<QLineEdit*>()->setText("no such trial");
        picture("no-hits");
        full.page->findChild<QLineEdit*>()->clear();
    }
}

QTEST_MAIN(TestTrialsPage)
#include "tst_trials_page.moc"
