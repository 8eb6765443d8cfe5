#include <qcustomplot.h>

#include <QApplication>
#include <QClipboard>
#include <QMimeData>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>
#include <cmath>
#include <limits>

#include "ui/views/plot_view.h"

using namespace lockstep::ui;

namespace {

std::vector<PlotSeries> twoCurves() {
    auto train = std::make_shared<Curve>(), test = std::make_shared<Curve>();
    for (int i = 1; i <= 1000; ++i) train->append(i, i * 0.1, 2.0 / i + 0.1 * std::sin(i));
    for (int i = 1; i <= 10; ++i) test->append(i * 100, i * 10 + 1, 1.0 / i);
    return {{"train", train, 0, Marker::Circle, 100, true}, {"test", test, 1, Marker::Square, 100, false}};
}

struct Shown {
    explicit Shown() : view({"Loss", "nothing yet", {}, {}, {}}) {
        view.resize(600, 300);
        view.setSeries(twoCurves());
        view.show();
        (void)QTest::qWaitForWindowExposed(&view);
        QTest::qWait(20);
        plot = view.findChild<QCustomPlot*>();
    }
    PlotView view;
    QCustomPlot* plot = nullptr;
};

}  // namespace

class TestPlot : public QObject {
    Q_OBJECT
private slots:
    void rangesFitWhatIsShown() {
        PlotModel model;
        QVERIFY(model.empty());
        model.setSeries(twoCurves());
        QCOMPARE(model.fitX().low, 1.0);
        QCOMPARE(model.fitX().high, 1000.0);
        QVERIFY(model.fitY({500, 1000}).high < 0.3);
        model.setHidden(0, true);
        QCOMPARE(model.fitX().low, 100.0);
        model.setAxis(PlotAxis::Epoch);
        QCOMPARE(model.fitX().high, 10.0);
        model.setAxis(PlotAxis::Time);
        QCOMPARE(model.fitX().high, 101.0);
    }

    void aLogarithmicAxisLeavesOutWhatItCannotShow() {
        auto curve = std::make_shared<Curve>();
        for (const double value : {10.0, 1.0, 0.0, -1.0, 0.1})
            curve->append(static_cast<double>(curve->size()), 0, value);
        PlotModel model;
        model.setSeries({{"a", curve, 0, Marker::Circle, 0, true}});
        model.setLog(true);
        QCOMPARE(model.draw(0, {0, 10}, 100).line.size(), std::size_t{3});
        QVERIFY(model.fitY({0, 10}).low > 0);
        const PlotRange zoomed = PlotModel::zoomed({0.01, 100}, 1, 0.5, true);
        QVERIFY(std::abs(zoomed.low - 0.1) < 1e-9 && std::abs(zoomed.high - 10) < 1e-9);
    }

    void smoothingKeepsAGhost() {
        PlotModel model;
        model.setSeries(twoCurves());
        QVERIFY(model.draw(0, {1, 1000}, 200).ghost.empty());
        model.setSmoothing(0.9);
        QVERIFY(!model.draw(0, {1, 1000}, 200).ghost.empty());
        QVERIFY(model.draw(1, {1, 1000}, 200).ghost.empty());        // evaluations are means already
        const auto readings = model.readings(500.4);
        QCOMPARE(readings.size(), std::size_t{2});
        QCOMPARE(readings[0].x, 500.0);
        QVERIFY(readings[0].value != readings[0].raw);
        QCOMPARE(readings[1].value, 1.0 / 5);
    }

    void whatIsHiddenStaysHiddenWhileCurvesComeAndGo() {
        PlotModel model;
        model.setSeries(twoCurves());
        model.setHidden(1, true);
        auto more = twoCurves();
        more.push_back({"other", std::make_shared<Curve>(), 2, Marker::Triangle, 0, true});
        model.setSeries(std::move(more));
        QVERIFY(!model.hidden(0) && model.hidden(1) && !model.hidden(2));
    }

    void theTableIsWhatIsVisible() {
        PlotModel model;
        model.setSeries(twoCurves());
        const auto lines = QString(model.csv({100, 300})).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 1 + 201 + 3);
        QCOMPARE(lines.first(), QString("series,step,seconds,value,smoothed"));
        QVERIFY(lines.last().startsWith("\"test\",300,31,0.333333333333,"));
        QVERIFY(model.summary([](double v) { return QString::number(v); }).contains("test: 10 points, from 1 to 0.1"));
    }

    void wheelBandAndDoubleClick() {
        Shown shown;
        const QPoint middle = shown.plot->axisRect()->center();
        const double before = shown.plot->xAxis->range().size();
        QWheelEvent wheel(middle, shown.plot->mapToGlobal(middle), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(shown.plot, &wheel);
        QVERIFY(std::abs(shown.plot->xAxis->range().size() - 0.8 * before) < 1e-6 * before);
        QTest::keyClick(shown.plot, Qt::Key_0);
        QCOMPARE(shown.plot->xAxis->range().size(), before);

        const QRect box = shown.plot->axisRect()->rect();
        const double from = shown.plot->xAxis->pixelToCoord(box.left() + 100),
                     to = shown.plot->xAxis->pixelToCoord(box.left() + 200);
        QTest::mousePress(shown.plot, Qt::LeftButton, {}, box.topLeft() + QPoint(100, 20));
        QTest::mouseMove(shown.plot, box.topLeft() + QPoint(150, 60));
        QTest::mouseMove(shown.plot, box.topLeft() + QPoint(200, 100));
        QTest::mouseRelease(shown.plot, Qt::LeftButton, {}, box.topLeft() + QPoint(200, 100));
        QVERIFY2(std::abs(shown.plot->xAxis->range().lower - from) < 5,
                 qPrintable(QString::number(shown.plot->xAxis->range().lower)));
        QVERIFY(std::abs(shown.plot->xAxis->range().upper - to) < 5);
        QTest::mouseDClick(shown.plot, Qt::LeftButton, {}, middle);
        QCOMPARE(shown.plot->xAxis->range().size(), before);
    }

    void theLegendHides() {
        Shown shown;
        const auto buttons = shown.view.findChildren<QToolButton*>();
        QCOMPARE(buttons.size(), 2);
        QVERIFY(buttons[0]->text().startsWith("train"));
        for (const auto* button : buttons)
            QVERIFY(!button->accessibleName().isEmpty() && button->focusPolicy() != Qt::NoFocus);
        QTest::mouseClick(buttons[0], Qt::LeftButton);
        QVERIFY(shown.view.model().hidden(0));
        QCOMPARE(shown.plot->xAxis->range().lower, 100.0);
    }

    void thePointerReadsAllCurves() {
        Shown shown;
        QSignalSpy hovered(&shown.view, &PlotView::hovered);
        QTest::mouseMove(shown.plot, shown.plot->axisRect()->center());
        QTRY_VERIFY(!hovered.isEmpty());
        shown.view.setCrosshair(500.0);
        bool read = false;
        for (const auto* label : shown.plot->findChildren<QLabel*>()) {
            read = read || (label->isVisible() && label->text().contains("train") && label->text().contains("0.2000"));
        }
        QVERIFY(read);
        QVERIFY(shown.plot->accessibleDescription().contains("train: 1000 points"));
    }

    void picturesAndTablesAreSaved() {
        Shown shown;
        QTemporaryDir folder;
        for (const char* name : {"plot.png", "plot.svg", "plot.csv"}) QVERIFY(shown.view.saveTo(folder.filePath(name)));
        QCOMPARE(QImage(folder.filePath("plot.png")).size(), shown.plot->size() * 2);
        QFile svg(folder.filePath("plot.svg"));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        const QByteArray drawn = svg.readAll();
        QVERIFY(drawn.contains("<svg") && drawn.contains("train") && drawn.contains("Loss"));
        QVERIFY(!shown.view.saveTo("/nowhere/plot.png"));
        QTest::keyClick(shown.plot, Qt::Key_C, Qt::ControlModifier);
        QTRY_VERIFY(QApplication::clipboard()->mimeData()->hasImage());
        shown.view.copyData();
        QVERIFY(QApplication::clipboard()->text().startsWith("series,step"));
    }

    void theThemeIsFollowed() {
        auto& application = *static_cast<QApplication*>(QCoreApplication::instance());
        applyTheme(application, ThemeChoice::Light);
        Shown shown;
        const auto middle = [&] { return shown.view.grab().toImage().pixelColor(5, shown.view.height() - 5); };
        QCOMPARE(middle(), lightTheme().surface);
        applyTheme(application, ThemeChoice::Dark);
        QTRY_COMPARE(middle(), darkTheme().surface);
        applyTheme(application, ThemeChoice::Light);
    }
};

QTEST_MAIN(TestPlot)
#include "tst_plot.moc"
