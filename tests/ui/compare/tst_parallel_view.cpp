#include <QLineEdit>
#include <QMenu>
#include <QSlider>

#include "tests/bench/made_sweep.h"
#include "tests/ui/compare/compare_desktop.h"
#include "ui/compare/parallel_view.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::CompareDesktop;

namespace {

constexpr int kTrials = 120;

// The page over a made sweep of twelve settings, and a person's hand on its parallel coordinates.
struct Hand : CompareDesktop {
    Hand() : CompareDesktop(false) {
        test::makeSweep(places.history(), {.trials = kTrials, .epochs = 3});
        open();
        (void)QTest::qWaitFor([&] { return rows() == kTrials && !view().plot().axes.empty(); }, 20'000);
        QCoreApplication::processEvents();  // the answers have their room then
    }

    ParallelView& view() const { return *page->findChild<ParallelView*>(); }
    const ParallelLayout& layout() const { return view().plot().layout; }
    std::size_t axis(const std::string& key) const {
        const auto& axes = view().plot().axes;
        return static_cast<std::size_t>(std::ranges::find(axes, key, [](const auto& each) { return each.axis().key; }) -
                                        axes.begin());
    }
    QStringList shown() const {
        QStringList keys;
        for (const ParallelAxis& each : view().plot().axes) keys << QString::fromStdString(each.axis().key);
        return keys;
    }
    QPointF at(const std::string& key, double place) const {
        return {layout().x[axis(key)], layout().y(static_cast<float>(place))};
    }
    QPointF title(const std::string& key) const { return layout().titleRoom(axis(key)).center(); }

    void press(QPointF at) const { QTest::mousePress(&view(), Qt::LeftButton, {}, at.toPoint()); }
    void release(QPointF at) const { QTest::mouseRelease(&view(), Qt::LeftButton, {}, at.toPoint()); }
    void move(QPointF at) const { QTest::mouseMove(&view(), at.toPoint()); }
    void click(QPointF at) const { press(at), release(at); }
    void drag(QPointF from, QPointF to) const {
        press(from);
        for (const double part : {0.3, 0.7, 1.0}) {
            const QPointF at = from + part * (to - from);
            QMouseEvent event(QEvent::MouseMove, at, view().mapToGlobal(at), Qt::NoButton, Qt::LeftButton, {});
            QCoreApplication::sendEvent(&view(), &event);
        }
        release(to);
    }
    // How many trials the table lets pass; by plain arithmetic.
    template <class Passes>
    int count(const std::string& key, Passes passes) const {
        const CompareTable& table = *view().scene()->table;
        const CompareAxis& axis = table.axes[*table.axisOf(key)];
        int count = 0;
        for (std::size_t row = 0; row < axis.values.size(); ++row)
            count += passes(axis.values[row], axis.absences[row]);
        return count;
    }
};

const std::string kRate = "learning_rate", kMomentum = "optimizer.momentum", kOptimizer = "optimizer";

}  // namespace

class TestParallelView : public QObject {
    Q_OBJECT
private slots:
    void init() { QStandardPaths::setTestModeEnabled(true); }

    void aBrushThatIsDraggedNarrowsTheListAndIsTakenBack() {
        Hand hand;
        QCOMPARE(hand.rows(), kTrials);
        hand.drag(hand.at(kRate, 0.25), hand.at(kRate, 0.75));
        const auto ranges = hand.selection->brushes().at(kRate).ranges;
        QCOMPARE(ranges.size(), std::size_t(1));
        QVERIFY(ranges[0].low > 9e-4 && ranges[0].high < 0.12);  // a quarter and three of 1e-4 … 1
        const int passing =
            hand.count(kRate, [&](double value, Absence) { return ranges[0].low <= value && value <= ranges[0].high; });
        QVERIFY(passing > kTrials / 4 && passing < 3 * kTrials / 4);
        QCOMPARE(hand.rows(), passing);
        hand.page->undoStack()->undo();  // one step, however often the pointer moved
        QCOMPARE(hand.rows(), kTrials);
        QVERIFY(!hand.page->undoStack()->canUndo());
    }

    void whileItIsDraggedAllViewsFollowAndEscapeDropsIt() {
        Hand hand;
        hand.press(hand.at(kRate, 0.2));
        const QPointF at = hand.at(kRate, 0.4);
        QMouseEvent event(QEvent::MouseMove, at, hand.view().mapToGlobal(at), Qt::NoButton, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&hand.view(), &event);
        QVERIFY(hand.rows() < kTrials);
        QCOMPARE(hand.layout().plot, hand.view().plot().layout.plot);
        QTest::keyClick(&hand.view(), Qt::Key_Escape);
        QCOMPARE(hand.rows(), kTrials);
        hand.release(at);
        QCOMPARE(hand.rows(), kTrials);
    }

    // A chip that appears must not move the axis away from under the pointer.
    void theViewStaysWhereItIsWhileABrushAppears() {
        Hand hand;
        QTRY_VERIFY(!hand.view().scene()->importance.empty());  // everything has come, and found its place
        QTest::qWait(50);
        const QPoint before = hand.view().mapTo(hand.page.get(), QPoint());
        hand.drag(hand.at(kRate, 0.2), hand.at(kRate, 0.4));
        QCoreApplication::processEvents();
        QCOMPARE(hand.view().mapTo(hand.page.get(), QPoint()), before);
        const auto* chip = hand.page->findChild<QToolButton*>("chip.learning_rate");
        QVERIFY(chip->visibleRegion().boundingRect().width() >= chip->sizeHint().width());  // its words are read
    }

    void severalBrushesOnOneAxisAndAnother() {
        Hand hand;
        hand.drag(hand.at(kRate, 0.1), hand.at(kRate, 0.3));
        const int first = hand.rows();
        hand.drag(hand.at(kRate, 0.7), hand.at(kRate, 0.9));
        QCOMPARE(hand.selection->brushes().at(kRate).ranges.size(), std::size_t(2));
        const int both = hand.rows();
        QVERIFY(both > first);
        hand.click(hand.at(kOptimizer, 0.5));  // the second of three
        QVERIFY(hand.rows() < both);
        hand.click(hand.at(kOptimizer, 0.5));
        QCOMPARE(hand.rows(), both);
        hand.click(hand.at(kRate, 0.8));  // on the second brush
        QCOMPARE(hand.rows(), first);
        QTest::keyClick(&hand.view(), Qt::Key_Escape);
        QCOMPARE(hand.rows(), kTrials);
    }

    void aBrushIsMovedByItsMiddleAndResizedByItsEnd() {
        Hand hand;
        hand.drag(hand.at(kRate, 0.2), hand.at(kRate, 0.5));
        const auto before = hand.selection->brushes().at(kRate).ranges[0];
        hand.drag(hand.at(kRate, 0.35), hand.at(kRate, 0.55));
        const auto moved = hand.selection->brushes().at(kRate).ranges[0];
        QVERIFY(moved.low > before.low && moved.high > before.high);
        const ParallelAxis& axis = hand.view().plot().axes[hand.axis(kRate)];
        hand.drag(hand.at(kRate, axis.place(moved.high)), hand.at(kRate, 1));
        const auto larger = hand.selection->brushes().at(kRate).ranges;
        QCOMPARE(larger.size(), std::size_t(1));
        QCOMPARE(larger[0].low, moved.low);
        QVERIFY(larger[0].high > moved.high);
    }

    void aSlotIsBrushedByAClick() {
        Hand hand;
        const int without = hand.count(kMomentum, [](double, Absence absence) { return absence == Absence::NotSet; });
        QVERIFY(without > 0 && without < kTrials);
        const QPointF slot(hand.layout().x[hand.axis(kMomentum)],
                           hand.layout().y(-static_cast<float>(Absence::NotSet)));
        hand.click(slot);
        QCOMPARE(hand.rows(), without);
        hand.click(slot);
        QCOMPARE(hand.rows(), kTrials);
    }

    void anAxisIsTurnedOverByAClickOnItsTitle() {
        Hand hand;
        const double low = hand.view().plot().axes[hand.axis(kRate)].place(1e-3);
        hand.click(hand.title(kRate));
        QVERIFY(hand.view().plot().axes[hand.axis(kRate)].isFlipped());
        QVERIFY(std::abs(hand.view().plot().axes[hand.axis(kRate)].place(1e-3) - (1 - low)) < 1e-9);
        hand.page->undoStack()->undo();
        QVERIFY(!hand.view().plot().axes[hand.axis(kRate)].isFlipped());
    }

    void anAxisIsMovedByItsTitleAndTheOrderIsKept() {
        Hand hand;
        const QStringList before = hand.shown();
        QCOMPARE(before.size(), 13);
        QCOMPARE(before.back(), QString("metric.test_accuracy"));
        const std::string first = before[0].toStdString();
        hand.drag(hand.title(first), QPointF(hand.layout().x[2], hand.title(first).y()));
        QCOMPARE(hand.shown().mid(0, 3), QStringList({before[1], before[2], before[0]}));
        QSettings settings(hand.folder.filePath("window.ini"), QSettings::IniFormat);
        hand.page->save(settings);
        hand.page->undoStack()->undo();
        QCOMPARE(hand.shown(), before);
        hand.open(0);
        hand.page->restore(settings);
        QTRY_COMPARE(hand.shown().mid(0, 3), QStringList({before[1], before[2], before[0]}));
    }

    void anAxisThatLeavesThePlotIsPutAwayAndTheMenuBringsItBack() {
        Hand hand;
        const QStringList before = hand.shown();
        hand.drag(hand.title(kRate), QPointF(hand.layout().x[1], -60));
        QVERIFY(!hand.shown().contains("learning_rate"));
        QMenu menu;
        hand.view().fillAxesMenu(menu);
        for (QAction* each : menu.actions())
            if (each->objectName() == "learning_rate" || each->objectName() == "metric.seconds") each->trigger();
        QVERIFY(hand.shown().contains("learning_rate") && hand.shown().contains("metric.seconds"));
        QCOMPARE(hand.shown().back(), before.back());
        while (hand.page->undoStack()->canUndo()) hand.page->undoStack()->undo();
        QCOMPARE(hand.shown(), before);
    }

    void onlyTheBestStayColouredAndTheListIsWhole() {
        Hand hand;
        hand.view().findChild<QSlider*>("parallelBest")->setValue(10);
        const auto valued =
            hand.count("metric.test_accuracy", [](double, Absence absence) { return absence == Absence::None; });
        QCOMPARE(std::ssize(coloured(hand.view().plot())), (valued + 9) / 10);
        QCOMPARE(hand.rows(), kTrials);
    }

    void aLineIsLitPinnedAndOpened() {
        Hand hand;
        // With the importance of settings their axes move.
        QTRY_VERIFY(!hand.view().scene()->importance.empty());
        QPointF middle;
        const auto isLit = [&] {
            const ParallelPlot& plot = hand.view().plot();
            const auto row = plot.drawOrder.back();
            const float from = plot.axes[4].places()[row], to = plot.axes[5].places()[row];
            middle = {(plot.layout.x[4] + plot.layout.x[5]) / 2, (plot.layout.y(from) + plot.layout.y(to)) / 2};
            hand.move(middle);
            return hand.selection->hovered().has_value();
        };
        std::int64_t lit = 0;
        const auto isPinned = [&] {
            if (!isLit()) return false;
            lit = *hand.selection->hovered();
            hand.click(middle);  // unless lines have moved since
            return hand.selection->placeOf(lit).has_value();
        };
        QTRY_VERIFY(isPinned());
        QSignalSpy opened(hand.page.get(), &ComparePage::openRequested);
        QTest::mouseDClick(&hand.view(), Qt::LeftButton, {}, middle.toPoint());
        QCOMPARE(opened.size(), 1);
        QCOMPARE(opened[0][0].toLongLong(), lit);
    }

    void theKeyboardDoesTheSame() {
        Hand hand;
        const QStringList before = hand.shown();
        const auto key = [&](Qt::Key which, Qt::KeyboardModifiers with = {}) {
            QTest::keyClick(&hand.view(), which, with);
        };
        key(Qt::Key_Right, Qt::ControlModifier);
        QCOMPARE(hand.shown().mid(0, 2), QStringList({before[1], before[0]}));
        key(Qt::Key_F);
        QVERIFY(hand.view().plot().axes[1].isFlipped());
        key(Qt::Key_Down, Qt::ShiftModifier);
        key(Qt::Key_Down, Qt::ShiftModifier);
        const int two = hand.rows();
        QVERIFY(two > 0 && two < kTrials);
        key(Qt::Key_Up, Qt::ShiftModifier);
        QVERIFY(hand.rows() <= two);
        key(Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(hand.rows(), kTrials);
        key(Qt::Key_Down);
        QCOMPARE(hand.selection->hovered(),
                 std::optional(hand.view().scene()->table->trials[hand.view().scene()->ranking[0]].trial));
        key(Qt::Key_Space);
        QCOMPARE(hand.selection->pinned().size(), std::size_t(1));
        key(Qt::Key_Delete);
        QCOMPARE(hand.shown().size(), before.size() - 1);
    }

    // An axis that is dragged to the end stands there, also where others have no room.
    void anAxisIsMovedToTheEndOfANarrowPlot() {
        Hand hand;
        hand.view().setFixedSize(380, 220);
        QCoreApplication::processEvents();
        const std::string first = hand.shown()[0].toStdString();
        hand.drag(hand.title(first), QPointF(hand.layout().x.back(), hand.title(first).y()));
        QCOMPARE(hand.shown().back(), QString::fromStdString(first));
    }

    void axesDoNotChangeTheirPlacesUnderThePointer() {
        Hand hand;
        const auto known = [&](std::size_t most) {
            auto scene = std::make_shared<CompareScene>(*hand.view().scene());
            scene->importance.assign(scene->table->axes.size(), 0.1);
            scene->importance[most] = 0.9;
            hand.view().setScene(scene);
        };
        known(2);
        const QStringList before = hand.shown();
        hand.view().setAttribute(Qt::WA_UnderMouse);
        known(3);
        QCOMPARE(hand.shown(), before);
        hand.view().setAttribute(Qt::WA_UnderMouse, false);
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(&hand.view(), &leave);
        QVERIFY(hand.shown() != before);
    }

    // Where there is no room for all axes, it says so.
    void aNarrowPlotSaysHowManyAxesFit() {
        Hand hand;
        hand.view().setFixedSize(380, 220);
        QCoreApplication::processEvents();
        const auto fit = hand.view().plot().axes.size();
        QVERIFY(fit >= 4 && fit < 13);
        QCOMPARE(hand.shown().back(), QString("metric.test_accuracy"));
        QVERIFY(hand.view().findChild<QToolButton*>("parallelAxes")->text().contains("13"));
        QVERIFY(hand.view().summary().contains(QString::number(kTrials)));
    }

    void whatItShowsIsWrittenDown() {
        Hand hand;
        const QStringList lines = QString::fromUtf8(hand.view().csv()).split("\r\n", Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), kTrials + 1);
        QVERIFY(lines[0].startsWith("trial,state,epoch,passes,") && lines[0].contains(",learning_rate,"));
        QCOMPARE(lines[1].count(','), lines[0].count(','));
    }
};

QTEST_MAIN(TestParallelView)
#include "tst_parallel_view.moc"
