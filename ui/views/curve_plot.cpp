#include "ui/views/curve_plot.h"

#include <algorithm>

#include "ui/style/theme.h"

namespace lockstep::ui {

namespace {

constexpr int kMarkers = 12;                           // at most, along a curve
constexpr int kLegendRows = 10, kLegendWidth = 200;

QCPScatterStyle::ScatterShape shapeOf(Marker marker) {
    switch (marker) {
        case Marker::Circle: return QCPScatterStyle::ssCircle;
        case Marker::Square: return QCPScatterStyle::ssSquare;
        case Marker::Triangle: return QCPScatterStyle::ssTriangle;
        case Marker::Diamond: return QCPScatterStyle::ssDiamond;
        case Marker::Cross: return QCPScatterStyle::ssCross;
    }
    return QCPScatterStyle::ssNone;
}

QVector<double> shifted(const CurveBand& band, double deviations) {
    QVector<double> y(static_cast<qsizetype>(band.mean.size()));
    for (std::size_t i = 0; i < band.mean.size(); ++i)
        y[static_cast<qsizetype>(i)] = band.mean[i] + deviations * band.deviation[i];
    return y;
}

void paintAxis(QCPAxis& axis, const Theme& theme) {
    for (const auto& set : {&QCPAxis::setBasePen, &QCPAxis::setTickPen, &QCPAxis::setSubTickPen})
        (axis.*set)(QPen(theme.border));
    axis.setTickLabelColor(theme.muted);
    axis.setLabelColor(theme.text);
    axis.grid()->setPen(QPen(theme.grid));
    axis.grid()->setZeroLinePen(QPen(theme.grid));
}

}  // namespace

CurvePlot::CurvePlot(QWidget* parent) : QCustomPlot(parent) {
    setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    axisRect()->setRangeZoom(Qt::Horizontal);
    xAxis->setLabel(tr("step"));
    xAxis->setNumberPrecision(8);
    legend->setVisible(true);                          // beside the curves: it must not hide their ends
    auto* side = new QCPLayoutGrid;
    plotLayout()->addElement(0, 1, side);
    plotLayout()->setColumnStretchFactor(1, 0.001);
    side->addElement(0, 0, legend);
    side->addElement(1, 0, new QCPLayoutElement);      // what is left beneath the legend
    side->setRowStretchFactor(0, 0.001);
    setFocusPolicy(Qt::NoFocus);
    setMinimumSize(280, 160);
    connect(this, &QCustomPlot::mouseWheel, this, [this] { m_zoomed = true; });
    connect(this, &QCustomPlot::mouseDoubleClick, this, [this] {
        m_zoomed = false;
        draw();
    });
    connect(this, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
        if (event->buttons() != Qt::NoButton) m_zoomed = true;
    });
    draw();
}

void CurvePlot::show(std::vector<ComparedCurve> curves, const QString& quantity) {
    // A curve that only grew keeps the view that somebody zoomed to.
    m_zoomed = m_zoomed && quantity == yAxis->label() &&
               std::equal(curves.begin(), curves.end(), m_curves.begin(), m_curves.end(),
                          [](const auto& a, const auto& b) { return a.series == b.series; });
    m_curves = std::move(curves);
    yAxis->setLabel(quantity);
    draw();
}

void CurvePlot::changeEvent(QEvent* event) {
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) draw();
}

void CurvePlot::add(const ComparedCurve& curve) {
    const Theme& theme = currentTheme();
    QColor color = seriesColor(curve.series, theme);
    const QVector<double> x(curve.band.x.begin(), curve.band.x.end());
    const bool spread = std::any_of(curve.band.deviation.begin(), curve.band.deviation.end(), [](double d) { return d > 0; });
    auto* mean = addGraph();
    mean->setData(x, shifted(curve.band, 0), true);
    mean->setName(fontMetrics().elidedText(curve.name, Qt::ElideRight, kLegendWidth));
    mean->setPen(QPen(color, 1));
    mean->setScatterStyle(QCPScatterStyle(shapeOf(seriesMarker(curve.series)), color, theme.surface, 6));
    mean->setScatterSkip(static_cast<int>(x.size()) / kMarkers);
    if (legend->itemCount() > kLegendRows) mean->removeFromLegend();
    if (!spread) return;
    auto *low = addGraph(), *high = addGraph();
    low->setData(x, shifted(curve.band, -1), true);
    high->setData(x, shifted(curve.band, 1), true);
    for (auto* edge : {low, high}) edge->setPen(Qt::NoPen), edge->removeFromLegend();
    color.setAlphaF(0.2f);
    high->setBrush(color);
    high->setChannelFillGraph(low);
}

void CurvePlot::draw() {
    const Theme& theme = currentTheme();
    clearGraphs();
    setBackground(theme.surface);
    for (auto* axis : {xAxis, yAxis}) paintAxis(*axis, theme);
    legend->setBrush(theme.surface);
    legend->setBorderPen(Qt::NoPen);
    legend->setTextColor(theme.text);
    for (const auto& curve : m_curves) add(curve);
    legend->setVisible(!m_curves.empty());
    if (!m_zoomed) {
        rescaleAxes();
        for (auto* axis : {xAxis, yAxis}) axis->scaleRange(1.05);
    }
    replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace lockstep::ui
