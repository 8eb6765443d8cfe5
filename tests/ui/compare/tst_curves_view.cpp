#include <qcustomplot.h>

#include <QAction>
#include <QComboBox>
#include <QLineEdit>

#include "tests/history/history_support.h"
#include "tests/ui/compare/made_curves.h"
#include "ui/compare/compare_card.h"
#include "ui/compare/curve_panel.h"
#include "ui/compare/curves_view.h"
#include "ui/compare/target_list.h"
#include "ui/plot/plot_view.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;
using namespace lockstep::test;

namespace {

// The page over thirteen settings of three seeds each, of which the last was stopped; the curves alone.
class CurvesDesktop {
public:
    explicit CurvesDesktop(std::int64_t cells = 13) : desktop(false), made(*desktop.made, cells) {
        desktop.open(made.sweep());
        view = desktop.page->findChild<CurvesView*>();
        desktop.page->findChild<QToolButton*>("curvesEnlarge")->click();
        plot = desktop.page->findChildren<CurvePanel*>()[0]->findChild<PlotView*>();
        canvas = plot->findChild<QCustomPlot*>();
    }
    bool waitForLines(std::size_t series, std::size_t behind) const {
        return QTest::qWaitFor([&] { return lines() == std::pair(series, behind); }, 10'000);
    }
    std::pair<std::size_t, std::size_t> lines() const {
        return {plot->model().series().size(), plot->model().behind().size()};
    }
    const PlotSeries* lineOf(std::int64_t trial) const {
        for (const auto* all : {&plot->model().series(), &plot->model().behind()})
            for (const PlotSeries& each : *all)
                if (each.key == trial) return &each;
        return nullptr;
    }
    QPoint pixelOf(const PlotSeries& line, std::size_t i) const {
        const double x = line.curve->x(CurveAxis::Step, i) / line.stepsPerEpoch;
        return QPointF(canvas->xAxis->coordToPixel(x), canvas->yAxis->coordToPixel(line.curve->value(i))).toPoint();
    }
    int raised() const {
        int count = 0;
        for (int i = 0; i < canvas->graphCount(); ++i)
            count += canvas->graph(i)->layer()->name() == "overlay" && !canvas->graph(i)->data()->isEmpty();
        return count;
    }
    void choose(const char* box, const QVariant& value) const {
        auto* combo = desktop.page->findChild<QComboBox*>(box);
        combo->setCurrentIndex(combo->findData(value));
    }
    void trigger(const char* action) const { desktop.page->findChild<QAction*>(action)->trigger(); }
    void setTarget(const QString& text) const {
        auto* field = desktop.page->findChild<QLineEdit*>("compareTarget");
        field->setText(text);
        emit field->editingFinished();
    }

    CompareDesktop desktop;
    MadeCurves made;
    CurvesView* view = nullptr;
    PlotView* plot = nullptr;
    QCustomPlot* canvas = nullptr;
};

}  // namespace

class TestCurvesView : public QObject {
    Q_OBJECT
private slots:
    void init() { QStandardPaths::setTestModeEnabled(true); }

    void theTenBestHaveColoursAndTheOthersAreGreyBehind() {
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        const PlotSeries& best = desktop.plot->model().series()[0];
        QCOMPARE(best.key, qint64{36});  // of the twelfth setting, for the last was stopped
        QCOMPARE(best.curve->size(), std::size_t{6});
        QVERIFY(std::abs(best.curve->value(5) - MadeCurves::accuracyAt(11, 1, 6)) < 1e-12);
        QVERIFY(best.band.has_value());
        QVERIFY(desktop.lineOf(39)->endsOpen && desktop.lineOf(39)->curve->size() == 3);
        QVERIFY(desktop.view->summary().contains("13 settings") && desktop.view->summary().contains("#36"));
        QVERIFY(desktop.view->csv().count('\n') == 1 + 12 * 6 + 3);
    }

    void aCurveThatIsPointedAtIsLitEverywhereAndAClickPinsIt() {
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        const PlotSeries grey = *desktop.lineOf(3);
        QVERIFY(grey.color < 0);
        const auto isHoveredAt = [&](const QPoint& at) {
            QTest::mouseMove(desktop.canvas, at);
            return desktop.desktop.selection->hovered() == std::optional<std::int64_t>(3);
        };
        QTRY_VERIFY(isHoveredAt(desktop.pixelOf(grey, 4)));  // until everything has found its place
        const QPoint at = desktop.pixelOf(grey, 4);
        QCOMPARE(desktop.raised(), 2);  // its mean, and itself
        QTest::mousePress(desktop.canvas, Qt::LeftButton, {}, at);
        QTest::mouseRelease(desktop.canvas, Qt::LeftButton, {}, at);
        QTRY_COMPARE(desktop.desktop.selection->placeOf(3), std::optional(0));
        QVERIFY(desktop.waitForLines(1, 12));  // it alone has a colour
        QCOMPARE(desktop.lineOf(3)->color, std::int64_t{0});
        QTest::mousePress(desktop.canvas, Qt::LeftButton, {}, at);
        QTest::mouseRelease(desktop.canvas, Qt::LeftButton, {}, at);
        QTRY_VERIFY(!desktop.desktop.selection->placeOf(3));
    }

    void membersAndBandsAreShownOnDemand() {
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        desktop.trigger("curvesMembers");
        QVERIFY(desktop.waitForLines(10, 3 + 30));
        QCOMPARE(desktop.lineOf(34)->color, desktop.plot->model().series()[0].color);
        desktop.trigger("curvesExtremes");
        const auto high = [&] { return desktop.plot->model().series()[0].band->high->value(5); };
        QTRY_COMPARE(high(), MadeCurves::accuracyAt(11, 2, 6));
        desktop.trigger("curvesNoBand");
        QTRY_VERIFY(!desktop.plot->model().series()[0].band);
    }

    void theXAxisIsOneOfFive() {
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        const auto end = [&](PlotAxis axis) {
            desktop.choose("curvesAxis", static_cast<int>(axis));
            (void)QTest::qWaitFor([&] { return desktop.plot->model().axis() == axis; });
            return desktop.plot->model().fitX().high;
        };
        QCOMPARE(end(PlotAxis::Step), 60.0);
        QCOMPARE(end(PlotAxis::Epoch), 6.0);
        QCOMPARE(end(PlotAxis::Samples), 6 * 1280.0);
        QCOMPARE(end(PlotAxis::Time), 72.0);
        QCOMPARE(end(PlotAxis::DeviceTime), 144.0);
    }

    void aBrushLeavesTheSameTrialsAsInTheList() {
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        desktop.desktop.selection->brush("metric.test_accuracy", {.ranges = {{0.5, 0.56}}});
        QVERIFY(desktop.desktop.rows() > 0 && desktop.desktop.rows() < 12);
        QSet<qint64> listed, shown;
        QTRY_VERIFY(desktop.lines().first < 10 && desktop.lines().second == 0);
        const auto& table = *desktop.view->scene()->table;
        for (std::size_t row = 0; row < table.trials.size(); ++row)
            if (desktop.view->scene()->passes[row]) listed << table.trials[row].group;
        for (const PlotSeries& each : desktop.plot->model().series())
            shown << table.trials[*table.rowOf(each.key)].group;
        QCOMPARE(shown, listed);
        desktop.desktop.page->undoStack()->undo();
        QVERIFY(desktop.waitForLines(10, 3));
    }

    void aTargetRanksThemAndIsAnAxisOfAllViews() {
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        auto* list = desktop.desktop.page->findChild<TargetList*>();
        QVERIFY(!list->isVisible());
        desktop.setTarget("80 %");
        QTRY_COMPARE(list->count(), 13);
        QVERIFY(list->isVisible() && list->item(0)->text().startsWith("after epoch "));
        QVERIFY(list->item(12)->text().startsWith("> budget"));
        const auto axis = [&] { return desktop.view->scene()->table->axisOf(kTimeToTarget); };
        QTRY_VERIFY(axis());
        const auto& table = *desktop.view->scene()->table;
        int reached = 0;
        for (std::size_t row = 0; row < table.trials.size(); ++row) {
            const std::string seconds = ask(desktop.desktop.places.history(),
                                            "SELECT min(json_extract(json, '$.seconds')) FROM event WHERE kind ="
                                            " 'eval_done' AND json_extract(json, '$.accuracy') >= 0.8 AND trial = " +
                                                std::to_string(table.trials[row].trial));
            const double value = table.axes[*axis()].values[row];
            QCOMPARE(std::isfinite(value), !seconds.empty());
            if (!seconds.empty()) QCOMPARE(value, std::stod(seconds));
            reached += !seconds.empty();
        }
        QVERIFY(reached > 3);
        QVERIFY(desktop.view->summary().contains("target was reached by"));
        const auto lit = [&] {
            QStringList words;
            for (int row = 0; row < list->count(); ++row)
                if (list->item(row)->background().style() != Qt::NoBrush) words << list->item(row)->text();
            return words;
        };
        desktop.desktop.selection->setHovered(1);  // not its setting's best: the list has that one's number
        QTRY_COMPARE(lit().size(), 1);
        QVERIFY(lit().first().contains("#3 "));
        desktop.setTarget("");
        QTRY_COMPARE(list->count(), 0);
        QTRY_VERIFY(!axis());
    }

    void theMemoryOfADeviceIsAnAxis() {
        CurvesDesktop desktop;
        const auto axis = [&] {
            return desktop.view->scene() ? desktop.view->scene()->table->axisOf(kMemory) : std::nullopt;
        };
        QTRY_VERIFY(axis());
        const auto& table = *desktop.view->scene()->table;
        QCOMPARE(table.axes[*axis()].values.front(), 12'800.0);
        QCOMPARE(table.axes[*axis()].values.back(), 12'838.0);
    }

    // Of steps those in colour alone are read; one that is pointed at follows.
    void seriesOfStepsAreReadOfThoseThatAreShown() {
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        desktop.choose("curvesMetric", "loss");
        QVERIFY(desktop.waitForLines(10, 0));
        QCOMPARE(desktop.plot->model().series()[0].curve->size(), std::size_t{60});
        QVERIFY(desktop.plot->model().series()[0].smoothed);
        desktop.desktop.selection->setHovered(3);
        QVERIFY(desktop.waitForLines(10, 1));
    }

    void aSecondPlotFollowsTheCrosshair() {
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        auto* second = desktop.desktop.page->findChildren<CurvePanel*>()[1];
        QVERIFY(!second->isVisible());
        for (QAction* each : desktop.desktop.page->findChild<QMenu*>("curvesSecond")->actions())
            if (each->text() == "Test loss") each->trigger();
        QTRY_VERIFY(second->isVisible());
        QTRY_COMPARE(second->plot().model().series().size(), std::size_t{10});
        QTest::mouseMove(desktop.canvas, desktop.canvas->axisRect()->center());
        const auto readsOut = [&] {
            return std::ranges::any_of(second->findChildren<QLabel*>(), [](const QLabel* each) {
                return each->isVisible() && each->text().contains("epoch");
            });
        };
        QTRY_VERIFY(readsOut());
        QVERIFY(desktop.view->csv().contains("test_loss,"));
    }

    // From a narrow card to a wide window, light and dark.
    void theViewFitsItsCard() {
        auto& application = *static_cast<QApplication*>(QCoreApplication::instance());
        CurvesDesktop desktop;
        QVERIFY(desktop.waitForLines(10, 3));
        desktop.setTarget("80 %");
        auto* list = desktop.desktop.page->findChild<TargetList*>();
        QTRY_COMPARE(list->count(), 13);
        desktop.view->setParent(nullptr);
        for (const QSize size : {QSize(1200, 500), QSize(380, 220), QSize(1200, 500)}) {
            desktop.view->resize(size);
            desktop.view->show();
            QTRY_COMPARE(desktop.view->size(), size);
            QTRY_COMPARE(list->isVisible(), size.width() > 1000);
            QTRY_VERIFY(desktop.canvas->width() > size.width() / 2 && desktop.canvas->height() > size.height() / 2);
        }
        for (const ThemeChoice theme : {ThemeChoice::Dark, ThemeChoice::Light}) {
            applyTheme(application, theme);
            QTRY_COMPARE(desktop.plot->grab().toImage().pixelColor(3, 3), currentTheme().surface);
        }
        delete desktop.view;
    }
};

QTEST_MAIN(TestCurvesView)
#include "tst_curves_view.moc"
