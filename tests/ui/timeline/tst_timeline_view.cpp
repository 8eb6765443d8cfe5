#include <QApplication>
#include <QLabel>
#include <QMainWindow>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QWheelEvent>
#include <QtTest>

#include "tests/ui/timeline/timeline_support.h"
#include "ui/style/theme.h"
#include "ui/timeline/timeline_canvas.h"
#include "ui/timeline/timeline_painter.h"
#include "ui/timeline/timeline_view.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

TimelineModel madeModel(int ranks, int steps) {
    MadeTrace trace(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        for (int step = 0; step < steps; ++step) trace.addStep(rank, step, 1'000'000 + 100 * step);
    }
    for (auto& each : trace.spans) {  // a step takes 10 ms
        each.span.beginNs *= 100'000;
        each.span.endNs *= 100'000;
    }
    TimelineModel model;
    trace.appendTo(model);
    return model;
}

void turnWheel(QWidget& widget, const QPointF& at, int notches) {
    const QPoint turned(0, 120 * notches);
    QWheelEvent event(at, widget.mapToGlobal(at), {}, turned, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&widget, &event);
}

int pixelsOf(const QImage& image, const QColor& color) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == color;
    }
    return count;
}

QPlainTextEdit& textOf(TimelineView& view) { return *view.findChild<QPlainTextEdit*>(); }

void mouse(QWidget& widget, QEvent::Type type, const QPointF& at, Qt::MouseButton button,
           Qt::KeyboardModifiers modifiers) {
    const Qt::MouseButtons held = type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::MouseButtons(button);
    QMouseEvent event(type, at, widget.mapToGlobal(at), type == QEvent::MouseMove ? Qt::NoButton : button, held,
                      modifiers);
    QCoreApplication::sendEvent(&widget, &event);
}

void drag(QWidget& widget, const QPointF& from, const QPointF& to, Qt::KeyboardModifiers modifiers = {}) {
    mouse(widget, QEvent::MouseButtonPress, from, Qt::LeftButton, modifiers);
    for (const double part : {0.25, 0.5, 0.75, 1.0}) {
        mouse(widget, QEvent::MouseMove, from + (to - from) * part, Qt::LeftButton, modifiers);
    }
    mouse(widget, QEvent::MouseButtonRelease, to, Qt::LeftButton, modifiers);
}

}  // namespace

// Offscreen there is no OpenGL, under X there is: both are run.
class TestTimelineView : public QObject {
    Q_OBJECT
private slots:
    void init() {
        applyTheme(*static_cast<QApplication*>(QCoreApplication::instance()), ThemeChoice::Light);
        m_view = std::make_unique<TimelineView>();
        m_view->resize(1000, 500);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
    }
    void cleanup() { m_view.reset(); }

    void anEmptyOneSaysWhatToDo() {
        QVERIFY(std::ranges::any_of(m_view->findChildren<QLabel*>(), [](QLabel* label) {
            return label->isVisible() && label->text() == "Start a run, or open one that has a timeline";
        }));
    }

    void theFactsAreThereAsText() {
        m_view->setModel(madeModel(2, 50));
        QTRY_VERIFY(textOf(*m_view).toPlainText().startsWith("In view: 499 ms"));
        QVERIFY(textOf(*m_view).toPlainText().contains("Rank 1, of all this time: computing 40."));
        QVERIFY(!textOf(*m_view).accessibleName().isEmpty());
        for (auto* button : m_view->findChildren<QToolButton*>()) {
            if (button->isVisible()) QVERIFY(!button->accessibleName().isEmpty() && !button->toolTip().isEmpty());
        }
    }

    void withoutOpenGlItSaysSo() {
        if (m_view->canvas()) QSKIP("there is OpenGL");
        m_view->setModel(madeModel(1, 5));
        QTRY_VERIFY(std::ranges::any_of(m_view->findChildren<QLabel*>(), [](QLabel* label) {
            return label->isVisible() && label->text().contains("OpenGL");
        }));
    }

    void aRunIsFollowedAsItGrows() {
        const QTemporaryDir home;
        const Places places{home.path().toStdString(), {}, {}, {}};
        TraceBoard board;
        TraceLane& compute = board.addLane(0, "compute", 1024);
        const std::uint32_t name = board.nameId("dense only");
        TraceWriter writer(places.trace(7), 2, board);
        std::int64_t step = 0;
        const auto run = [&](int steps) {
            for (const std::int64_t until = step + steps; step < until; ++step) {
                const std::int64_t now = traceNow();
                compute.add({name, step, now - 1'000'000, now});
                QTest::qSleep(2);
            }
            writer.flush();
        };
        run(20);
        m_view->follow(places, 7, 2);
        QTRY_COMPARE(m_view->state().model.size(), 20u);
        QVERIFY(m_view->state().viewport.following());
        run(20);
        QTRY_COMPARE(m_view->state().model.size(), 40u);
        QVERIFY(m_view->state().viewport.range().end >= m_view->state().model.range().end);
        m_view->hide();
        run(20);
        QTest::qWait(250);
        QCOMPARE(m_view->state().model.size(), 40u);
        m_view->show();
        QTRY_COMPARE(m_view->state().model.size(), 60u);
        m_view->follow(places, 8, 1);
        QTest::qWait(150);
        QVERIFY(m_view->state().model.empty());
    }

    void spansHaveTheirColours() {
        TimelineCanvas* canvas = shownCanvas(2, 50);
        if (!canvas) QSKIP("there is no OpenGL");
        m_view->activateWindow();
        QTRY_VERIFY(canvas->drawnRects() > 0);
        turnWheel(*canvas, {500, 200}, 12);  // near enough for single spans
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            applyTheme(*qApp, choice);
            const Theme& theme = currentTheme();
            const auto drawn = [&](const QColor& color) { return pixelsOf(canvas->grabFramebuffer(), color); };
            QTRY_VERIFY(drawn(theme.surface) > 10'000);
            for (const SpanKind kind :
                 {SpanKind::Load, SpanKind::Compute, SpanKind::Reduce, SpanKind::Update, SpanKind::WaitData})
                QVERIFY2(drawn(spanColor(kind, theme)) > 100, qPrintable(QString::number(int(kind))));
        }
    }

    void mouseAndKeysNavigate() {
        TimelineCanvas* canvas = shownCanvas(2, 200);
        if (!canvas) QSKIP("there is no OpenGL");
        const TimelineViewport& viewport = m_view->state().viewport;
        const TimeRange whole = viewport.range();
        const std::int64_t under = viewport.timeAt(400 - TimelineScene::kGutter);
        turnWheel(*canvas, {400, 200}, 3);
        QVERIFY(viewport.range().length() < whole.length() * 6 / 10);
        QVERIFY(std::abs(viewport.timeAt(400 - TimelineScene::kGutter) - under) < viewport.pixel());
        const TimeRange before = viewport.range();
        drag(*canvas, {400, 200}, {300, 200});
        QVERIFY(std::abs(viewport.range().begin - before.begin - 100 * viewport.pixel()) < 3 * viewport.pixel());
        QTest::keyClick(canvas, Qt::Key_F);
        QCOMPARE(viewport.range(), whole);
        QTest::keyClick(canvas, Qt::Key_Plus);
        QVERIFY(viewport.range().length() < whole.length());
        QTest::keyClick(canvas, Qt::Key_End);
        QVERIFY(viewport.range().end > m_view->state().model.range().end);
        QTest::keyClick(canvas, Qt::Key_L);
        QVERIFY(viewport.following());
        QTRY_VERIFY(m_view->findChildren<QToolButton*>().last()->isChecked());
        mouse(*canvas, QEvent::MouseButtonDblClick, {500, 100}, Qt::LeftButton, {});
        QVERIFY(viewport.range().length() > 10'000'000 && viewport.range().length() < 12'000'000);
    }

    void aSelectedRangeIsMeasured() {
        TimelineCanvas* canvas = shownCanvas(1, 100);
        if (!canvas) QSKIP("there is no OpenGL");
        drag(*canvas, {300, 150}, {500, 150}, Qt::ShiftModifier);
        QVERIFY(m_view->state().selection.has_value());
        const auto length = m_view->state().selection->length();
        QVERIFY(std::abs(length - 200 * m_view->state().viewport.pixel()) < length / 50);
        QTRY_VERIFY(textOf(*m_view).toPlainText().startsWith("Selected: "));
        QTest::keyClick(canvas, Qt::Key_Escape);
        QVERIFY(!m_view->state().selection);
        QTRY_VERIFY(textOf(*m_view).toPlainText().startsWith("In view: "));
    }

    void hoveringShowsDetails() {
        TimelineCanvas* canvas = shownCanvas(1, 3);
        if (!canvas) QSKIP("there is no OpenGL");
        mouse(*canvas, QEvent::MouseMove, {20, 10}, Qt::NoButton, {});
        QTest::qWait(100);
        const QImage before = canvas->grabFramebuffer();
        const double y = TimelineScene::kHeader + TimelineScene::kTitle + 5;
        const double x = TimelineScene::kGutter + m_view->state().viewport.xOf(100'000'000'000 + 1'000'000);
        mouse(*canvas, QEvent::MouseMove, {x, y}, Qt::NoButton, {});
        QTest::qWait(100);
        QVERIFY(pixelsOf(canvas->grabFramebuffer(), currentTheme().raised) >
                pixelsOf(before, currentTheme().raised) + 2000);
    }

    void nothingIsDrawnWhileNothingHappens() {
        TimelineCanvas* canvas = shownCanvas(1, 30);
        if (!canvas) QSKIP("there is no OpenGL");
        QTest::qWait(600);
        QSignalSpy frames(canvas, &QOpenGLWidget::frameSwapped);
        QTest::qWait(400);
        QCOMPARE(frames.count(), 0);
        turnWheel(*canvas, {400, 100}, 1);
        QTRY_VERIFY(frames.count() > 0);
        QTest::qWait(600);
        QVERIFY(frames.count() <= 8);
    }

    void aDockMayFloat() {
        if (!m_view->canvas()) QSKIP("there is no OpenGL");
        QMainWindow window;
        auto* dock = new TimelineDock;
        window.addDockWidget(Qt::BottomDockWidgetArea, dock);
        window.resize(1000, 600);
        window.show();
        dock->view().setModel(madeModel(2, 50));
        TimelineCanvas* canvas = dock->view().canvas();
        for (const bool floats : {false, true, false}) {
            dock->setFloating(floats);
            QTest::qWait(200);
            QTRY_VERIFY(pixelsOf(canvas->grabFramebuffer(), currentTheme().muted) > 50);  // texts, too
        }
    }

    void twoOfThemShareNothing() {
        TimelineCanvas* canvas = shownCanvas(1, 3);
        if (!canvas) QSKIP("there is no OpenGL");
        TimelineView other;
        other.resize(800, 400);
        other.show();
        other.setModel(madeModel(4, 500));
        QVERIFY(QTest::qWaitForWindowExposed(&other));
        QTRY_VERIFY(other.canvas()->drawnRects() > 1000);
        canvas->update();
        QTest::qWait(50);
        QVERIFY(canvas->drawnRects() < 30);
    }

private:
    TimelineCanvas* shownCanvas(int ranks, int steps) {
        m_view->setModel(madeModel(ranks, steps));
        QTest::qWait(100);
        return m_view->canvas();
    }

    std::unique_ptr<TimelineView> m_view;
};

QTEST_MAIN(TestTimelineView)
#include "tst_timeline_view.moc"
