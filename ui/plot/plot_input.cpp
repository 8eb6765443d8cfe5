#include <qcustomplot.h>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QMouseEvent>
#include <QPicture>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QWhatsThis>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/plot/plot_marks.h"
#include "ui/plot/plot_view.h"

// What a person does with a plot: mouse, keys, crosshair, menu, copying and saving.
namespace lockstep::ui {

namespace {

constexpr double kNotch = 0.8;           // what is seen after a notch of the wheel, as a part of before
constexpr double kKeyPan = 60;           // pixels
constexpr double kClick = 3;             // pixels that the mouse may move in it; of more the canvas makes a band
constexpr double kFar = 1e6;             // pixels: farther than any click
constexpr int kLongestReadoutName = 40;  // letters, in the readout
constexpr int kReadoutValue = 28;        // letters that a value with its deviation and its mark take there
constexpr int kLegendInside = 4;         // curves whose names fit into the plot

bool startsPan(const QMouseEvent& event) {
    return event.button() == Qt::MiddleButton ||
           (event.button() == Qt::LeftButton && event.modifiers().testFlag(Qt::ShiftModifier));
}

}  // namespace

bool PlotView::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m_plot) return QWidget::eventFilter(watched, event);
    switch (event->type()) {
        case QEvent::Wheel: {
            const auto* wheel = static_cast<QWheelEvent*>(event);
            const double notches = wheel->angleDelta().y() / 120.0;
            zoom(std::pow(kNotch, notches), wheel->position(), wheel->modifiers().testFlag(Qt::ControlModifier));
            return true;
        }
        case QEvent::KeyPress: return key(static_cast<QKeyEvent*>(event)->key());
        case QEvent::MouseButtonDblClick: {
            const auto key = m_picks ? keyAt(static_cast<QMouseEvent*>(event)->position()) : std::nullopt;
            m_pressed = {-kFar, -kFar};  // what is let go of next is no click
            if (key) emit opened(*key);
            else fit();
            return true;
        }
        case QEvent::MouseButtonPress:
        case QEvent::MouseMove:
        case QEvent::MouseButtonRelease: return mouse(event);
        case QEvent::Leave:
            m_pointerY.reset();
            setCrosshair(std::nullopt);
            emit hovered(std::nullopt);
            point(std::nullopt);
            return false;
        case QEvent::Resize: QMetaObject::invokeMethod(this, &PlotView::refresh, Qt::QueuedConnection); return false;
        default: return false;
    }
}

bool PlotView::mouse(QEvent* event) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    if (event->type() == QEvent::MouseButtonPress && startsPan(*mouse)) {
        m_panFrom = mouse->position();
        return true;
    }
    if (event->type() == QEvent::MouseButtonRelease && m_panFrom) {
        m_panFrom.reset();
        return true;
    }
    if (event->type() == QEvent::MouseButtonPress) m_pressed = mouse->position();
    const bool isClick = event->type() == QEvent::MouseButtonRelease && mouse->button() == Qt::LeftButton &&
                         (mouse->position() - m_pressed).manhattanLength() <= kClick;
    if (isClick) pick(mouse->position());
    if (event->type() != QEvent::MouseMove) return mouse->button() == Qt::RightButton;
    if (m_panFrom) {
        const QPointF by = mouse->position() - *m_panFrom;
        m_panFrom = mouse->position();
        pan(by.x(), by.y());
        return true;
    }
    const bool inside = m_plot->axisRect()->rect().contains(mouse->position().toPoint());
    m_pointerY = inside ? std::optional(m_plot->yAxis->pixelToCoord(mouse->position().y())) : std::nullopt;
    const auto x = inside ? std::optional(m_plot->xAxis->pixelToCoord(mouse->position().x())) : std::nullopt;
    setCrosshair(x);
    emit hovered(x);
    point(inside ? std::optional(mouse->position()) : std::nullopt);
    return false;
}

void PlotView::setCrosshair(std::optional<double> x) {
    const bool shown = x && !m_model.empty() && m_plot->xAxis->range().contains(*x);
    if (!shown && !m_crosshair->visible()) return;
    m_crosshair->setVisible(shown);
    m_readout->setVisible(shown);
    if (shown) moveReadout(*x);
    m_plot->layer("overlay")->replot();
}

// The crosshair stands where the latest of what is told of was measured.
void PlotView::moveReadout(double x) {
    const QRect box = m_plot->axisRect()->rect();
    const int rows = box.height() / fontMetrics().lineSpacing() - 3;  // the head, the rest, and some air
    const auto all = m_model.readings(x);
    const auto told = toldOf(all, static_cast<std::size_t>(std::max(1, rows)));
    const double latest = told.empty() ? x : std::ranges::max(told, {}, &PlotModel::Reading::x).x;
    const double read = m_plot->xAxis->range().contains(latest) ? latest : x;
    m_crosshair->point1->setCoords(read, m_plot->yAxis->range().lower);
    m_crosshair->point2->setCoords(read, m_plot->yAxis->range().upper);
    m_readout->setText(readoutText(x, latest, told, all.size() - told.size()));
    m_readout->adjustSize();
    const int at = static_cast<int>(m_plot->xAxis->coordToPixel(read));
    const bool left = at > box.center().x();
    m_readout->move(left ? at - m_readout->width() - space::kMedium : at + space::kMedium, box.top() + space::kSmall);
}

// Of many curves those next to the pointer.
std::vector<PlotModel::Reading> PlotView::toldOf(const std::vector<PlotModel::Reading>& readings, std::size_t rows) {
    if (readings.size() <= rows) return readings;
    return PlotModel::nearest(readings, m_pointerY.value_or(readings.front().value), rows);
}

QString PlotView::readoutText(double x, double read, const std::vector<PlotModel::Reading>& readings,
                              std::size_t more) {
    const int room = m_plot->axisRect()->width() / 2 / std::max(1, fontMetrics().averageCharWidth());
    const int longest = std::clamp(room - kReadoutValue, 6, kLongestReadoutName);
    const auto shortened = [longest](const QString& name) {
        return name.size() > longest ? (name.left(longest - 1) + QChar(0x2026)).toHtmlEscaped() : name.toHtmlEscaped();
    };
    const bool isLog = m_model.axis() == PlotAxis::Log;
    QStringList lines{"<b>" + (isLog ? m_look.along(std::pow(10, read)) : axisText(m_model.axis(), read)) + "</b>"};
    for (const PlotSeries& line : m_highlights->raised()) {
        const auto on = m_model.onLine(line, x);
        if (on && line.color < 0 && !line.dashed)  // the others have a line of their own
            lines << QString("%1 <b>%2</b>").arg(shortened(line.name), valueText(on->y));
    }
    for (const auto& reading : readings) {
        const auto& series = m_model.series()[reading.series];
        lines << QString("<span style='color:%1'>%2</span> %3 <b>%4</b>")
                     .arg(seriesColor(series.color, currentTheme()).name(), markerGlyph(series.marker),
                          shortened(series.name), valueText(reading.value, reading.deviation));
    }
    if (more > 0) lines << tr("and %1 more").arg(more);
    return lines.join("<br>");
}

bool PlotView::key(int key) {
    switch (key) {
        case Qt::Key_Left: pan(kKeyPan, 0); return true;
        case Qt::Key_Right: pan(-kKeyPan, 0); return true;
        case Qt::Key_Plus:
        case Qt::Key_Equal: zoom(kNotch, std::nullopt, false); return true;
        case Qt::Key_Minus: zoom(1 / kNotch, std::nullopt, false); return true;
        case Qt::Key_0:
        case Qt::Key_Home: fit(); return true;
        default: return false;
    }
}

void PlotView::buildActions() {
    auto* copy = new QAction(tr("Copy picture"), this);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this, &PlotView::copyPicture);
    addAction(copy);
}

void PlotView::fillMenu(QMenu& menu) {
    menu.addAction(tr("Show everything\tHome"), this, &PlotView::fit);
    auto* log = menu.addAction(tr("Logarithmic values"), this, [this] { setLog(!m_model.log()); });
    log->setCheckable(true);
    log->setChecked(m_model.log());
    menu.addSeparator();
    menu.addActions(actions());
    menu.addAction(tr("Copy data as CSV"), this, &PlotView::copyData);
    menu.addAction(tr("Save as PNG, SVG or CSV…"), this, &PlotView::saveAs);
    menu.addSeparator();
    menu.addAction(tr("Mouse and keys…"), this, &PlotView::showHelp);
}

void PlotView::showHelp() {
    QWhatsThis::showText(
        m_plot->mapToGlobal(m_plot->rect().center()),
        tr("<table cellpadding='2'>"
           "<tr><td><b>Wheel</b>, + and −</td><td>nearer and farther; with Ctrl along the value axis</td></tr>"
           "<tr><td><b>Drag</b></td><td>into a rectangle; a flat one along x alone</td></tr>"
           "<tr><td><b>Shift+drag</b>, ← and →</td><td>move</td></tr>"
           "<tr><td><b>Double click</b>, Home or 0</td><td>everything</td></tr>"
           "<tr><td><b>Click in the legend</b></td><td>hide a curve; with Ctrl: it alone</td></tr>"
           "<tr><td><b>Ctrl+C</b></td><td>copy the picture</td></tr></table>"),
        m_plot);
}

void PlotView::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    fillMenu(menu);
    menu.exec(event->globalPos());
}

// On the screen the legend is made of buttons; a picture for others has its own, under its title: inside the plot while
// there is room, beneath it when there are many curves.
template <class Work>
void PlotView::withLegend(Work&& work) {
    QCPLegend* legend = m_plot->legend;
    const bool many = m_isBare || legend->itemCount() > kLegendInside;
    auto* title = new QCPTextElement(m_plot, m_look.title);
    title->setTextColor(currentTheme().text);
    m_plot->plotLayout()->insertRow(0);
    m_plot->plotLayout()->addElement(0, 0, title);
    double widest = 1;
    for (int i = 0; i < legend->itemCount(); ++i)
        if (const auto* item = legend->item(i))  // a grid may have empty places
            widest = std::max<double>(widest, item->minimumOuterSizeHint().width());
    legend->setVisible(legend->itemCount() > 0);
    legend->setBrush(currentTheme().surface);
    legend->setBorderPen(many ? QPen(Qt::NoPen) : QPen(currentTheme().border, 1));
    legend->setTextColor(currentTheme().text);
    int height = m_plot->height();
    if (many) {
        legend->setWrap(std::max(1, static_cast<int>(m_plot->width() / (widest + legend->columnSpacing()))));
        legend->setFillOrder(QCPLegend::foColumnsFirst);
        m_plot->plotLayout()->addElement(2, 0, legend);
        m_plot->plotLayout()->setRowStretchFactor(2, 0.001);
        height += legend->minimumOuterSizeHint().height();
    }
    work(QSize(m_plot->width(), height));
    if (many) {
        m_plot->plotLayout()->take(legend);
        m_plot->axisRect()->insetLayout()->addElement(legend, Qt::AlignRight | Qt::AlignTop);
    }
    legend->setVisible(false);
    m_plot->plotLayout()->remove(title);
    m_plot->plotLayout()->simplify();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

// As vectors where the painter's device has them: a picture that is recorded and played again. What follows the pointer
// is no part of it.
void PlotView::paintInto(QPainter& painter, const QRectF& area) {
    const QSize size = area.size().toSize();
    QPicture recorded;
    m_plot->layer("overlay")->setVisible(false);
    withLegend([&](QSize) {
        QCPPainter recorder;
        recorder.begin(&recorded);
        recorder.setMode(QCPPainter::pmVectorized);
        m_plot->toPainter(&recorder, size.width(), size.height());
        recorder.end();
    });
    m_plot->layer("overlay")->setVisible(true);
    // It is played as large as it was on paper, which is not what is wanted of pixels.
    const double larger = static_cast<double>(recorded.logicalDpiX()) / painter.device()->logicalDpiX();
    painter.save();
    painter.translate(area.topLeft());
    painter.scale(larger, larger);
    painter.drawPicture(0, 0, recorded);
    painter.restore();
}

QPixmap PlotView::pixmap(double scale) {
    QPixmap picture;
    withLegend([&](QSize size) { picture = m_plot->toPixmap(size.width(), size.height(), scale); });
    return picture;
}

bool PlotView::saveTo(const QString& file) {
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    if (file.endsWith(".csv", Qt::CaseInsensitive)) {
        bytes.write(m_model.csv({m_plot->xAxis->range().lower, m_plot->xAxis->range().upper}));
    } else if (file.endsWith(".svg", Qt::CaseInsensitive)) {
        QSvgGenerator svg;
        svg.setOutputDevice(&bytes);
        svg.setTitle(m_look.title);
        svg.setDescription(summary());
        withLegend([&](QSize size) {
            svg.setSize(size);
            svg.setViewBox(QRect(QPoint(), size));
            QCPPainter painter;
            painter.begin(&svg);
            painter.setMode(QCPPainter::pmVectorized);
            m_plot->toPainter(&painter, size.width(), size.height());
            painter.end();
        });
    } else {
        pixmap(2).save(&bytes, "PNG");
    }
    QSaveFile out(file);
    return out.open(QIODevice::WriteOnly) && out.write(bytes.data()) == bytes.size() && out.commit();
}

void PlotView::saveAs() {
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Save plot"), m_look.title.toLower().replace(' ', '-') + ".png",
                                     tr("Picture, 2× (*.png);;Vector picture (*.svg);;Visible data (*.csv)"));
    if (file.isEmpty() || saveTo(file)) return;
    QMessageBox::warning(
        this, tr("Save plot"),
        tr("%1 could not be written.\n\nChoose a folder in which you may write and that has room.").arg(file));
}

void PlotView::copyPicture() { QGuiApplication::clipboard()->setPixmap(pixmap(2)); }

void PlotView::copyData() {
    auto* copied = new QMimeData;
    const QByteArray csv = m_model.csv({m_plot->xAxis->range().lower, m_plot->xAxis->range().upper});
    copied->setData("text/csv", csv);
    copied->setText(QString::fromUtf8(csv));
    QGuiApplication::clipboard()->setMimeData(copied);
}

}  // namespace lockstep::ui
