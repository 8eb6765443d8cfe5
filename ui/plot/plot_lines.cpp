#include "ui/plot/plot_lines.h"

#include <qcustomplot.h>

#include <algorithm>

namespace lockstep::ui {

namespace {

constexpr int kBehindName = 210;  // of 255: curves shine through

QColor colorOf(PlotMoment::Tone tone, const Theme& theme) {
    return tone == PlotMoment::Tone::Good ? theme.good : tone == PlotMoment::Tone::Bad ? theme.bad : theme.warn;
}

}  // namespace

PlotLines::Line PlotLines::make() {
    Line made{new QCPItemStraightLine(m_plot), new QCPItemText(m_plot)};
    made.name->setLayer("overlay");
    made.name->position->setTypeX(QCPItemPosition::ptPlotCoords);
    made.name->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    made.name->setPadding(QMargins(space::kSmall, 1, space::kSmall, 1));
    made.name->setFont(m_plot->font());
    made.name->setVisible(false);
    return made;
}

bool PlotLines::place(const PlotModel& model) {
    bool changed = m_lines.size() != m_moments.size();
    for (; m_lines.size() > m_moments.size(); m_lines.pop_back()) {
        m_plot->removeItem(m_lines.back().line);
        m_plot->removeItem(m_lines.back().name);
    }
    while (m_lines.size() < m_moments.size()) m_lines.push_back(make());
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const double x = model.along(m_moments[i]);
        QCPItemStraightLine* line = m_lines[i].line;
        const bool named = name(i, x);
        changed = changed || named || line->point1->key() != x;
        line->point1->setCoords(x, 0);
        line->point2->setCoords(x, 1);
    }
    if (changed) colour(currentTheme());
    return changed;
}

// Towards the middle of the plot, one below the other, so that neighbours do not hide each other.
bool PlotLines::name(std::size_t index, double x) {
    QCPItemText* text = m_lines[index].name;
    const QString& name = m_moments[index].name;
    const double height = std::max(1, m_plot->axisRect()->height());
    const double line = QFontMetrics(text->font()).height() + space::kSmall;
    const bool isLeft = x > m_plot->xAxis->range().center();
    const Qt::Alignment side = (isLeft ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignTop;
    const bool changed = text->text() != name || text->positionAlignment() != side;
    text->setText(name);
    text->setVisible(!name.isEmpty() && m_plot->xAxis->range().contains(x));
    text->setPositionAlignment(side);
    text->position->setCoords(x, static_cast<double>(index) * line / height);
    return changed;
}

void PlotLines::colour(const Theme& theme) {
    for (std::size_t i = 0; i < std::min(m_lines.size(), m_moments.size()); ++i) {
        const QColor color = colorOf(m_moments[i].tone, theme);
        QColor behind = theme.surface;
        behind.setAlpha(kBehindName);
        m_lines[i].line->setPen(QPen(color, 1, Qt::DashDotLine));
        m_lines[i].name->setColor(color);
        m_lines[i].name->setBrush(behind);
    }
}

}  // namespace lockstep::ui
