#include "ui/evaluate/calibration_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/plot/run_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

CalibrationView::CalibrationView(QWidget* parent) : QWidget(parent) {
    setObjectName("calibration");
    setAccessibleName(tr("Calibration: how often the model is right, by how sure it is"));
}

void CalibrationView::setBins(std::vector<CalibrationBin> bins) {
    m_bins = std::move(bins);
    m_samples = 0;
    for (const CalibrationBin& bin : m_bins) m_samples += bin.samples;
    update();
}

QRect CalibrationView::plot() const {
    const auto metrics = fontMetrics();
    const int left = metrics.horizontalAdvance("100 %") + space::kMedium, bottom = 2 * metrics.height() + space::kSmall;
    return {left, space::kMedium, std::max(10, width() - left - space::kPage),
            std::max(10, height() - bottom - space::kMedium)};
}

// The bar's height is how often it was right, its darkness how many samples there were; the line where it should be.
void CalibrationView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const auto& theme = currentTheme();
    if (m_samples == 0) {
        painter.setPen(theme.muted);
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                         tr("Whether the model is as sure as it is right comes with the first evaluation."));
        return;
    }
    const QRect area = plot();
    const auto metrics = fontMetrics();
    for (int fifth = 0; fifth <= 5; ++fifth) {
        const int y = area.bottom() - area.height() * fifth / 5, x = area.left() + area.width() * fifth / 5;
        painter.setPen(theme.grid);
        painter.drawLine(area.left(), y, area.right(), y);
        painter.setPen(theme.muted);
        const QString text = QString("%1 %").arg(20 * fifth);
        painter.drawText(QRect(0, y - metrics.height() / 2, area.left() - space::kSmall, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, text);
        painter.drawText(QRect(x - 30, area.bottom() + 2, 60, metrics.height()), Qt::AlignHCenter, text);
    }
    const QRect below(0, area.bottom() + metrics.height(), width(), metrics.height());
    for (const QString& words :
         {tr("confidence; bars: how often it is right, dashes: how sure it is"),
          tr("bars: how often it is right, dashes: how sure"), tr("bars: right, dashes: sure")}) {
        if (metrics.horizontalAdvance(words) > below.width()) continue;
        painter.drawText(below, Qt::AlignHCenter, words);
        break;
    }
    const auto count = static_cast<double>(m_bins.size());
    for (std::size_t i = 0; i < m_bins.size(); ++i) {
        const CalibrationBin& bin = m_bins[i];
        if (bin.samples == 0) continue;
        const int x = area.left() + static_cast<int>(area.width() * static_cast<double>(i) / count);
        const int end = area.left() + static_cast<int>(area.width() * static_cast<double>(i + 1) / count);
        QColor color = theme.compute;
        color.setAlphaF(0.35f + 0.65f * static_cast<float>(bin.samples) / static_cast<float>(m_samples));
        const int high = static_cast<int>(area.height() * bin.accuracy);
        painter.fillRect(QRect(x + 1, area.bottom() - high, end - x - 2, high), color);
        painter.setPen(QPen(theme.text, 2));
        const int sure = area.bottom() - static_cast<int>(area.height() * bin.confidence);
        painter.drawLine(x + 1, sure, end - 2, sure);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
    painter.drawLine(area.bottomLeft(), area.topRight());
}

bool CalibrationView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QRect area = plot();
    const int at = (help->pos().x() - area.left()) * static_cast<int>(m_bins.size()) / std::max(1, area.width());
    const bool inside = area.contains(help->pos()) && at >= 0 && at < static_cast<int>(m_bins.size());
    const CalibrationBin bin = inside ? m_bins[static_cast<std::size_t>(at)] : CalibrationBin();
    if (bin.samples == 0) QToolTip::hideText();
    else
        QToolTip::showText(
            help->globalPos(),
            tr("Of %1 answers that were %2 sure, %3 are right.")
                .arg(runCount(static_cast<double>(bin.samples)), runPercent(bin.confidence), runPercent(bin.accuracy)),
            this);
    return true;
}

}  // namespace lockstep::ui
