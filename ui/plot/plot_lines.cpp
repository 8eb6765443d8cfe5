#include "ui/plot/plot_lines.h"

#include <qcustomplot.h>

namespace lockstep::ui {

bool PlotLines::place(const PlotModel& model) {
    bool changed = m_lines.size() != m_moments.size();
    for (; m_lines.size() > m_moments.size(); m_lines.pop_back()) m_plot->removeItem(m_lines.back());
    while (m_lines.size() < m_moments.size()) m_lines.push_back(new QCPItemStraightLine(m_plot));
    if (changed) colour(currentTheme());
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const double x = model.along(m_moments[i]);
        changed = changed || m_lines[i]->point1->key() != x;
        m_lines[i]->point1->setCoords(x, 0);
        m_lines[i]->point2->setCoords(x, 1);
    }
    return changed;
}

void PlotLines::colour(const Theme& theme) {
    for (auto* line : m_lines) line->setPen(QPen(theme.warn, 1, Qt::DashDotLine));
}

}  // namespace lockstep::ui
