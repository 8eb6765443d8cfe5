#pragma once
#include <qcustomplot.h>

#include <cmath>
#include <vector>

#include "ui/plot/curve.h"

namespace lockstep::ui {

// The places of points in a plot, in device-independent pixels: as its axes say, in less time. Good while the axes stay
// as they are.
class PlotPlaces {
public:
    explicit PlotPlaces(const QCustomPlot& plot)
        : m_x(*plot.xAxis), m_y(*plot.yAxis), m_isLog(plot.yAxis->scaleType() == QCPAxis::stLogarithmic) {}
    QPointF operator()(const Curve::Point& point) const {
        return {m_x.begin + m_x.scale * point.x, m_y.begin + m_y.scale * (m_isLog ? std::log(point.y) : point.y)};
    }
    QPolygonF operator()(const std::vector<Curve::Point>& points) const {
        QPolygonF line;
        line.reserve(static_cast<qsizetype>(points.size()));
        for (const auto& point : points) line << (*this)(point);
        return line;
    }

private:
    struct Axis {
        explicit Axis(const QCPAxis& axis) {
            const bool isLog = axis.scaleType() == QCPAxis::stLogarithmic;
            const double low = axis.range().lower, high = axis.range().upper;
            const double from = isLog ? std::log(low) : low, to = isLog ? std::log(high) : high;
            scale = (axis.coordToPixel(high) - axis.coordToPixel(low)) / (to - from);
            begin = axis.coordToPixel(low) - scale * from;
        }
        double begin = 0, scale = 1;
    };

    Axis m_x, m_y;
    bool m_isLog;
};

}  // namespace lockstep::ui
