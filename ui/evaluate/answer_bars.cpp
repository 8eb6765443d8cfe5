#include "ui/evaluate/answer_bars.h"

#include <QPainter>
#include <algorithm>

#include "engine/spec/evaluation.h"
#include "ui/plot/run_text.h"
#include "ui/style/theme.h"

namespace lockstep::ui {

AnswerBars::AnswerBars(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("The likeliest classes"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void AnswerBars::setBars(QVector<Bar> bars) {
    m_bars = std::move(bars);
    QStringList spoken;
    for (const Bar& bar : m_bars) spoken << bar.name + ' ' + runPercent(bar.probability);
    setAccessibleDescription(spoken.join(", "));
    update();
}

// Room for all five, so that nothing moves when an answer comes.
QSize AnswerBars::sizeHint() const { return {260, static_cast<int>(Answer::kClasses) * rowHeight()}; }

void AnswerBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const auto& theme = currentTheme();
    const auto metrics = fontMetrics();
    const int row = rowHeight(), number = metrics.horizontalAdvance("100.00 %") + space::kMedium;
    int name = 0;
    for (const Bar& bar : m_bars) name = std::max(name, metrics.horizontalAdvance(bar.name) + 2);
    name = std::min(name, width() / 2 - number / 2) + space::kMedium;
    const int room = std::max(0, width() - name - number);
    for (int i = 0; i < m_bars.size(); ++i) {
        const Bar& bar = m_bars[i];
        painter.setPen(theme.text);
        painter.drawText(QRect(0, i * row, name, row), Qt::AlignVCenter,
                         metrics.elidedText(bar.name, Qt::ElideRight, name - space::kMedium));
        painter.fillRect(QRect(name, i * row + 6, room, row - 12), theme.grid);
        painter.fillRect(QRect(name, i * row + 6, static_cast<int>(room * bar.probability), row - 12),
                         bar.isTrue ? theme.good : theme.compute);
        painter.setPen(theme.muted);
        painter.drawText(QRect(0, i * row, width(), row), Qt::AlignVCenter | Qt::AlignRight,
                         runPercent(bar.probability));
    }
}

}  // namespace lockstep::ui
