#pragma once
#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <functional>

#include "engine/report/chart_scale.h"

namespace lockstep::ui {

struct ChartAxis {
    report::ChartScale scale;
    QString title = {};                              // with its unit; empty: none
    std::function<QString(double)> words = nullptr;  // of a tick; empty: report::tickText
};
// A scale that shows [low, high] with some air, by its logarithm where asked.
report::ChartScale chartScale(double low, double high, bool isLog, int most);

// The axes of a chart that a view paints by itself: where a value lies in its area, and grid, ticks and titles around.
// In the theme as it is now. A plain value.
class ChartFrame {
public:
    ChartFrame(const QRectF& area, ChartAxis x, ChartAxis y, const QFont& font);

    const QRectF& plot() const { return m_plot; }  // within the axes
    const ChartAxis& x() const { return m_x; }
    const ChartAxis& y() const { return m_y; }
    QPointF at(double x, double y) const;
    double xAt(double pixel) const;  // the value there
    double yAt(double pixel) const;
    void paint(QPainter& painter) const;  // behind what is drawn within

private:
    QString text(const ChartAxis& axis, double tick) const;

    ChartAxis m_x, m_y;
    QFont m_font;
    QRectF m_area, m_plot;
};

}  // namespace lockstep::ui
