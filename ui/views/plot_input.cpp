#include <qcustomplot.h>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QMouseEvent>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QWheelEvent>

#include "ui/views/plot_view.h"

// What a person does with a plot: mouse, keys, menu, copying and saving.
namespace lockstep::ui {

namespace {

constexpr double kNotch = 0.8;                     // what is seen after a notch of the wheel, as a part of before
constexpr double kKeyPan = 60;                     // pixels

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
        case QEvent::MouseButtonDblClick: fit(); return true;
        case QEvent::MouseButtonPress:
        case QEvent::MouseMove:
        case QEvent::MouseButtonRelease: return mouse(event);
        case QEvent::Leave:
            setCrosshair(std::nullopt);
            emit hovered(std::nullopt);
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
    if (event->type() != QEvent::MouseMove) return mouse->button() == Qt::RightButton;
    if (m_panFrom) {
        const QPointF by = mouse->position() - *m_panFrom;
        m_panFrom = mouse->position();
        pan(by.x(), by.y());
        return true;
    }
    const bool inside = m_plot->axisRect()->rect().contains(mouse->position().toPoint());
    const auto x = inside ? std::optional(m_plot->xAxis->pixelToCoord(mouse->position().x())) : std::nullopt;
    setCrosshair(x);
    emit hovered(x);
    return false;
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

void PlotView::contextMenuEvent(QContextMenuEvent* event) {
    QMenu menu(this);
    menu.addAction("Show everything", this, &PlotView::fit);
    auto* log = menu.addAction("Logarithmic values", this, [this] { setLog(!m_model.log()); });
    log->setCheckable(true);
    log->setChecked(m_model.log());
    menu.addSeparator();
    menu.addActions(actions());
    menu.addAction("Copy data as CSV", this, &PlotView::copyData);
    menu.addAction("Save as PNG, SVG or CSV…", this, &PlotView::saveAs);
    menu.exec(event->globalPos());
}

// On the screen the legend is made of buttons; a picture for others has it inside, under its title.
template <class Work>
void PlotView::withLegend(Work&& work) {
    auto* title = new QCPTextElement(m_plot, m_look.title);
    title->setTextColor(currentTheme().text);
    m_plot->plotLayout()->insertRow(0);
    m_plot->plotLayout()->addElement(0, 0, title);
    m_plot->legend->setVisible(true);
    m_plot->legend->setBrush(currentTheme().surface);
    m_plot->legend->setBorderPen(QPen(currentTheme().border, 1));
    m_plot->legend->setTextColor(currentTheme().text);
    work();
    m_plot->legend->setVisible(false);
    m_plot->plotLayout()->remove(title);
    m_plot->plotLayout()->simplify();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QPixmap PlotView::pixmap(double scale) {
    QPixmap picture;
    withLegend([&] { picture = m_plot->toPixmap(m_plot->width(), m_plot->height(), scale); });
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
        svg.setSize(m_plot->size());
        svg.setViewBox(m_plot->rect());
        QCPPainter painter;
        painter.begin(&svg);
        painter.setMode(QCPPainter::pmVectorized);
        withLegend([&] { m_plot->toPainter(&painter, m_plot->width(), m_plot->height()); });
        painter.end();
    } else {
        pixmap(2).save(&bytes, "PNG");
    }
    QSaveFile out(file);
    return out.open(QIODevice::WriteOnly) && out.write(bytes.data()) == bytes.size() && out.commit();
}

void PlotView::saveAs() {
    const QString file =
        QFileDialog::getSaveFileName(this, "Save plot", m_look.title.toLower().replace(' ', '-') + ".png",
                                     "Picture, 2× (*.png);;Vector picture (*.svg);;Visible data (*.csv)");
    if (file.isEmpty() || saveTo(file)) return;
    QMessageBox::warning(
        this, "Save plot",
        QString("%1 could not be written.\n\nChoose a folder in which you may write and that has room.").arg(file));
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
