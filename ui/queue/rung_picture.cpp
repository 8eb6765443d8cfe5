#include "ui/queue/rung_picture.h"

#include <QFocusEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/plot/run_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kRungHeight = 36, kColumnWidth = 84, kLeastColumn = 44;

QString rungFigures(const RungColumn& rung) {
    const QString cells = runCount(static_cast<double>(rung.cells));
    return rung.isTop ? cells : RungPicture::tr("%1 of %2").arg(runCount(static_cast<double>(rung.wentOn)), cells);
}

}  // namespace

RungPicture::RungPicture(QWidget* parent) : QWidget(parent) {
    setObjectName("sweepRungs");
    setAccessibleName(tr("Rungs of the sweep"));
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void RungPicture::setRungs(std::vector<RungColumn> rungs) {
    if (rungs == m_rungs) return;
    m_rungs = std::move(rungs);
    m_most = 1;
    QStringList words;
    for (const RungColumn& each : m_rungs) {
        m_most = std::max(m_most, each.cells);
        words << each.words;
    }
    setAccessibleDescription(words.join('\n'));
    updateGeometry();
    update();
}

QSize RungPicture::sizeHint() const {
    const int lines = 2 * (fontMetrics().height() + space::kSmall);
    return {static_cast<int>(m_rungs.size()) * kColumnWidth, lines + kRungHeight + space::kSmall};
}

QSize RungPicture::minimumSizeHint() const {
    return {static_cast<int>(m_rungs.size()) * kLeastColumn, sizeHint().height()};
}

QRect RungPicture::columnAt(std::size_t rung) const {
    const int width = std::min(kColumnWidth, this->width() / std::max(1, static_cast<int>(m_rungs.size())));
    return {static_cast<int>(rung) * width, 0, width, height()};
}

void RungPicture::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    for (std::size_t i = 0; i < m_rungs.size(); ++i) paintColumn(painter, i);
    if (!hasFocus()) return;
    painter.setPen(currentTheme().accent);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

// Its title, the bar, and the figures below.
void RungPicture::paintColumn(QPainter& painter, std::size_t at) const {
    const RungColumn& rung = m_rungs[at];
    const Theme& theme = currentTheme();
    const QRect column = columnAt(at).adjusted(space::kSmall, space::kSmall, -space::kSmall, -space::kSmall);
    const int line = fontMetrics().height();
    const QRect bar(column.left(), column.top() + line + space::kSmall, column.width(), kRungHeight);
    const auto filled = [&](std::int64_t cells) {
        const auto high = static_cast<int>(kRungHeight * cells / m_most);
        return bar.adjusted(0, kRungHeight - std::max(high, cells > 0 ? 1 : 0), 0, 0);
    };
    painter.fillRect(bar, theme.grid);
    painter.fillRect(filled(rung.cells), theme.outline);
    painter.fillRect(filled(rung.wentOn), theme.accent);
    const auto write = [&](int top, const QColor& color, const QString& text) {
        painter.setPen(color);
        painter.drawText(QRect(column.left(), top, column.width(), line), Qt::AlignHCenter | Qt::AlignVCenter,
                         fontMetrics().elidedText(text, Qt::ElideRight, column.width()));
    };
    write(column.top(), theme.muted, rung.title);
    write(bar.bottom() + 1, theme.text, rungFigures(rung));
}

bool RungPicture::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QString words;
    for (std::size_t i = 0; i < m_rungs.size(); ++i) {
        if (columnAt(i).contains(help->pos())) words = m_rungs[i].words;
    }
    QToolTip::showText(help->globalPos(), words, this);
    return true;
}

void RungPicture::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    const bool byKey = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    if (byKey) QToolTip::showText(mapToGlobal(QPoint(0, height())), accessibleDescription(), this);
}

}  // namespace lockstep::ui
