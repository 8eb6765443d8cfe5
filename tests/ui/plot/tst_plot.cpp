#include <qcustomplot.h>

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QMimeData>
#include <QPainter>
#include <QSignalSpy>
#include <QSvgGenerator>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/plot/parts_bar.h"
#include "ui/plot/plot_view.h"

using namespace lockstep::ui;

namespace {

std::vector<PlotSeries> twoCurves() {
    auto train = std::make_shared<Curve>(), test = std::make_shared<Curve>();
    for (int i = 1; i <= 1000; ++i) train->append(i, i * 0.1, 2.0 / i + 0.1 * std::sin(i));
    for (int i = 1; i <= 10; ++i) test->append(i * 100, i * 10 + 1, 1.0 / i);
    return {{"train", train, 0, Marker::Circle, 100, true}, {"test", test, 1, Marker::Square, 100, false}};
}

// With what it has besides steps.
std::shared_ptr<Curve> levelCurve(double value, int points, double perDevice = 1) {
    auto curve = std::make_shared<Curve>();
    for (int i = 1; i <= points; ++i) curve->append(Curve::Place{1.0 * i, 2.0 * i, 2.0 * perDevice * i}, value);
    return curve;
}

PlotSeries lineAt(double value, std::int64_t key, int points = 100) {
    PlotSeries line{.name = QString("line %1").arg(key), .curve = levelCurve(value, points), .color = -1};
    line.key = key;
    return line;
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
    QList<QToolButton*> buttons() const {
        QList<QToolButton*> out;
        for (auto* button : view.findChildren<QToolButton*>())
            if (button->isCheckable()) out << button;
        return out;
    }

    void drag(QPoint from, QPoint to) const {
        QTest::mousePress(plot, Qt::LeftButton, {}, from);
        QTest::mouseMove(plot, (from + to) / 2);
        QTest::mouseMove(plot, to);
        QTest::mouseRelease(plot, Qt::LeftButton, {}, to);
    }
    void wheel(int delta, Qt::KeyboardModifiers modifiers) const {
        const QPoint middle = plot->axisRect()->center();
        QWheelEvent event(middle, plot->mapToGlobal(middle), {}, {0, delta}, Qt::NoButton, modifiers, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(plot, &event);
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

    void samplesAndSecondsOfDevicesAreAxes() {
        PlotModel model;
        PlotSeries series{.name = "a", .curve = levelCurve(1, 50, 4)};
        series.samplesPerStep = 128;
        model.setSeries({series});
        model.setAxis(PlotAxis::Samples);
        QCOMPARE(model.fitX().high, 50 * 128.0);
        QCOMPARE(model.draw(0, {0, 1280}, 100).line[9].x, 1280.0);
        QCOMPARE(model.readings(1300).front().x, 1280.0);
        model.setAxis(PlotAxis::DeviceTime);
        QCOMPARE(model.fitX().high, 400.0);
        auto plain = std::make_shared<Curve>();  // of one device, that says no more than its seconds
        for (int i = 1; i <= 5; ++i) plain->append(i, i * 3, 1);
        model.setSeries({{"b", plain}});
        QCOMPARE(model.fitX().high, 15.0);
    }

    // Of stretches: the line is where their values were, smoothing follows their means.
    void theExtremesOfStretchesAreShownAsMeasured() {
        auto means = std::make_shared<Curve>(), extremes = std::make_shared<Curve>();
        for (int i = 1; i <= 10; ++i) means->append(i, i, 5), extremes->append(i, i, 1), extremes->append(i, i, 9);
        PlotSeries series{.name = "a", .curve = means};
        series.measured = extremes;
        PlotModel model;
        model.setSeries({series});
        QCOMPARE(model.draw(0, {0, 11}, 100).line.size(), std::size_t{20});
        QVERIFY(model.fitY({0, 11}).low < 1 && model.fitY({0, 11}).high > 9);
        QCOMPARE(model.readings(5).front().value, 5.0);
        model.setSmoothing(0.5);
        const auto drawing = model.draw(0, {0, 11}, 100);
        QVERIFY(drawing.line.size() == 10 && drawing.line[3].y == 5 && drawing.ghost.size() == 20);
    }

    // Lines behind are within the picture, but for a few that went astray.
    void linesBehindAreFitted() {
        PlotModel model;
        std::vector<PlotSeries> lines;
        for (int i = 0; i < 40; ++i) lines.push_back(lineAt(i, i));
        lines.push_back(lineAt(1e9, 99));
        model.setBehind(lines);
        QVERIFY(!model.empty());
        QCOMPARE(model.fitX().high, 100.0);
        QVERIFY(model.fitY({0, 100}).high > 38 && model.fitY({0, 100}).high < 50);
        model.setSeries({{"a", levelCurve(60, 200)}});
        QCOMPARE(model.fitX().high, 200.0);
        QVERIFY(model.fitY({0, 100}).high > 60);
    }

    void placesAlongTheAxisHaveWords() {
        QCOMPARE(PlotView::axisText(PlotAxis::Step, 1200), QString("step 1,200"));
        QCOMPARE(PlotView::axisText(PlotAxis::Epoch, 3), QString("epoch 3"));
        QCOMPARE(PlotView::axisText(PlotAxis::Epoch, 2.5), QString("epoch 2.500"));
        QCOMPARE(PlotView::axisText(PlotAxis::Samples, 12800), QString("12,800 samples"));
    }

    void linesArePointedAtAndClicked() {
        Shown shown;
        shown.view.setPicking(true);
        auto series = twoCurves();
        series[1].key = 7;
        shown.view.setSeries(series);
        shown.view.setBehind({lineAt(0.75, 5, 1000), lineAt(1.5, 6, 1000)});
        QTest::qWait(20);
        const auto pixel = [&](double x, double y) {
            return QPointF(shown.plot->xAxis->coordToPixel(x), shown.plot->yAxis->coordToPixel(y)).toPoint();
        };
        QCOMPARE(shown.view.keyAt(pixel(500, 1.5)), std::optional<std::int64_t>(6));
        QCOMPARE(shown.view.keyAt(pixel(150, 0.75)), std::optional<std::int64_t>(7));  // between two of its points
        QVERIFY(!shown.view.keyAt(pixel(500, 1.1)));
        QSignalSpy pointed(&shown.view, &PlotView::pointed), picked(&shown.view, &PlotView::picked),
            opened(&shown.view, &PlotView::opened);
        QTest::mouseMove(shown.plot, pixel(600, 1.5));
        QTRY_COMPARE(pointed.size(), 1);
        QTest::mouseMove(shown.plot, pixel(610, 1.5));
        QTest::mouseMove(shown.plot, pixel(610, 1.1));
        QTRY_COMPARE(pointed.size(), 2);
        QVERIFY(!pointed.last().first().value<std::optional<qint64>>());
        QTest::mousePress(shown.plot, Qt::LeftButton, {}, pixel(600, 0.75));
        QTest::mouseRelease(shown.plot, Qt::LeftButton, {}, pixel(600, 0.75));
        QCOMPARE(picked.size(), 1);
        QCOMPARE(picked.first().first().toLongLong(), 5);
        const QCPRange whole = shown.plot->xAxis->range();
        shown.drag(pixel(300, 0.75), pixel(700, 0.75));
        QCOMPARE(picked.size(), 1);  // that was a band
        QVERIFY(shown.plot->xAxis->range().size() < whole.size());
        QTest::mouseDClick(shown.plot, Qt::LeftButton, {}, pixel(600, 0.75));
        QCOMPARE(opened.size(), 1);
        QTest::mouseDClick(shown.plot, Qt::LeftButton, {}, pixel(600, 1.1));
        QCOMPARE(shown.plot->xAxis->range(), whole);  // beside all lines it shows everything
    }

    void linesBehindRingsAndTheTargetAreSeen() {
        Shown shown;
        auto series = twoCurves();
        series[1].endsOpen = true;
        shown.view.setSeries(series);
        const auto colours = [&](const QColor& color) {
            shown.plot->replot(QCustomPlot::rpImmediateRefresh);
            const QImage image = shown.plot->grab().toImage();
            int count = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == color;
            return count;
        };
        const int before = colours(currentTheme().good);
        shown.view.setTarget(1.0);
        QVERIFY(colours(currentTheme().good) > before + 20);
        shown.view.setTarget(std::nullopt);
        QCOMPARE(colours(currentTheme().good), before);
        PlotSeries own = lineAt(1.2, 1, 1000);
        own.color = 3;
        const QImage without = shown.plot->grab().toImage();
        shown.view.setBehind({own});
        shown.plot->replot(QCustomPlot::rpImmediateRefresh);
        QVERIFY(shown.plot->grab().toImage() != without);
        const QImage withLine = shown.plot->grab().toImage();
        shown.view.setBehind({own, lineAt(0.9, 2, 1)});  // of one point
        shown.plot->replot(QCustomPlot::rpImmediateRefresh);
        QVERIFY(shown.plot->grab().toImage() != withLine);
        shown.view.setRaised({own});
        QVERIFY(colours(seriesColor(3, currentTheme())) > 100);
        const QPointF end(shown.plot->xAxis->coordToPixel(1000), shown.plot->yAxis->coordToPixel(0.1));
        QCOMPARE(shown.plot->grab().toImage().pixelColor(end.toPoint()), currentTheme().surface);  // an open ring
        QImage picture(400, 200, QImage::Format_ARGB32_Premultiplied);
        picture.fill(Qt::white);
        QPainter painter(&picture);
        shown.view.paintInto(painter, QRectF(0, 0, 400, 200));
        painter.end();
        QBuffer bytes;
        bytes.open(QIODevice::WriteOnly);
        QSvgGenerator svg;
        svg.setOutputDevice(&bytes);
        svg.setSize({400, 200});
        svg.setViewBox(QRect(0, 0, 400, 200));
        painter.begin(&svg);
        shown.view.paintInto(painter, QRectF(0, 0, 400, 200));
        painter.end();
        // As large as it was asked for: what is painted reaches to the right edge, and not beyond.
        QSvgRenderer renderer(bytes.data());
        QImage vectors(400, 200, QImage::Format_ARGB32_Premultiplied);
        vectors.fill(Qt::transparent);
        painter.begin(&vectors);
        renderer.render(&painter, QRectF(0, 0, 400, 200));
        painter.end();
        const auto rightmost = [](const QImage& image) {
            const QRgb background = image.pixel(0, 0);
            for (int x = image.width() - 1; x > 0; --x)
                for (int y = 20; y < image.height() - 20; ++y)
                    if (image.pixel(x, y) != background) return x;
            return 0;
        };
        QVERIFY2(std::abs(rightmost(vectors) - rightmost(picture)) <= 3,
                 qPrintable(QString::number(rightmost(vectors))));
        QImage blank(picture.size(), picture.format());
        blank.fill(Qt::white);
        QVERIFY(picture != blank);
    }

    // While somebody moves there may be less detail, and all of it right after.
    void detailComesBackAfterMoving() {
        Shown shown;
        std::vector<PlotSeries> many;
        for (int i = 0; i < 60; ++i) {
            auto curve = std::make_shared<Curve>();
            for (int step = 0; step < 20'000; ++step) curve->append(step, step, std::sin(step * 0.7 + i));
            PlotSeries series{.name = QString::number(i), .curve = curve, .color = i};
            series.band = PlotBand{curve, curve};
            many.push_back(series);
        }
        shown.view.setSeries(many);
        shown.plot->replot(QCustomPlot::rpImmediateRefresh);
        QSignalSpy rested(&shown.view, &PlotView::rested);
        shown.plot->setFocus();
        QTest::keyClick(shown.plot, Qt::Key_Plus);
        QVERIFY(shown.view.isMoving());
        QTRY_COMPARE(rested.size(), 1);
        QVERIFY(!shown.view.isMoving());
        const int columns = shown.plot->axisRect()->width();
        const PlotRange x = shown.view.shownX();
        for (std::size_t i = 0; i < many.size(); ++i) QVERIFY(!shown.view.model().changed(i, x, columns));
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
        QVERIFY(model.draw(1, {1, 1000}, 200).ghost.empty());  // evaluations are means already
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
        shown.wheel(120, {});
        QVERIFY(std::abs(shown.plot->xAxis->range().size() - 0.8 * before) < 1e-6 * before);
        QTest::keyClick(shown.plot, Qt::Key_0);
        QCOMPARE(shown.plot->xAxis->range().size(), before);

        const QRect box = shown.plot->axisRect()->rect();
        const double from = shown.plot->xAxis->pixelToCoord(box.left() + 100),
                     to = shown.plot->xAxis->pixelToCoord(box.left() + 200);
        shown.drag(box.topLeft() + QPoint(100, 20), box.topLeft() + QPoint(200, 100));
        QVERIFY2(std::abs(shown.plot->xAxis->range().lower - from) < 5,
                 qPrintable(QString::number(shown.plot->xAxis->range().lower)));
        QVERIFY(std::abs(shown.plot->xAxis->range().upper - to) < 5);
        QTest::mouseDClick(shown.plot, Qt::LeftButton, {}, middle);
        QCOMPARE(shown.plot->xAxis->range().size(), before);
    }

    // Whatever a person zoomed or moved, one gesture shows everything, and the height follows the stretch seen again.
    void everythingComesBack_data() {
        QTest::addColumn<int>("key");
        QTest::newRow("double click") << 0;
        QTest::newRow("Home") << int(Qt::Key_Home);
        QTest::newRow("0") << int(Qt::Key_0);
    }
    void everythingComesBack() {
        QFETCH(int, key);
        Shown shown;
        const QRect box = shown.plot->axisRect()->rect();
        const QCPRange x = shown.plot->xAxis->range(), y = shown.plot->yAxis->range();
        shown.drag(box.topLeft() + QPoint(100, 20), box.topLeft() + QPoint(200, 100));
        QTest::keyClick(shown.plot, Qt::Key_Plus);
        QTest::keyClick(shown.plot, Qt::Key_Left);
        shown.wheel(120, Qt::ControlModifier);
        QVERIFY(shown.plot->yAxis->range() != y);
        if (key) QTest::keyClick(shown.plot, static_cast<Qt::Key>(key));
        else QTest::mouseDClick(shown.plot, Qt::LeftButton, {}, box.center());
        QCOMPARE(shown.plot->xAxis->range(), x);
        QCOMPARE(shown.plot->yAxis->range(), y);
        for (int i = 0; i < 20; ++i) QTest::keyClick(shown.plot, Qt::Key_Plus);
        QVERIFY(shown.plot->yAxis->range().size() < y.size());
    }

    void aFlatBandZoomsAlongX() {
        Shown shown;
        const QRect box = shown.plot->axisRect()->rect();
        const QCPRange x = shown.plot->xAxis->range();
        shown.drag(box.topLeft() + QPoint(100, 50), box.topLeft() + QPoint(200, 52));
        QVERIFY(shown.plot->xAxis->range().size() < x.size() / 2);
        shown.drag(box.topLeft() + QPoint(100, 50), box.topLeft() + QPoint(102, 51));  // a click
        QVERIFY(shown.plot->xAxis->range().size() < x.size() / 2);
    }

    void sharesEndAtAWhole() {
        PlotView view(
            {"Accuracy", "", {}, [](double value) { return QString::number(100 * value) + " %"; }, PlotRange{0, 1}});
        auto curve = std::make_shared<Curve>();
        for (int i = 0; i <= 100; ++i) curve->append(i, i, i / 100.0);
        view.setSeries({{"a", curve, 0, Marker::Circle, 0, false}});
        view.resize(600, 300);
        view.show();
        (void)QTest::qWaitForWindowExposed(&view);
        auto& plot = *view.findChild<QCustomPlot*>();
        const auto highest = [&] {
            plot.replot(QCustomPlot::rpImmediateRefresh);
            const auto ticks = plot.yAxis->tickVector();
            return ticks.isEmpty() ? -1.0 : *std::max_element(ticks.begin(), ticks.end());
        };
        QCOMPARE(highest(), 1.0);
        QVERIFY(plot.yAxis->range().upper > 1);  // the line at the top is seen whole
        const QPointF top(plot.axisRect()->center().x(), plot.axisRect()->top() + 5.0);
        for (int i = 0; i < 12; ++i) {
            QWheelEvent wheel(top, plot.mapToGlobal(top), {}, {0, i < 6 ? -120 : 120}, Qt::NoButton,
                              Qt::ControlModifier, Qt::NoScrollPhase, false);
            QApplication::sendEvent(&plot, &wheel);
            QVERIFY2(highest() <= 1 + 1e-6, qPrintable(QString::number(highest())));
        }
    }

    // Of learning rates, say: powers of ten have their places, and lines their names, which are seen from the
    // beginning.
    void aLogarithmOfWhatLiesAlong() {
        PlotView::Look look{"Loss", "nothing yet", {}, {}, {}};
        look.along = [](double rate) { return "rate " + QString::number(rate); };
        look.alongTick = [](double rate) { return QString::number(rate, 'g', 2); };
        look.span = PlotRange{-6, 1};
        look.fromZero = true;
        PlotView view(look);
        auto curve = std::make_shared<Curve>();
        view.setAxis(PlotAxis::Log);
        view.setSeries({{"smoothed", curve, 1, Marker::Circle, 0, false}});
        view.resize(700, 300);
        view.show();
        (void)QTest::qWaitForWindowExposed(&view);
        auto& plot = *view.findChild<QCustomPlot*>();
        plot.replot(QCustomPlot::rpImmediateRefresh);
        QVERIFY(plot.xAxis->range().lower < -6 && plot.xAxis->range().upper > 1 && plot.xAxis->range().upper < 1.2);
        for (int i = -6; i < 0; ++i) curve->append(i, 0, 8.0 + i);
        view.setMoments({{-2, 0, "suggested: 0.01", PlotMoment::Tone::Good}, {2, 0, "blows up at 100"}, {-3, 0}});
        view.refresh();
        plot.replot(QCustomPlot::rpImmediateRefresh);
        QCOMPARE(plot.xAxis->tickVectorLabels(),
                 (QVector<QString>{"1e-06", "1e-05", "0.0001", "0.001", "0.01", "0.1", "1", "10", "1e+02"}));
        QVERIFY(plot.xAxis->range().upper > 2);  // a line that has a name is seen
        QCOMPARE(plot.yAxis->range().lower, 0.0);
        const QString words = view.summary();
        QVERIFY2(words.contains("smoothed: 6 points, from 2.000 to 7.000") && words.contains("suggested: 0.01") &&
                     words.contains("blows up at 100"),
                 qPrintable(words));
        QCOMPARE(QString(view.model().csv({-4.5, -3.5})), QString("series,x,value\n\"smoothed\",0.0001,4\n"));
        for (int i = 0; i < 12; ++i) QTest::keyClick(&plot, Qt::Key_Plus);
        plot.replot(QCustomPlot::rpImmediateRefresh);
        QVERIFY(plot.xAxis->tickVectorLabels().size() <= 3);
        view.setMoments({});
        view.refresh();
        QVERIFY(!view.summary().contains("suggested"));
    }

    void aFaintCurveHasNoMarkers() {
        auto curve = std::make_shared<Curve>();
        for (int i = 0; i < 5; ++i) curve->append(i, i, i);
        PlotModel model;
        PlotSeries faint{"loss", curve};
        faint.faint = true;
        model.setSeries({faint, {"smoothed", curve}});
        QVERIFY(model.draw(0, {0, 5}, 100).markers.empty() && model.draw(0, {0, 5}, 100).line.size() == 5);
        QVERIFY(!model.draw(1, {0, 5}, 100).markers.empty());
    }

    // The first steps of a run: a rate that has hardly changed, and no half steps.
    void ticksAreToldApart() {
        PlotView view({"Learning rate", "", {}, {}, {}});
        auto curve = std::make_shared<Curve>();
        for (int i = 1; i <= 3; ++i) curve->append(i, i, 0.1 - 1e-7 * i * i);
        view.setSeries({{"a", curve, 0, Marker::Circle, 0, false}});
        view.resize(600, 300);
        view.show();
        (void)QTest::qWaitForWindowExposed(&view);
        auto& plot = *view.findChild<QCustomPlot*>();
        plot.replot(QCustomPlot::rpImmediateRefresh);
        const auto rates = plot.yAxis->tickVectorLabels(), steps = plot.xAxis->tickVectorLabels();
        QVERIFY(rates.size() > 2);
        QCOMPARE(QSet<QString>(rates.begin(), rates.end()).size(), rates.size());
        QVERIFY2(steps.contains("2") && !steps.join(' ').contains('.'), qPrintable(steps.join(' ')));
    }

    void onlyWhatChangedIsDrawnAnew() {
        PlotModel model;
        auto curves = twoCurves();
        const auto growing = std::make_shared<Curve>();
        curves[1].curve = growing;
        model.setSeries(curves);
        const PlotRange x{1, 1000};
        for (const std::size_t i : {0, 1}) {
            QVERIFY(model.changed(i, x, 200));
            model.draw(i, x, 200);
            QVERIFY(!model.changed(i, x, 200));
        }
        growing->append(1, 1, 1);
        QVERIFY(!model.changed(0, x, 200) && model.changed(1, x, 200));
        model.setSeries(curves);  // the same again
        QVERIFY(!model.changed(0, x, 200));
        QVERIFY(model.changed(0, {1, 900}, 200) && model.changed(0, x, 201));
        model.setSmoothing(0.5);
        QVERIFY(model.changed(0, x, 200));
        model.draw(0, x, 200);
        QVERIFY(!model.changed(0, x, 200));
        model.setHidden(0, true);
        QVERIFY(model.changed(0, x, 200));
    }

    void aBandIsDrawnReadAndFitted() {
        auto curves = twoCurves();
        auto mean = std::make_shared<Curve>();
        for (int i = 1; i <= 10; ++i) mean->append(i, i, 5);
        auto low = std::make_shared<Curve>(Curve::alongside(*mean)),
             high = std::make_shared<Curve>(Curve::alongside(*mean));
        for (int i = 1; i <= 10; ++i) low->appendValue(4), high->appendValue(6);
        PlotModel model;
        model.setSeries({{"mean", mean, 3, Marker::Circle, 0, false, false, PlotBand{low, high}}});
        QVERIFY(model.fitY({1, 10}).low < 4 && model.fitY({1, 10}).high > 6);
        QCOMPARE(model.draw(0, {1, 10}, 100).high.size(), std::size_t{10});
        QCOMPARE(model.readings(5).front().deviation.value(), 1.0);
        QCOMPARE(model.last(0)->deviation.value(), 1.0);
        QVERIFY(model.csv({1, 1}).endsWith("\"mean\",1,1,5,5,4,6\n"));
        model.setLog(true);
        for (const auto& point : model.draw(0, {1, 10}, 100).low) QVERIFY(point.y > 0);
    }

    void longCurvesAreSmoothedInParts() {
        auto curve = std::make_shared<Curve>();
        for (int i = 0; i < 200'000; ++i) curve->append(i, i, i % 100);
        PlotModel model;
        model.setSeries({{"long", curve, 0, Marker::Circle, 0, true}});
        model.setSmoothing(0.9);
        model.draw(0, {0, 200'000}, 100);
        QVERIFY(model.smoothing() && model.changed(0, {0, 200'000}, 100));
        for (int i = 0; i < 10 && model.smoothing(); ++i) model.draw(0, {0, 200'000}, 100);
        QVERIFY(!model.smoothing() && !model.changed(0, {0, 200'000}, 100));
        const double before = model.readings(150'000).front().value;
        model.setSmoothing(0.99);
        model.draw(0, {0, 200'000}, 100);  // the line before, until the new one is there
        QCOMPARE(model.readings(150'000).front().value, before);
    }

    void aNarrowLegendLeavesOutValues() {
        Shown shown;
        const auto buttons = shown.buttons();
        const int wide = buttons.last()->sizeHint().width();
        for (int width = 590; buttons.last()->sizeHint().width() == wide && width > 100; width -= 10) {
            shown.view.resize(width, 300);
            QTest::qWait(20);
        }
        QVERIFY(buttons.last()->sizeHint().width() < wide);
        const QWidget& viewport = *buttons.last()->parentWidget()->parentWidget();
        for (const auto* button : buttons) {
            QTRY_VERIFY(button->geometry().right() <= viewport.width());
            QVERIFY(button->width() >= button->sizeHint().width());
        }
        shown.view.resize(600, 300);
        QTRY_COMPARE(buttons.last()->sizeHint().width(), wide);
    }

    void fiftyCurvesHaveAUsableLegend() {
        Shown shown;
        std::vector<PlotSeries> many;
        for (int i = 0; i < 50; ++i) {
            auto curve = std::make_shared<Curve>();
            for (int step = 0; step < 10; ++step) curve->append(step, step, i + step);
            many.push_back({QString("#%1 a title that is much longer than anybody would ever want it to be").arg(i),
                            curve, i, seriesMarker(i), 0, false, i % 2 == 1});
        }
        shown.view.setSeries(many);
        const auto buttons = shown.buttons();
        QCOMPARE(buttons.size(), 50);
        QTRY_VERIFY(shown.plot->width() > shown.view.width() / 2);
        QVERIFY(shown.view.height() == 300 && shown.view.width() == 600);
        QTRY_VERIFY(buttons.last()->y() > shown.view.height());  // laid out
        shown.view.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&shown.view));
        buttons.last()->setFocus();
        QTRY_VERIFY(!buttons.last()->visibleRegion().isEmpty());  // scrolled there
        QTest::mouseClick(buttons.last(), Qt::LeftButton, Qt::ControlModifier);
        QVERIFY(shown.view.model().hidden(0) && !shown.view.model().hidden(49));
        QTest::mouseClick(buttons.last(), Qt::LeftButton, Qt::ControlModifier);
        QVERIFY(!shown.view.model().hidden(0));
        shown.view.setCrosshair(5.0);
        for (const auto* label : shown.plot->findChildren<QLabel*>())
            QVERIFY(!label->isVisible() || label->height() <= shown.plot->height());
        for (int times = 0; times < 2; ++times)
            QVERIFY(shown.view.pixmap(1).height() > shown.plot->height());  // its legend is beneath
        QVERIFY(shown.plot->legend->rowCount() > 1);                        // in as many columns as there is room for
        const double column = shown.plot->legend->item(0)->minimumOuterSizeHint().width();
        QVERIFY(shown.plot->legend->columnCount() <= std::max(1.0, shown.plot->width() / column));
        for (const auto* label : shown.plot->findChildren<QLabel*>())
            QVERIFY(!label->isVisible() || label->width() <= shown.plot->axisRect()->width() * 0.7);
    }

    void theReadingsNearestToThePointer() {
        std::vector<PlotModel::Reading> all;
        for (std::size_t i = 0; i < 10; ++i) all.push_back({i, 0, static_cast<double>(i), 0});
        const auto near = PlotModel::nearest(all, 6.2, 3);
        QCOMPARE(near.size(), std::size_t{3});
        QVERIFY(near[0].series == 5 && near[1].series == 6 && near[2].series == 7);
        QCOMPARE(PlotModel::nearest(all, 6.2, 20).size(), std::size_t{10});
    }

    void theLegendHides() {
        Shown shown;
        const auto buttons = shown.buttons();
        QCOMPARE(buttons.size(), 2);
        QVERIFY(buttons[0]->text().startsWith("train"));
        for (const auto* button : buttons)
            QVERIFY(!button->accessibleName().isEmpty() && button->focusPolicy() != Qt::NoFocus);
        QTest::mouseClick(buttons[0], Qt::LeftButton);
        QVERIFY(shown.view.model().hidden(0));
        QCOMPARE(shown.plot->xAxis->range().lower, 100.0 - 0.01 * 900);  // the other curve alone, with some air
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

    void partsOfABarLieBesideEachOther() {
        PartsBar bar;
        bar.resize(100, bar.height());
        bar.setParts({{0.5, &Theme::good}, {0.25, &Theme::bad}});
        const QImage drawn = bar.grab().toImage();
        const auto at = [&](int x) { return drawn.pixelColor(x, drawn.height() / 2); };
        const Theme& theme = currentTheme();
        QCOMPARE(at(45), theme.good);
        QCOMPARE(at(55), theme.bad);
        QCOMPARE(at(85), theme.grid);
        QVERIFY(drawn.pixelColor(0, 0) != theme.good);  // its ends are round
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
