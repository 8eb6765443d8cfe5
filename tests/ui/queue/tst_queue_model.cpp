#include <QAbstractItemModelTester>
#include <QMimeData>
#include <QPersistentModelIndex>
#include <QtTest>
#include <memory>

#include "ui/queue/queue_table_model.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

using Model = QueueTableModel;

QueueRow row(std::int64_t trial, bool isRunning = false) {
    QueueRow made;
    made.line.entry.trial = trial;
    made.line.row.id = trial;
    made.line.row.title = "trial\t" + std::to_string(trial);
    made.line.row.model = "mlp";
    made.line.row.devices = "cpu:1";
    made.line.row.state = isRunning ? "running" : "queued";
    made.line.isRunning = isRunning;
    return made;
}

// What is dragged in a view of the model, dropped at a row.
struct Dropped {
    bool taken = false;
    ChosenTrials trials;
    qint64 before = -1;
};
Dropped drop(Model& model, const QList<int>& rows, int at) {
    Dropped result;
    QObject listener;
    QObject::connect(&model, &Model::moveWanted, &listener, [&](const ChosenTrials& trials, qint64 before) {
        result.trials = trials;
        result.before = before;
    });
    QModelIndexList indexes;
    for (const int each : rows)
        for (int column = 0; column < Model::ColumnCount; ++column) indexes << model.index(each, column);
    const std::unique_ptr<QMimeData> dragged(model.mimeData(indexes));
    result.taken = model.dropMimeData(dragged.get(), Qt::MoveAction, at, at < 0 ? -1 : 0, {});
    return result;
}

}  // namespace

class TestQueueModel : public QObject {
    Q_OBJECT
private slots:
    void cellsSayWhatThereIs() {
        Model model;
        QueueRow second = row(8);
        second.line.entry.place = GroupPlace{3, 1, 0};
        second.line.entry.priority = 5;
        second.line.reason = WaitReason::Held;
        model.setRows({row(7, true), second});
        const auto cell = [&](int at, int column) { return model.index(at, column).data().toString(); };
        QCOMPARE(cell(0, Model::TrialColumn), QString("7"));
        QCOMPARE(cell(0, Model::StateColumn), QString("running"));
        QCOMPARE(cell(0, Model::SweepColumn), QString());
        QCOMPARE(cell(1, Model::StateColumn), QString("held"));
        QCOMPARE(cell(1, Model::SweepColumn), QString("3"));
        QCOMPARE(cell(1, Model::PriorityColumn), QString("5"));
        QCOMPARE(cell(1, Model::ModelColumn), QString("mlp"));
        QCOMPARE(cell(1, Model::DevicesColumn), QString("cpu:1"));
        QCOMPARE(cell(1, Model::TitleColumn), QString("trial 8"));
        QVERIFY(model.index(0, 0).data(Model::ShareRole).isValid() &&
                !model.index(1, 0).data(Model::ShareRole).isValid());
        for (int column = 0; column < Model::ColumnCount; ++column) {
            QVERIFY(!model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString().isEmpty());
            QVERIFY(!model.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
        }
    }

    // What is selected stays, whatever comes, goes and moves.
    void rowsKeepTheirIdentity() {
        Model model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setRows({row(1), row(2), row(3), row(4)});
        const QPersistentModelIndex third(model.index(2, Model::TitleColumn));
        model.setRows({row(3), row(1), row(2), row(4)});
        QCOMPARE(third.row(), 0);
        model.setRows({row(5), row(4), row(3)});
        QCOMPARE(third.row(), 2);
        QCOMPARE(third.data().toString(), QString("trial 3"));
        model.setRows({row(3, true), row(5), row(4)});
        QCOMPARE(third.row(), 0);
        QCOMPARE(model.rowCount(), 3);
        model.setRows({row(5)});
        QVERIFY(!third.isValid());
        model.setRows({});
        QCOMPARE(model.rowCount(), 0);
    }

    void whatWaitsIsDragged() {
        Model model;
        model.setRows({row(7, true), row(1), row(2), row(3)});
        QVERIFY(!model.flags(model.index(0, 0)).testFlag(Qt::ItemIsDragEnabled));
        QVERIFY(model.flags(model.index(1, 0)).testFlag(Qt::ItemIsDragEnabled));
        QVERIFY(!model.flags(model.index(1, 0)).testFlag(Qt::ItemIsDropEnabled));  // between rows, not onto one
        QVERIFY(model.flags({}).testFlag(Qt::ItemIsDropEnabled));

        const Dropped up = drop(model, {3}, 1);
        QVERIFY(up.taken && up.trials == ChosenTrials{3} && up.before == 1);
        const Dropped both = drop(model, {1, 2}, 4);
        QVERIFY(both.taken && both.trials == (ChosenTrials{1, 2}) && both.before == 0);
        QCOMPARE(drop(model, {1}, -1).before, 0);    // below all rows
        QCOMPARE(drop(model, {1, 2}, 2).before, 3);  // within what is dragged: before what follows
        QVERIFY(!drop(model, {1}, 0).taken);         // before what runs
        QCOMPARE(model.trialAt(1), 1);               // nothing moves before the queue says so
        const QMimeData strange;
        QVERIFY(!model.canDropMimeData(&strange, Qt::MoveAction, 2, 0, {}));
    }
};

QTEST_APPLESS_MAIN(TestQueueModel)
#include "tst_queue_model.moc"
