#include "ui/plot/plot_highlights.h"

#include <qcustomplot.h>

#include <QVector>

namespace lockstep::ui {

namespace {

constexpr double kRaisedWidth = 2.5, kMemberWidth = 1.5, kDotSize = 7;

}  // namespace

void PlotHighlights::raise(std::vector<PlotSeries> lines, const PlotModel& model) {
    m_raised = std::move(lines);
    for (; m_graphs.size() > m_raised.size(); m_graphs.pop_back()) m_plot->removeGraph(m_graphs.back());
    while (m_graphs.size() < m_raised.size()) {
        QCPGraph* graph = m_plot->addGraph();
        graph->removeFromLegend();
        graph->setAdaptiveSampling(true);
        graph->setLayer("overlay");
        m_graphs.push_back(graph);
    }
    place(model);
    colour(currentTheme());
}

void PlotHighlights::place(const PlotModel& model) {
    const QCPRange x = m_plot->xAxis->range();
    for (std::size_t i = 0; i < m_raised.size(); ++i) {
        QVector<QCPGraphData> data;
        for (const auto& [at, value] : model.drawLine(m_raised[i], {x.lower, x.upper}, m_plot->axisRect()->width()))
            data.append({at, value});
        m_graphs[i]->data()->set(data, true);
    }
}

void PlotHighlights::setTarget(std::optional<double> value, const QString& words) {
    m_target = value;
    if (!m_line) {
        m_line = new QCPItemStraightLine(m_plot);
        m_line->setAntialiased(false);
        m_words = new QCPItemText(m_plot);
        m_words->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
        m_words->setPadding({0, 0, 4, 1});
        m_words->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
        m_words->position->setTypeY(QCPItemPosition::ptPlotCoords);
        colour(currentTheme());
    }
    m_line->setVisible(value.has_value());
    m_words->setVisible(value.has_value());
    m_words->setText(words);
    m_line->point1->setCoords(0, value.value_or(1));
    m_line->point2->setCoords(1, value.value_or(1));
    m_words->position->setCoords(1, value.value_or(1));
}

void PlotHighlights::colour(const Theme& theme) {
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        const PlotSeries& line = m_raised[i];
        const QColor color = line.color >= 0 ? seriesColor(line.color, theme) : theme.text;
        m_graphs[i]->setPen(
            QPen(color, line.dashed ? kMemberWidth : kRaisedWidth, line.dashed ? Qt::DashLine : Qt::SolidLine));
        const bool isPoint = line.curve->size() == 1;  // no line goes through it
        m_graphs[i]->setScatterStyle(isPoint ? QCPScatterStyle(QCPScatterStyle::ssDisc, color, kDotSize)
                                             : QCPScatterStyle(QCPScatterStyle::ssNone));
    }
    if (!m_line) return;
    m_line->setPen(QPen(theme.good, 1, Qt::DashLine));
    m_words->setColor(theme.good);
    m_words->setFont(m_plot->font());
}

}  // namespace lockstep::ui
