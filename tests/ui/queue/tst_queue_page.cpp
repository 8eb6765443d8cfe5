#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>
#include <memory>

#include "app/words.h"
#include "tests/ui/queue/made_queue.h"
#include "ui/history/trial_selection.h"
#include "ui/queue/queue_page.h"
#include "ui/queue/queue_table.h"
#include "ui/queue/rung_picture.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::MadeQueue;

namespace {

Explanation inWords(const Problem& problem) {
    static const Words words;
    return {QString::fromStdString(words.what(problem)), QString::fromStdString(words.remedy(problem))};
}

// A home whose queue is made up, and the page over it.
class Bench {
public:
    Bench() {
        const std::filesystem::path base = folder.path().toStdString();
        places = {base, base / "cache", base / "sockets", base / "config"};
        if (!preparePlaces(places).ok()) qFatal("no home");
    }
    MadeQueue& make() {
        made = std::make_unique<MadeQueue>(places);
        made->keep();
        return *made;
    }
    void open() {
        history = std::make_unique<HistoryService>(places);
        feed = std::make_unique<QueueFeed>(history.get(), "/bin/true");
        page = std::make_unique<QueuePage>(history.get(), &selection, feed.get(), inWords);
        page->resize(1200, 760);
        page->show();
        page->activateWindow();  // a bare X server has no window manager to do it
        (void)QTest::qWaitForWindowActive(page.get());
    }
    QueueTable& table() const { return *page->findChild<QueueTable*>(); }
    std::vector<std::int64_t> trials() const {
        std::vector<std::int64_t> all;
        for (int row = 0; row < table().model()->rowCount(); ++row)
            all.push_back(table().model()->index(row, 0).data(QueueTableModel::TrialRole).toLongLong());
        return all;
    }
    QString cell(int row, int column) const { return table().model()->index(row, column).data().toString(); }
    QAction& action(const QString& id) const {
        for (QAction* each : page->commands()) {
            if (each->objectName() == "queue." + id) return *each;
        }
        qFatal("no command %s", qPrintable(id));
    }
    // Of the newest sweep that is shown.
    QString said(const char* label) const {
        for (const auto* each : page->findChildren<QLabel*>(label))
            if (each->isVisible()) return each->text();
        return {};
    }
    QPushButton* button(const char* name) const {
        for (auto* each : page->findChildren<QPushButton*>(name))
            if (each->isVisible()) return each;
        return nullptr;
    }
    // Of the row that is chosen. Its dialog, if it asks by one, is answered by whoever calls.
    void chooseFromMenu(const QString& id) const {
        QTimer::singleShot(100, qApp, [id] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (!menu) return;
            for (QAction* each : menu->actions()) {
                if (each->objectName() == id) menu->setActiveAction(each);
            }
            QTest::keyClick(menu, Qt::Key_Return);
        });
        emit table().customContextMenuRequested(table().visualRect(table().currentIndex()).center());
    }
    bool says(const QString& words) const {
        for (const auto* label : page->findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(words)) return true;
        return false;
    }
    QueueEntry entry(std::int64_t trial) const {
        const auto query = std::move(TrialQuery::open(places.history())).value();
        for (const QueueEntry& each : QueueQuery(*query).entries())
            if (each.trial == trial) return each;
        return {};
    }
    GroupState stateOf(std::int64_t group) const {
        const auto query = std::move(TrialQuery::open(places.history())).value();
        return QueueQuery(*query).group(group)->state;
    }

    QTemporaryDir folder;
    Places places;
    std::unique_ptr<MadeQueue> made;
    std::unique_ptr<HistoryService> history;
    std::unique_ptr<QueueFeed> feed;
    TrialSelection selection;
    std::unique_ptr<QueuePage> page;
};

using Order = std::vector<std::int64_t>;
using Column = QueueTableModel;

}  // namespace

// The page over a queue that is made up.
class TestQueuePage : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    void anEmptyQueueSaysHowToFillIt() {
        Bench bench;
        bench.open();
        QTRY_VERIFY(bench.says("Nothing is queued"));
        QVERIFY(bench.says("lockstep train --queue"));
        const QSignalSpy wanted(bench.page.get(), &Page::commandWanted);
        const auto way = [&]() -> QPushButton* {
            for (auto* each : bench.page->findChildren<QPushButton*>())
                if (each->isVisible() && each->text() == "Choose what to train") return each;
            return nullptr;
        };
        QTRY_VERIFY(way());
        way()->click();
        QCOMPARE(wanted.front().front().toString(), QString("page.train"));
        MadeQueue made(bench.places);
        made.wait("the first");
        QTRY_VERIFY(bench.table().isVisible());
    }

    // The window writes it; the page says where, and offers the command.
    void aSweepHasAReport() {
        Bench bench;
        bench.make().sweep("nets", 2);
        bench.open();
        QTRY_VERIFY(bench.button("reportSweep"));
        const QSignalSpy asked(bench.page.get(), &QueuePage::reportRequested);
        bench.button("reportSweep")->click();
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked.front().front().toLongLong(), 1);
        bench.page->showWritten("/tmp/my nets.html", {"report", "1", "--html", "/tmp/my nets.html"});
        QVERIFY(bench.says("Written to /tmp/my nets.html"));
        bench.button("copyQueueCommand")->click();
        QCOMPARE(QApplication::clipboard()->text(), QString("lockstep report 1 --html '/tmp/my nets.html'"));
        bench.button("pauseSweep")->click();
        QTRY_VERIFY(bench.says("lockstep sweeps 1 --pause"));
        bench.button("copyQueueCommand")->click();
        QCOMPARE(QApplication::clipboard()->text(), QString("lockstep sweeps 1 --pause"));
    }

    void theQueueIsShown() {
        Bench bench;
        MadeQueue& made = bench.make();
        QueueEntry heldBack;
        heldBack.held = true;
        const auto waits = made.wait("waits"), held = made.wait("held back", heldBack);
        const auto after = made.wait("comes after"), runs = made.run("runs", 3);
        made.queue().setAfter(after, runs);
        made.queue().setPriority(waits, 2);
        bench.open();
        QTRY_COMPARE(bench.trials(), (Order{runs, waits, held, after}));
        QCOMPARE(bench.cell(0, Column::StateColumn), QString("running, epoch 3 of 10"));
        QCOMPARE(bench.cell(1, Column::StateColumn), QString("waits for its turn"));
        QCOMPARE(bench.cell(1, Column::PriorityColumn), QString("2"));
        QCOMPARE(bench.cell(2, Column::StateColumn), QString("held"));
        QCOMPARE(bench.cell(3, Column::StateColumn), QString("after trial %1").arg(runs));
        QCOMPARE(bench.cell(3, Column::TitleColumn), QString("comes after"));
        QCOMPARE(bench.said("queueCount"), QString("1 running, 2 waiting, 1 held"));
        QVERIFY(!bench.says("Sweeps"));  // there are none

        const QSignalSpy opened(bench.page.get(), &QueuePage::openRequested);
        const auto at = bench.table().visualRect(bench.table().model()->index(1, Column::StateColumn)).center();
        QTest::mouseClick(bench.table().viewport(), Qt::LeftButton, {}, at);
        QTest::mouseDClick(bench.table().viewport(), Qt::LeftButton, {}, at);
        QCOMPARE(opened.count(), 1);
        QCOMPARE(opened.front().front().toLongLong(), waits);
    }

    void trialsAreMovedByKeys() {
        Bench bench;
        MadeQueue& made = bench.make();
        for (const char* title : {"one", "two", "three", "four"}) made.wait(title);
        bench.open();
        QTRY_COMPARE(bench.trials(), (Order{1, 2, 3, 4}));
        bench.table().setFocus();
        bench.table().choose(3);
        QTest::keyClick(&bench.table(), Qt::Key_Up, Qt::AltModifier);
        QTRY_COMPARE(bench.trials(), (Order{1, 3, 2, 4}));
        QCOMPARE(bench.table().chosen(), ChosenTrials{3});
        QTest::keyClick(&bench.table(), Qt::Key_Down, Qt::AltModifier);
        QTRY_COMPARE(bench.trials(), (Order{1, 2, 3, 4}));
        QTest::keyClick(&bench.table(), Qt::Key_Home, Qt::AltModifier);
        QTRY_COMPARE(bench.trials(), (Order{3, 1, 2, 4}));
        QTest::keyClick(&bench.table(), Qt::Key_End, Qt::AltModifier);
        QTRY_COMPARE(bench.trials(), (Order{1, 2, 4, 3}));
        bench.action("priority-up").trigger();
        QTRY_COMPARE(bench.trials(), (Order{3, 1, 2, 4}));
        QTRY_COMPARE(bench.cell(0, Column::PriorityColumn), QString("1"));
    }

    void trialsAreMovedByDragging() {
        Bench bench;
        MadeQueue& made = bench.make();
        made.run("runs", 1);
        for (const char* title : {"one", "two", "three"}) made.wait(title);
        bench.open();
        QTRY_COMPARE(bench.trials(), (Order{1, 2, 3, 4}));
        auto& model = *bench.table().model();
        const std::unique_ptr<QMimeData> dragged(model.mimeData({model.index(3, 0)}));
        QVERIFY(model.dropMimeData(dragged.get(), Qt::MoveAction, 1, 0, {}));
        QTRY_COMPARE(bench.trials(), (Order{1, 4, 2, 3}));
        QVERIFY(bench.says("lockstep queue before 4 2"));
        QTest::mouseClick(bench.button("copyQueueCommand"), Qt::LeftButton);
        QCOMPARE(QApplication::clipboard()->text(), QString("lockstep queue before 4 2"));
    }

    void severalAreHeldReleasedAndCancelled() {
        Bench bench;
        MadeQueue& made = bench.make();
        for (const char* title : {"one", "two", "three"}) made.wait(title);
        bench.open();
        QTRY_COMPARE(bench.trials(), (Order{1, 2, 3}));
        bench.table().clearSelection();
        for (const char* id : {"open", "hold", "release", "up", "down", "first", "last", "priority-up", "cancel"})
            QVERIFY2(!bench.action(id).isEnabled(), id);  // nothing is chosen
        QVERIFY(bench.action("copy-command").isEnabled());
        bench.action("copy-command").trigger();
        QCOMPARE(QApplication::clipboard()->text(), QString("lockstep queue"));

        bench.table().selectRow(0);
        bench.table().selectionModel()->select(bench.table().model()->index(1, 0),
                                               QItemSelectionModel::Select | QItemSelectionModel::Rows);
        QVERIFY(bench.action("hold").isEnabled() && !bench.action("release").isEnabled());
        QVERIFY(!bench.action("open").isEnabled() && !bench.action("up").isEnabled());
        bench.action("hold").trigger();
        QTRY_COMPARE(bench.cell(1, Column::StateColumn), QString("held"));
        QVERIFY(bench.entry(1).held && bench.entry(2).held && !bench.entry(3).held);
        bench.action("copy-command").trigger();
        QCOMPARE(QApplication::clipboard()->text(), QString("lockstep queue hold 1\nlockstep queue hold 2"));
        QTRY_VERIFY(bench.action("release").isEnabled() && !bench.action("hold").isEnabled());
        bench.action("release").trigger();
        QTRY_COMPARE(bench.cell(0, Column::StateColumn), QString("waits for its turn"));
        bench.action("cancel").trigger();
        QTRY_COMPARE(bench.trials(), Order{3});
        const auto query = std::move(TrialQuery::open(bench.places.history())).value();
        QCOMPARE(query->find(1)->state, std::string("cancelled"));
    }

    // By the table's menu; of the others, all but the one that waits for this one.
    void aTrialRunsAfterAnother() {
        Bench bench;
        MadeQueue& made = bench.make();
        const auto runs = made.run("runs", 3);
        for (const char* title : {"one", "", "three"}) made.wait(title);
        made.queue().setAfter(4, 3);
        bench.open();
        QTRY_COMPARE(bench.trials(), (Order{runs, 2, 3, 4}));
        bench.table().choose(3);
        QVERIFY(bench.action("after").isEnabled() && !bench.action("not-after").isEnabled());
        QStringList offered;
        QTimer::singleShot(300, qApp, [&] {
            auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
            if (!dialog) return;
            offered = dialog->comboBoxItems();
            dialog->setTextValue(offered.value(1));
            dialog->accept();
        });
        bench.chooseFromMenu("queue.after");
        QCOMPARE(offered, (QStringList{"1: runs", "2: one"}));
        QTRY_COMPARE(bench.cell(2, Column::StateColumn), QString("after trial 2"));
        QCOMPARE(bench.entry(3).after, std::optional<std::int64_t>(2));
        QVERIFY(bench.says("lockstep queue after 3 2"));
        QVERIFY(bench.action("not-after").isEnabled());
        bench.chooseFromMenu("queue.not-after");
        QTRY_COMPARE(bench.cell(2, Column::StateColumn), QString("waits for its turn"));
        QVERIFY(!bench.entry(3).after);
        QVERIFY(bench.says("lockstep queue after 3 0"));
        bench.table().choose(runs);
        QVERIFY(!bench.action("after").isEnabled());
    }

    // A history that was refused before there was a page.
    void whatCannotBeReadIsSaidToALatePage() {
        Bench bench;
        QDir().mkpath(QString::fromStdString(bench.places.history().string()));  // no file
        bench.history = std::make_unique<HistoryService>(bench.places);
        const QSignalSpy refused(bench.history.get(), &HistoryService::unreadable);
        bench.history->setWatching(true);
        QTRY_COMPARE(refused.size(), 1);
        bench.feed = std::make_unique<QueueFeed>(bench.history.get(), "/bin/true");
        bench.page = std::make_unique<QueuePage>(bench.history.get(), &bench.selection, bench.feed.get(), inWords);
        bench.page->show();
        QVERIFY(bench.says("The history cannot be read"));
    }

    // A trial that has left the queue meanwhile is said, and the others are held all the same.
    void whatIsGoneIsSaid() {
        Bench bench;
        MadeQueue& made = bench.make();
        for (const char* title : {"one", "two"}) made.wait(title);
        bench.open();
        QTRY_COMPARE(bench.trials(), (Order{1, 2}));
        bench.table().selectAll();
        made.queue().remove(1);
        bench.action("hold").trigger();
        QTRY_VERIFY(bench.says("Trial 1 is not in the queue"));
        QTRY_COMPARE(bench.trials(), Order{2});
        QTRY_COMPARE(bench.cell(0, Column::StateColumn), QString("held"));
    }

    void sweepsHaveCards() {
        Bench bench;
        MadeQueue& made = bench.make();
        const auto group = made.sweep("how wide", 4);
        const auto best = made.finish("one", 0.91, GroupPlace{group, 0, 0});
        made.finish("other", 0.85, GroupPlace{group, 1, 0});
        made.fail("third", GroupPlace{group, 2, 0});
        made.run("fourth", 2, GroupPlace{group, 3, 0});
        const auto ended = made.sweep("long ago", 0);
        made.queue().setGroupState(ended, GroupState::Finished);
        bench.open();
        QTRY_COMPARE(bench.said("sweepTitle"), QString("Sweep 1: how wide"));
        QCOMPARE(bench.said("sweepProgress"),
                 QString("2 of 12 trials finished, 1 running, 1 failed, about 17 min 36 s left"));
        QCOMPARE(bench.said("sweepBest"), QString("Best test accuracy 91.00 %"));
        QCOMPARE(bench.said("sweepBestCell"), QString("batch=32 learning_rate=0.01"));
        QVERIFY(bench.said("sweepDisk").startsWith("takes about "));
        QVERIFY(bench.said("sweepState").contains("active"));

        const QSignalSpy opened(bench.page.get(), &QueuePage::openRequested);
        const QSignalSpy wanted(bench.page.get(), &QueuePage::trialsRequested);
        QCOMPARE(bench.button("openBestTrial")->text(), QString("Open the best: trial %1").arg(best));
        QTest::mouseClick(bench.button("openBestTrial"), Qt::LeftButton);
        QTest::mouseClick(bench.button("showInTrials"), Qt::LeftButton);
        QCOMPARE(opened.value(0).value(0).toLongLong(), best);
        QCOMPARE(wanted.value(0).value(0).toLongLong(), group);

        QVERIFY(!bench.says("long ago"));
        bench.button("showEndedSweeps")->click();
        QTRY_VERIFY(bench.says("Sweep 2: long ago"));
        QVERIFY(bench.action("show-ended").isChecked());
        bench.action("show-ended").trigger();
        QVERIFY(!bench.says("Sweep 2: long ago"));
    }

    // Rungs at 1, 3 and 10 epochs.
    void rungsAreAPicture() {
        Bench bench;
        MadeQueue& made = bench.make();
        const auto group = made.sweep("how wide", 4, "asha");
        for (const std::int64_t cell : {0, 1, 2})
            made.pause(cell == 0 ? 3 : 1, 0.9 - 0.1 * static_cast<double>(cell), GroupPlace{group, cell, 0});
        made.wait("next", {}, GroupPlace{group, 3, 0});
        bench.open();
        QTRY_VERIFY(bench.button("pauseSweep"));
        auto* picture = bench.page->findChild<RungPicture*>();
        QVERIFY(picture && picture->isVisible() && !picture->accessibleName().isEmpty());
        QVERIFY(picture->focusPolicy() & Qt::TabFocus);
        QCOMPARE(picture->accessibleDescription(), QString("Rung 1 of 3, 1 epoch: 3 cells have come there, 1 went on\n"
                                                           "Rung 2 of 3, 3 epochs: 1 cell has come there, 0 went on\n"
                                                           "Rung 3 of 3, 10 epochs: 0 cells have come there"));
        picture->clearFocus();  // whose frame has that colour, too
        const QColor accent = currentTheme().accent;
        const QImage drawn = picture->grab().toImage();
        const auto accents = [&](int from, int to) {
            int count = 0;
            for (int x = from; x < to; ++x)
                for (int y = 0; y < drawn.height(); ++y) count += drawn.pixelColor(x, y) == accent ? 1 : 0;
            return count;
        };
        QVERIFY(accents(10, 70) > 0);   // some went on from the first
        QCOMPARE(accents(94, 160), 0);  // and none from the second
    }

    void sweepsObey() {
        Bench bench;
        MadeQueue& made = bench.make();
        const auto group = made.sweep("how wide", 1);
        const auto trial = made.wait("one", {}, GroupPlace{group, 0, 0});
        bench.open();
        QTRY_VERIFY(bench.button("pauseSweep"));
        QVERIFY(!bench.button("continueSweep") && !bench.button("retrySweep"));
        QTest::mouseClick(bench.button("pauseSweep"), Qt::LeftButton);
        QTRY_VERIFY(bench.button("continueSweep"));
        QCOMPARE(bench.stateOf(group), GroupState::Paused);
        QTRY_COMPARE(bench.cell(0, Column::StateColumn), QString("its sweep is paused"));
        QVERIFY(bench.says("lockstep sweeps 1 --pause"));
        QTest::mouseClick(bench.button("continueSweep"), Qt::LeftButton);
        QTRY_VERIFY(bench.button("pauseSweep"));

        QTimer::singleShot(300, qApp, [] {
            auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
            if (!dialog) return;
            dialog->setIntValue(40);
            dialog->accept();
        });
        QTest::mouseClick(bench.button("extendSweep"), Qt::LeftButton);
        QTRY_VERIFY(bench.said("sweepProgress").startsWith("0 of 40 trials finished"));

        QTest::mouseClick(bench.button("cancelSweep"), Qt::LeftButton);
        QTRY_COMPARE(bench.stateOf(group), GroupState::Cancelled);
        QTRY_COMPARE(bench.trials(), Order{});
        QTest::mouseClick(bench.button("showEndedSweeps"), Qt::LeftButton);
        QTRY_VERIFY(bench.button("retrySweep"));
        QTest::mouseClick(bench.button("retrySweep"), Qt::LeftButton);
        QTRY_COMPARE(bench.trials(), Order{trial});
        QCOMPARE(bench.stateOf(group), GroupState::Active);
    }

    void aQueueThatNobodyStartsIsSaid() {
        Bench bench;
        MadeQueue& made = bench.make();
        made.letGo();
        made.wait("one");
        bench.open();
        QTRY_COMPARE(bench.trials(), Order{1});
        QVERIFY(!bench.button("startQueue"));  // it may be about to come
        QTRY_VERIFY_WITH_TIMEOUT(bench.button("startQueue"), 10'000);
        QVERIFY(bench.action("start").isEnabled());
        made.keep();
        QTest::mouseClick(bench.button("startQueue"), Qt::LeftButton);
        QTRY_VERIFY(!bench.button("startQueue"));
        QTest::qWait(3500);
        QVERIFY(!bench.button("startQueue"));
    }

    // Of 1024 x 640, beside the window's navigation.
    void aSmallWindowIsEnough() {
        Bench bench;
        MadeQueue& made = bench.make();
        const auto group = made.sweep("how wide", 2);
        made.finish("one", 0.91, GroupPlace{group, 0, 0});
        made.fail("other", GroupPlace{group, 1, 0});
        made.wait("two");
        bench.open();
        QTRY_VERIFY(bench.button("retrySweep") && bench.button("openBestTrial"));
        const QSize least = bench.page->minimumSizeHint();
        QVERIFY2(least.width() <= 876 && least.height() <= 600,
                 qPrintable(QString("%1 x %2").arg(least.width()).arg(least.height())));
        bench.page->resize(876, 600);
        QTest::qWait(50);
        for (const char* name :
             {"pauseSweep", "cancelSweep", "retrySweep", "extendSweep", "openBestTrial", "showInTrials"}) {
            const auto* button = bench.button(name);
            const QPoint end = button->mapTo(bench.page.get(), QPoint(button->width(), 0));
            QVERIFY2(button->width() >= button->sizeHint().width() && end.x() <= 876, name);
        }
    }

    void controlsHaveNames() {
        Bench bench;
        MadeQueue& made = bench.make();
        made.wait("one");
        made.sweep("how wide", 0);
        bench.open();
        QTRY_VERIFY(bench.button("pauseSweep"));
        for (QAction* each : bench.page->commands())
            QVERIFY2(!each->text().isEmpty() && !each->toolTip().isEmpty(), qPrintable(each->objectName()));
        for (const auto* each : bench.page->findChildren<QPushButton*>())
            QVERIFY2(!each->isVisible() || !each->text().isEmpty(), qPrintable(each->objectName()));
        QCOMPARE(bench.button("pauseSweep")->accessibleName(), QString("Pause: sweep 1"));
        QVERIFY(!bench.table().accessibleName().isEmpty());
    }
};

QTEST_MAIN(TestQueuePage)
#include "tst_queue_page.moc"
