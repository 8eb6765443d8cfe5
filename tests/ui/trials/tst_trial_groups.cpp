#include <rapidcheck.h>

#include <QAbstractItemModelTester>
#include <QItemSelectionModel>
#include <QtTest>
#include <array>
#include <set>

#include "ui/history/sweep_words.h"
#include "ui/trials/sweep_line.h"
#include "ui/trials/trial_filter_proxy.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

TrialRow rowOf(std::int64_t id, std::optional<double> best = std::nullopt) {
    TrialRow row;
    row.id = id;
    row.state = "finished";
    row.model = "mlp";
    row.bestAccuracy = best;
    return row;
}

TrialGroup sweepOf(std::int64_t id, const std::string& title = "", GroupState state = GroupState::Active) {
    TrialGroup sweep;
    sweep.id = id, sweep.title = title, sweep.state = state;
    return sweep;
}

Cell rateOf(double rate) { return {{"learning_rate", rate}, {"batch", std::int64_t{64}}}; }

// Trials 6 and 4 of sweep 2, which runs; 3 and 1 of sweep 1, which has ended; 5 and 2 of none.
struct Table {
    Table() {
        groups.sweeps = {sweepOf(2, "wide"), sweepOf(1, "deep", GroupState::Finished)};
        groups.places = {{6, {2, 1, 0}}, {4, {2, 0, 0}}, {3, {1, 0, 1}}, {1, {1, 0, 0}}};
        groups.cells[2] = {{0, rateOf(0.1)}, {1, rateOf(0.01)}};
        groups.cells[1] = {{0, rateOf(0.5)}};
        rows = {rowOf(6, 0.5), rowOf(5, 0.7), rowOf(4, 0.9), rowOf(3, 0.95), rowOf(2), rowOf(1)};
        take();
        proxy.sort(kIdColumn, Qt::DescendingOrder);
    }
    void take() {
        model.setGroups(groups);
        model.setRows(rows);
    }
    void unfold() {
        proxy.setFolded(1, false);
        proxy.setFolded(2, false);
    }
    static QString shownIn(const TrialFilterProxy& proxy) {
        QStringList shown;
        for (int i = 0; i < proxy.rowCount(); ++i) {
            const QModelIndex row = proxy.index(i, kIdColumn);
            if (const auto* trial = proxy.trialAt(row)) shown << QString::number(trial->id);
            else shown << 'S' + row.data(TrialTableModel::SweepRole).toString();
        }
        return shown.join(' ');
    }
    QString shown() const { return shownIn(proxy); }
    QString lineOf(std::int64_t sweep) const {
        return proxy.mapFromSource(model.index(model.sweepIndex(sweep), kTitleColumn)).data().toString();
    }

    TrialGroups groups;
    std::vector<TrialRow> rows;
    QUndoStack undo;
    TrialTableModel model{undo, [](const TrialEdits&) {}};
    TrialFilterProxy proxy{model};
    QAbstractItemModelTester modelTester{&model, QAbstractItemModelTester::FailureReportingMode::QtTest};
    QAbstractItemModelTester proxyTester{&proxy, QAbstractItemModelTester::FailureReportingMode::QtTest};
};

SweepResult resultOf(const TrialGroup& sweep) {
    SweepResult result;
    result.group = sweep;
    result.objective = findMetric("test_accuracy");
    result.planned = 81, result.ended = 27, result.finished = 26, result.failed = 1, result.running = 2;
    result.cells.resize(2);
    result.cells[0].settings = rateOf(0.1), result.cells[1].settings = rateOf(0.01);
    result.cells[1].count = 3, result.cells[1].mean = 0.912345, result.cells[1].deviation = 0.003;
    result.best = 1;
    return result;
}

}  // namespace

class TestTrialGroups : public QObject {
    Q_OBJECT
private slots:
    void sweepsStandWhereTheirFirstTrialDoes();
    void flatTablesKnowNoSweeps();
    void whatHasEndedIsFoldedAtFirst();
    void changesMoveWholeSweeps();
    void newTrialsJoinTheirSweep();
    void filtersLookIntoWhatIsFolded();
    void sweepsAreNoTrials();
    void cellsAreAColumn();
    void aSweepIsALine();
    void whatWaitsAtARungSaysSo();
    void anyTableInGroupsIsTheFlatOneRearranged();
    void tenThousandTrials();
};

void TestTrialGroups::sweepsStandWhereTheirFirstTrialDoes() {
    Table table;
    table.unfold();
    table.proxy.setGrouped(true);
    QCOMPARE(table.shown(), QString("S2 6 4 5 S1 3 1 2"));
    table.proxy.sort(kIdColumn, Qt::AscendingOrder);
    QCOMPARE(table.shown(), QString("S1 1 3 2 S2 4 6 5"));
    table.proxy.sort(kBestColumn, Qt::DescendingOrder);
    QCOMPARE(table.shown(), QString("S1 3 1 S2 4 6 5 2"));
    table.proxy.sort(kBestColumn, Qt::AscendingOrder);
    QCOMPARE(table.shown(), QString("S2 6 4 5 S1 3 1 2"));
    table.proxy.sort(kModelColumn, Qt::AscendingOrder);  // all the same: the newest first
    QCOMPARE(table.shown(), QString("S2 6 4 5 S1 3 1 2"));
    table.proxy.setGrouped(false);
    QCOMPARE(table.shown(), QString("6 5 4 3 2 1"));
}

void TestTrialGroups::flatTablesKnowNoSweeps() {
    Table table;
    QCOMPARE(table.shown(), QString("6 5 4 3 2 1"));
    QCOMPARE(table.proxy.trials(), 6);
    QCOMPARE(table.model.trials(), 6);
    QVERIFY(!table.proxy.index(0, 0).data(TrialTableModel::MemberRole).toBool());
    table.proxy.setWords("sweep:2");
    QCOMPARE(table.shown(), QString("6 4"));
    table.proxy.setWords("sweep:none");
    QCOMPARE(table.shown(), QString("5 2"));
    table.groups.places[5] = {2, 2, 0};
    table.take();
    QCOMPARE(table.shown(), QString("2"));
}

void TestTrialGroups::whatHasEndedIsFoldedAtFirst() {
    Table table;
    table.proxy.setGrouped(true);
    QCOMPARE(table.shown(), QString("S2 6 4 5 S1 2"));
    QCOMPARE(table.proxy.trials(), 6);
    table.proxy.setFolded(1, false);
    QCOMPARE(table.shown(), QString("S2 6 4 5 S1 3 1 2"));
    table.proxy.setFolded(2, true);
    QCOMPARE(table.shown(), QString("S2 5 S1 3 1 2"));
    QVERIFY(table.proxy.index(0, 0).data(TrialTableModel::FoldedRole).toBool());
    table.proxy.setFolded(2, false);
    table.groups.sweeps.front().state = GroupState::Finished;  // beneath the eyes of whoever looks at it
    table.take();
    QTest::qWait(1);
    QCOMPARE(table.shown(), QString("S2 6 4 5 S1 3 1 2"));
    table.proxy.setFolded(7, true);  // which nobody knows
    QCOMPARE(table.proxy.rowCount(), 8);
}

void TestTrialGroups::changesMoveWholeSweeps() {
    Table table;
    table.unfold();
    table.proxy.setGrouped(true);
    table.proxy.sort(kBestColumn, Qt::DescendingOrder);
    QCOMPARE(table.shown(), QString("S1 3 1 S2 4 6 5 2"));
    table.rows[0].bestAccuracy = 0.97;
    table.take();
    QTRY_COMPARE(table.shown(), QString("S2 6 4 S1 3 1 5 2"));
    table.rows[1].bestAccuracy = 0.99;
    table.take();
    QTRY_COMPARE(table.shown(), QString("5 S2 6 4 S1 3 1 2"));
    table.model.edit({{3, TrialEdit::Field::Archived, true}}, "archived");
    QTRY_COMPARE(table.shown(), QString("5 S2 6 4 2 S1 1"));
    QCOMPARE(table.proxy.trials(), 5);
    table.model.edit({{1, TrialEdit::Field::Deleted, true}}, "deleted");
    QTRY_COMPARE(table.shown(), QString("5 S2 6 4 2"));
    table.proxy.setShelf(Shelf::Archived);
    QCOMPARE(table.shown(), QString("S1 3"));
    table.undo.undo();
    table.undo.undo();
    table.proxy.setShelf(Shelf::Current);
    QTRY_COMPARE(table.shown(), QString("5 S2 6 4 S1 3 1 2"));
}

void TestTrialGroups::newTrialsJoinTheirSweep() {
    Table table;
    table.unfold();
    table.proxy.setGrouped(true);
    table.rows.insert(table.rows.begin(), rowOf(7));
    table.groups.places[7] = {1, 0, 2};
    table.take();
    QTRY_COMPARE(table.shown(), QString("S1 7 3 1 S2 6 4 5 2"));
    table.groups.sweeps.insert(table.groups.sweeps.begin(), sweepOf(3, "new"));
    table.groups.places[8] = {3, 0, 0};
    table.rows.insert(table.rows.begin(), rowOf(8));
    table.take();
    QTRY_COMPARE(table.shown(), QString("S3 8 S1 7 3 1 S2 6 4 5 2"));
    table.rows.erase(table.rows.begin());
    table.take();
    QTRY_COMPARE(table.shown(), QString("S1 7 3 1 S2 6 4 5 2"));  // a sweep without trials is not there
    table.groups = {};
    table.take();
    QTRY_COMPARE(table.shown(), QString("7 6 5 4 3 2 1"));
}

void TestTrialGroups::filtersLookIntoWhatIsFolded() {
    Table table;
    table.proxy.setGrouped(true);
    table.proxy.setWords("#3");
    QCOMPARE(table.shown(), QString("S1"));
    QCOMPARE(table.proxy.trials(), 1);
    QVERIFY(table.lineOf(1).endsWith("— 1 matches the filter"));
    table.proxy.setWords("best>0.6");
    QCOMPARE(table.shown(), QString("5 S2 4 S1"));
    QCOMPARE(table.proxy.trials(), 3);
    table.proxy.setWords("sweep:1");
    QVERIFY(table.lineOf(1).endsWith("— 2 match the filter"));
    table.proxy.setWords({});
    QVERIFY(!table.lineOf(1).contains("match"));
    QCOMPARE(table.shown(), QString("S2 6 4 5 S1 2"));
}

void TestTrialGroups::sweepsAreNoTrials() {
    Table table;
    table.proxy.setGrouped(true);
    QItemSelectionModel selection(&table.proxy);
    const auto& proxy = table.proxy;
    selection.select(QItemSelection(proxy.index(0, 0), proxy.index(proxy.rowCount() - 1, kTrialColumns - 1)),
                     QItemSelectionModel::Select | QItemSelectionModel::Rows);
    const auto chosen = selection.selectedRows();
    QCOMPARE(chosen.size(), 4);
    for (const QModelIndex& row : chosen) QVERIFY(proxy.trialAt(row));
    const QModelIndex sweep = proxy.index(0, kTitleColumn);
    QVERIFY(!proxy.trialAt(sweep) && !proxy.trialAt({}));
    QVERIFY(!(sweep.flags() & (Qt::ItemIsSelectable | Qt::ItemIsEditable)) && (sweep.flags() & Qt::ItemIsEnabled));
    QVERIFY(!table.proxy.setData(sweep, "renamed", Qt::EditRole));
    QCOMPARE(table.undo.count(), 0);
    TrialFilterProxy all(table.model);
    all.follow(table.proxy);
    QCOMPARE(Table::shownIn(all), QString("6 5 4 3 2 1"));  // what is folded is exported, too
    QVERIFY(csvOf(all, {kIdColumn, kCellColumn}).contains("6,learning_rate=0.01 batch=64\r\n5,\r\n"));
}

void TestTrialGroups::cellsAreAColumn() {
    Table table;
    const auto cellIn = [&](int row) { return table.proxy.index(row, kCellColumn).data().toString(); };
    QCOMPARE(cellIn(0), QString("learning_rate=0.01 batch=64"));
    QCOMPARE(cellIn(1), QString());
    QCOMPARE(cellIn(2), QString("learning_rate=0.1 batch=64"));
    table.proxy.sort(kCellColumn, Qt::AscendingOrder);  // by sweep and cell, not by the words
    QCOMPARE(table.shown(), QString("3 1 4 6 5 2"));
    table.groups.cells.clear();  // damaged
    table.take();
    QCOMPARE(cellIn(0), QString());
}

void TestTrialGroups::aSweepIsALine() {
    TrialGroup sweep = sweepOf(3, "wide\nnets %2");
    QCOMPARE(sweepLine(sweep, nullptr), QString("Sweep 3: wide nets %2"));
    auto result = resultOf(sweep);
    QCOMPARE(sweepLine(sweep, &result),
             QString("Sweep 3: wide nets %2 — 26 of 81 finished, 2 running, 1 failed, best 91.23 % ± 0.30 (n 3): "
                     "learning_rate=0.01 batch=64"));
    result.cells[1].count = 1;
    result.finished = 24, result.cancelled = 2, result.removed = 1;
    result.running = result.failed = 0;
    QCOMPARE(sweepLine(sweep, &result),
             QString("Sweep 3: wide nets %2 — 24 of 81 finished, 2 cancelled, 1 deleted, best 91.23 %: "
                     "learning_rate=0.01 batch=64"));
    result.best.reset();
    result.planned = result.cancelled = result.removed = 0;
    sweep.title.clear();
    sweep.state = GroupState::Paused;
    QCOMPARE(sweepLine(sweep, &result), QString("Sweep 3 — paused, 24 finished"));
    QCOMPARE(sweepLine(sweep, nullptr), QString("Sweep 3 — paused"));
    result.objective = findMetric("test_loss");
    result.cells[0].count = 2, result.cells[0].mean = 0.25, result.cells[0].deviation = 0.0125;
    QCOMPARE(objectiveText(result.cells[0], *result.objective), QString("0.2500 ± 0.0125 (n 2)"));

    Table table;
    table.proxy.setGrouped(true);
    QCOMPARE(table.lineOf(2), QString("Sweep 2: wide"));
    table.model.setResult(resultOf(table.groups.sweeps.front()));
    QVERIFY(table.lineOf(2).startsWith("Sweep 2: wide — 26 of 81 finished"));
    QVERIFY(table.proxy.index(0, 0).data(Qt::AccessibleTextRole).toString().endsWith("; unfolded"));
}

void TestTrialGroups::whatWaitsAtARungSaysSo() {
    Table table;
    table.rows[2].state = "stopped";  // of cell 0 of the sweep 2
    table.take();
    SweepResult result;
    result.group = table.groups.sweeps.front();
    result.spec.scheduler = "asha";
    result.spec.trial.epochs = 9;
    result.cells.resize(2);
    result.cells[1].number = 1;
    result.climbers = {{.cell = 0, .losses = {2}, .arrivals = {0}}, {.cell = 1, .losses = {1}, .arrivals = {1}}};
    const auto tipOf = [&](std::int64_t trial) {
        return table.model.index(table.model.indexOf(trial), kStateColumn).data(Qt::ToolTipRole).toString();
    };
    QCOMPARE(tipOf(4), QString());
    table.model.setResult(result);
    QCOMPARE(tipOf(4), QString("paused at rung 1 of 3, rank 2 of 2"));
    QCOMPARE(tipOf(6), QString());  // it has finished
    result.group.state = GroupState::Finished;
    table.model.setResult(result);
    QCOMPARE(tipOf(4), QString("stopped at rung 1 of 3, rank 2 of 2"));
    result.climbers[0].losses = {2, 2, 2};  // at its end
    table.model.setResult(result);
    QCOMPARE(tipOf(4), QString());
}

namespace {

std::vector<TrialRow> anyRows(TrialGroups& groups) {
    std::vector<TrialRow> rows;
    groups.places.clear();
    for (std::int64_t id = *rc::gen::inRange(0, 18); id > 0; --id) {
        const int best = *rc::gen::inRange(0, 4);
        rows.push_back(rowOf(id, best == 0 ? std::nullopt : std::optional(best / 4.0)));
        rows.back().archived = *rc::gen::inRange(0, 4) == 0;
        if (const auto sweep = *rc::gen::inRange<std::int64_t>(0, 4))
            groups.places[id] = {sweep, *rc::gen::inRange<std::int64_t>(0, 3), id};
    }
    return rows;
}

// The flat table, each sweep gathered where its first trial stands.
QString gathered(Table& table) {
    TrialFilterProxy flat(table.model);
    flat.follow(table.proxy);
    QStringList shown;
    std::set<std::int64_t> told;
    const auto homeOf = [&](std::int64_t trial) { return table.model.sweepOf(table.model.indexOf(trial)); };
    for (int i = 0; i < flat.rowCount(); ++i) {
        const auto trial = flat.trial(flat.index(i, 0)).id;
        const auto sweep = homeOf(trial);
        if (sweep == 0) shown << QString::number(trial);
        if (sweep == 0 || !told.insert(sweep).second) continue;
        shown << 'S' + QString::number(sweep);
        for (int j = i; j < flat.rowCount() && !table.proxy.isFolded(sweep); ++j) {
            const auto other = flat.trial(flat.index(j, 0)).id;
            if (homeOf(other) == sweep) shown << QString::number(other);
        }
    }
    return shown.join(' ');
}

}  // namespace

void TestTrialGroups::anyTableInGroupsIsTheFlatOneRearranged() {
    QVERIFY(rc::check([] {
        Table table;
        table.groups.sweeps = {sweepOf(3), sweepOf(2), sweepOf(1, "", GroupState::Failed)};
        table.proxy.setGrouped(true);
        for (int step = 0; step < 8; ++step) {
            constexpr std::array kColumns{kIdColumn, kBestColumn, kModelColumn, kCellColumn};
            static const QStringList words{"", "best>0.5", "sweep:2", "-sweep:none", "#1"};
            switch (*rc::gen::inRange(0, 4)) {
                case 0:
                    table.rows = anyRows(table.groups);
                    table.take();
                    break;
                case 1:
                    table.proxy.sort(kColumns[*rc::gen::inRange<std::size_t>(0, kColumns.size())],
                                     *rc::gen::element(Qt::AscendingOrder, Qt::DescendingOrder));
                    break;
                case 2: table.proxy.setFolded(*rc::gen::inRange(1, 4), *rc::gen::arbitrary<bool>()); break;
                default: table.proxy.setWords(words[*rc::gen::inRange<qsizetype>(0, words.size())]);
            }
            QCoreApplication::processEvents();  // sweeps move by the next turn
            RC_ASSERT(table.shown().toStdString() == gathered(table).toStdString());
        }
    }));
}

void TestTrialGroups::tenThousandTrials() {
    QUndoStack undo;
    TrialTableModel model(undo, [](const TrialEdits&) {});
    TrialFilterProxy proxy(model);
    TrialGroups groups;
    std::vector<TrialRow> rows;
    for (std::int64_t id = 10'000; id > 0; --id) {
        rows.push_back(rowOf(id, static_cast<double>(id * 7919 % 10'007) / 10'007));
        if (id % 10 != 0) groups.places[id] = {1 + id / 100, id % 30, id % 3};
    }
    for (std::int64_t id = 101; id > 0; --id)
        groups.sweeps.push_back(sweepOf(id, "", id % 2 == 0 ? GroupState::Finished : GroupState::Active));
    QElapsedTimer timer;
    const auto measured = [&](const char* what, auto&& work) {
        timer.start();
        work();
        QCoreApplication::processEvents();
        qInfo("%s: %lld ms", what, static_cast<long long>(timer.elapsed()));
    };
    measured("first rows", [&] { model.setGroups(groups), model.setRows(rows); });
    measured("sort", [&] { proxy.sort(kBestColumn, Qt::DescendingOrder); });
    measured("group", [&] { proxy.setGrouped(true); });
    QCOMPARE(proxy.trials(), 10'000);
    measured("sort in groups", [&] { proxy.sort(kIdColumn, Qt::DescendingOrder); });
    measured("fold", [&] { proxy.setFolded(51, true); });
    measured("the same rows", [&] { model.setRows(rows); });
    rows.front().bestAccuracy = 2;
    measured("one other row", [&] { model.setRows(rows); });
    measured("filter", [&] { proxy.setWords("sweep<50 best>0.5"); });
    QVERIFY(proxy.trials() > 1000 && proxy.trials() < 5000);
    measured("flat again", [&] { proxy.setGrouped(false); });
    QCOMPARE(proxy.trials(), proxy.rowCount());
}

QTEST_GUILESS_MAIN(TestTrialGroups)
#include "tst_trial_groups.moc"
