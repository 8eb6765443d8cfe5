#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QtTest>
#include <cmath>
#include <limits>

#include "tests/bench/made_history.h"
#include "tests/history/history_support.h"
#include "ui/trials/trial_filter_proxy.h"

using namespace lockstep;
using namespace lockstep::ui;
using lockstep::test::Folder;

namespace {

TrialRow rowOf(std::int64_t id, const std::string& title = "") {
    TrialRow row;
    row.id = id;
    row.title = title;
    row.state = "finished";
    row.dataset = "fashion-mnist";
    row.model = "mlp";
    row.devices = "cuda:0";
    row.createdAt = "2026-11-20T12:49:57.471Z";
    return row;
}

struct Table {
    TrialEdits written;
    TrialTableModel model{
        undo, [this](const TrialEdits& edits) { written.insert(written.end(), edits.begin(), edits.end()); }};
    QUndoStack undo;
    TrialFilterProxy proxy{model};
    QAbstractItemModelTester modelTester{&model, QAbstractItemModelTester::FailureReportingMode::QtTest};
    QAbstractItemModelTester proxyTester{&proxy, QAbstractItemModelTester::FailureReportingMode::QtTest};

    std::vector<qint64> shown() const {
        std::vector<qint64> trials;
        for (int i = 0; i < proxy.rowCount(); ++i) trials.push_back(proxy.trial(proxy.index(i, 0)).id);
        return trials;
    }
    std::vector<qint64> filtered(const QString& words) {
        proxy.setWords(words);
        return shown();
    }
};

using Trials = std::vector<qint64>;

}  // namespace

class TestTrialTable : public QObject {
    Q_OBJECT
private slots:
    void rowsComeChangeAndGoWithoutAReset();
    void anyListFollowsAnyOther();
    void editsAreWrittenAndUndone();
    void editsOfTrialsThatAreGoneLeaveTheStack();
    void wordsFilterEveryColumn_data();
    void wordsFilterEveryColumn();
    void settingsFilterByTheirPath_data();
    void settingsFilterByTheirPath();
    void shelvesKeepTrialsApart();
    void numbersThatAreMissingComeLast();
    void textSortsWhateverItsCase();
    void csvIsWhatTheTableShows();
    void cellsReadWell();
    void tenThousandRows();
};

void TestTrialTable::rowsComeChangeAndGoWithoutAReset() {
    Table table;
    table.model.setRows({rowOf(5), rowOf(3), rowOf(2)});
    QSignalSpy reset(&table.model, &QAbstractItemModel::modelReset),
        inserted(&table.model, &QAbstractItemModel::rowsInserted),
        removed(&table.model, &QAbstractItemModel::rowsRemoved),
        changed(&table.model, &QAbstractItemModel::dataChanged);
    const QPersistentModelIndex two = table.model.index(2, 0);
    table.model.setRows({rowOf(7), rowOf(6), rowOf(5, "renamed"), rowOf(2)});
    QCOMPARE(reset.count(), 0);
    QCOMPARE(inserted.count(), 1);
    QCOMPARE(removed.count(), 1);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(two.row(), 3);
    QCOMPARE(table.model.find(5)->title, std::string("renamed"));
    QCOMPARE(table.model.indexOf(3), -1);
    table.model.setRows({rowOf(7), rowOf(6), rowOf(5, "renamed"), rowOf(2)});
    QCOMPARE(inserted.count() + removed.count() + changed.count(), 3);  // nothing new, nothing said
}

void TestTrialTable::anyListFollowsAnyOther() {
    Table table;
    for (unsigned choice = 0; choice < 200; ++choice) {
        std::vector<TrialRow> rows;
        for (int id = 7; id > 0; --id) {
            const unsigned hash = (choice * 2654435761u) >> (id * 3);
            if (hash % 3 != 0) rows.push_back(rowOf(id, hash % 2 ? "a" : "b"));
        }
        table.model.setRows(rows);
        QCOMPARE(table.model.rowCount(), static_cast<int>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) QVERIFY(table.model.row(static_cast<int>(i)) == rows[i]);
    }
}

void TestTrialTable::editsAreWrittenAndUndone() {
    const Folder folder;
    TrialService trials({folder.file().parent_path(), {}, {}, {}});
    const auto trial = trials.create({});
    const auto query = test::openQuery(folder.file());
    QUndoStack undo;
    TrialTableModel model(undo, [&](const TrialEdits& edits) {
        for (const auto& edit : edits) apply(edit, trials);
    });
    model.setRows(query->list({}));
    const auto set = [&](int column, const QVariant& value) {
        return model.setData(model.index(0, column), value, Qt::EditRole);
    };
    QVERIFY(set(kTitleColumn, "wide"));
    QVERIFY(set(kNoteColumn, "ä note"));
    QVERIFY(set(kTagsColumn, " thesis , baseline,,thesis"));
    QVERIFY(set(kStarColumn, true));
    model.edit({{trial, TrialEdit::Field::Archived, true}, {trial, TrialEdit::Field::Deleted, true}}, "both");
    QVERIFY(!set(kStateColumn, "finished"));
    QCOMPARE(undo.count(), 5);
    QVERIFY(set(kTitleColumn, "wide"));
    QCOMPARE(undo.count(), 5);  // the same again is no step
    auto row = *query->find(trial);
    QVERIFY(row == model.row(0));
    QVERIFY(row.star && row.archived && row.deleted && row.title == "wide" && row.note == "ä note");
    QVERIFY((row.tags == std::vector<std::string>{"baseline", "thesis"}));
    while (undo.canUndo()) undo.undo();
    row = *query->find(trial);
    QVERIFY(row == model.row(0));
    QVERIFY(!row.star && !row.archived && !row.deleted && row.title.empty() && row.note.empty() && row.tags.empty());
    while (undo.canRedo()) undo.redo();
    QVERIFY(query->find(trial)->deleted && query->find(trial)->tags.size() == 2);
}

void TestTrialTable::editsOfTrialsThatAreGoneLeaveTheStack() {
    Table table;
    table.model.setRows({rowOf(2), rowOf(1)});
    table.model.edit({{2, TrialEdit::Field::Star, true}}, "star");
    table.model.setRows({rowOf(1)});
    table.undo.undo();
    QCOMPARE(table.undo.count(), 0);
    QCOMPARE(table.written.size(), std::size_t{1});
    table.model.edit({{2, TrialEdit::Field::Star, true}}, "star");
    QCOMPARE(table.undo.count(), 0);
}

void TestTrialTable::wordsFilterEveryColumn_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<Trials>("expected");
    QTest::newRow("nothing") << "" << Trials{3, 2, 1};
    QTest::newRow("one word") << "WIDE" << Trials{3, 1};
    QTest::newRow("several words") << "wide resnet" << Trials{1};
    QTest::newRow("quoted") << "\"wide net\"" << Trials{1};
    QTest::newRow("number") << "#2" << Trials{2};
    QTest::newRow("accuracy as shown") << "91.83" << Trials{2};
    QTest::newRow("state") << "state:fail" << Trials{2};
    QTest::newRow("model") << "model:resnet" << Trials{2, 1};
    QTest::newRow("tag, whole") << "tag:thesis" << Trials{3};
    QTest::newRow("tag, half") << "tag:thes" << Trials{};
    QTest::newRow("starred") << "is:starred" << Trials{1};
    QTest::newRow("without") << "-model:resnet" << Trials{3};
    QTest::newRow("without a word") << "wide -resnet" << Trials{3};
    QTest::newRow("not a field") << "cuda:0" << Trials{3, 2, 1};
    QTest::newRow("unfinished field") << "tag:" << Trials{3, 2, 1};
    QTest::newRow("none") << "state:running" << Trials{};
}

void TestTrialTable::wordsFilterEveryColumn() {
    QFETCH(QString, words);
    QFETCH(Trials, expected);
    Table table;
    auto first = rowOf(1, "a wide net"), second = rowOf(2), third = rowOf(3, "very Wide");
    first.model = second.model = "resnet18-cifar";
    first.star = true;
    second.state = "failed";
    second.bestAccuracy = 0.9183;
    third.tags = {"thesis"};
    table.model.setRows({third, second, first});
    QCOMPARE(table.filtered(words), expected);
}

void TestTrialTable::settingsFilterByTheirPath_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<Trials>("expected");
    QTest::newRow("number") << "optimizer.momentum:0.9" << Trials{3, 1};
    QTest::newRow("not") << "-optimizer.momentum:0.9" << Trials{2};
    QTest::newRow("beside a word") << "optimizer.momentum:>0.5 wide" << Trials{1};
    QTest::newRow("the fallback") << "optimizer.momentum:default" << Trials{2};
    QTest::newRow("unfinished") << "optimizer.momentum:" << Trials{3, 2, 1};
    QTest::newRow("unfinished, not") << "-optimizer.momentum:>" << Trials{3, 2, 1};
    QTest::newRow("of a column, not") << "-state:" << Trials{3, 2, 1};
    QTest::newRow("unread yet") << "seed:4" << Trials{3, 2, 1};
    QTest::newRow("nobody's") << "optimizer.momentum:0.25" << Trials{};
}

void TestTrialTable::settingsFilterByTheirPath() {
    QFETCH(QString, words);
    QFETCH(Trials, expected);
    Table table;
    table.model.setRows({rowOf(3), rowOf(2), rowOf(1, "a wide net")});
    table.proxy.setSettings("optimizer.momentum", {{1, 0.9}, {3, 0.9}});
    QCOMPARE(table.filtered(words), expected);
}

void TestTrialTable::shelvesKeepTrialsApart() {
    Table table;
    table.model.setRows({rowOf(4), rowOf(3), rowOf(2), rowOf(1)});
    table.model.edit({{3, TrialEdit::Field::Archived, true},
                      {2, TrialEdit::Field::Deleted, true},
                      {1, TrialEdit::Field::Archived, true},
                      {1, TrialEdit::Field::Deleted, true}},
                     "tidy");
    QCOMPARE(table.shown(), Trials{4});
    table.proxy.setShelf(Shelf::Archived);
    QCOMPARE(table.shown(), Trials{3});
    table.proxy.setShelf(Shelf::Trash);
    QCOMPARE(table.shown(), (Trials{2, 1}));
    table.undo.undo();
    QVERIFY(table.shown().empty());
}

void TestTrialTable::numbersThatAreMissingComeLast() {
    Table table;
    auto best = rowOf(1), worst = rowOf(2), unknown = rowOf(3), strange = rowOf(4);
    best.bestAccuracy = 0.9;
    worst.bestAccuracy = 0.1;
    strange.bestAccuracy = std::numeric_limits<double>::quiet_NaN();
    table.model.setRows({strange, unknown, worst, best});
    table.proxy.sort(kBestColumn, Qt::AscendingOrder);
    QCOMPARE(table.shown(), (Trials{2, 1, 4, 3}));
    table.proxy.sort(kBestColumn, Qt::DescendingOrder);
    QCOMPARE(table.shown(), (Trials{1, 2, 4, 3}));
}

void TestTrialTable::textSortsWhateverItsCase() {
    Table table;
    table.model.setRows({rowOf(3, "beta"), rowOf(2, "Alpha"), rowOf(1, "gamma")});
    table.proxy.sort(kTitleColumn, Qt::AscendingOrder);
    QCOMPARE(table.shown(), (Trials{2, 3, 1}));
    for (int column = 0; column < kTrialColumns; ++column) {
        table.proxy.sort(column, Qt::DescendingOrder);
        QCOMPARE(table.proxy.rowCount(), 3);
    }
}

void TestTrialTable::csvIsWhatTheTableShows() {
    Table table;
    auto first = rowOf(1, "said \"hi\", twice");
    first.bestAccuracy = 0.918312345;
    table.model.setRows({rowOf(2), first});
    table.proxy.sort(kIdColumn, Qt::AscendingOrder);
    QCOMPARE(csvOf(table.proxy, {kIdColumn, kTitleColumn, kBestColumn}),
             QString("Trial,Title,Best\r\n1,\"said \"\"hi\"\", twice\",0.918312345\r\n2,,\r\n"));
}

void TestTrialTable::cellsReadWell() {
    auto row = rowOf(12);
    row.bestAccuracy = 0.91834;
    row.testLoss = 1.5, row.lowestTestLoss = 1.25;
    row.samplesPerSecond = 5120.4;
    row.seconds = 72.4;
    row.epoch = 3, row.epochs = 5;
    row.learningRate = 1e-5;
    QCOMPARE(cellOf(row, kBestColumn), QString("91.83 %"));
    QCOMPARE(cellOf(row, kTestColumn), QString("–"));
    QCOMPARE(cellOf(row, kLossColumn), QString("1.5000"));
    QCOMPARE(cellOf(row, kLowestLossColumn), QString("1.2500"));
    QCOMPARE(cellOf(row, kSpeedColumn), QString("5,120"));
    QCOMPARE(cellOf(row, kDurationColumn), QString("1 min 12 s"));
    QCOMPARE(cellOf(row, kEpochsColumn), QString("3 / 5"));
    QCOMPARE(cellOf(row, kRateColumn), QString("1e-05"));
    QCOMPARE(trial_text::duration(3.14), QString("3.1 s"));
    QCOMPARE(trial_text::duration(7384), QString("2 h 3 min"));
    for (int column = 0; column < kTrialColumns; ++column)
        QVERIFY(!headerOf(column).isEmpty() && !meaningOf(column).isEmpty() && widthOf(column) > 0);
    QVERIFY(isNumeric(kIdColumn) && isNumeric(kEpochsColumn) && isNumeric(kDurationColumn));
    QVERIFY(!isNumeric(kStarColumn) && !isNumeric(kDevicesColumn) && !isNumeric(kCreatedColumn));
    QCOMPARE(filteredColumn("device"), static_cast<int>(kDevicesColumn));
    QCOMPARE(filteredColumn("batch"), -1);
}

void TestTrialTable::tenThousandRows() {
    const Folder folder;
    test::makeHistory(folder.file(), {10'000, 0, 1});
    const auto rows = test::openQuery(folder.file())->list({});
    QUndoStack undo;
    TrialTableModel model(undo, [](const TrialEdits&) {});
    TrialFilterProxy proxy(model);
    QElapsedTimer timer;
    const auto measured = [&](const char* what, auto&& work) {
        timer.start();
        work();
        qInfo("%s: %lld ms", what, static_cast<long long>(timer.elapsed()));
    };
    measured("first rows", [&] { model.setRows(rows); });
    measured("the same rows", [&] { model.setRows(rows); });
    measured("sort", [&] { proxy.sort(kBestColumn, Qt::DescendingOrder); });
    measured("filter", [&] { proxy.setWords("resnet tag:thesis"); });
    QVERIFY(proxy.rowCount() > 100 && proxy.rowCount() < 2000);
    for (int i = 0; i < proxy.rowCount(); ++i)
        QCOMPARE(proxy.trial(proxy.index(i, 0)).model, std::string("resnet18-cifar"));
    measured("filter off", [&] { proxy.setWords(""); });
    for (int i = 1; i < proxy.rowCount(); ++i) {
        QVERIFY(proxy.trial(proxy.index(i - 1, 0)).bestAccuracy.value_or(0) >=
                proxy.trial(proxy.index(i, 0)).bestAccuracy.value_or(0));
    }
}

QTEST_GUILESS_MAIN(TestTrialTable)
#include "tst_trial_table.moc"
