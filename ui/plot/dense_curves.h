#pragma once
#include <qcustomplot.h>

#include <list>
#include <vector>

#include "ui/plot/curve.h"

namespace lockstep::ui {

// The strokes of a plot that have more points than it has columns, on a layer below the other curves. On the screen
// they go through CurveRaster, twelve of them in a few milliseconds; in exported pictures they are lines. Belongs to
// the plot. GUI thread.
class DenseCurves : public QCPLayerable {
public:
    struct Stroke {
        std::vector<Curve::Point> points;  // ascending in x; empty: not drawn
        QColor color;
    };

    explicit DenseCurves(QCustomPlot& plot);
    Stroke* addBehind() { return &m_strokes.emplace_front(); }
    Stroke* add() { return &m_strokes.emplace_back(); }
    void remove(const Stroke* stroke);

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;

private:
    void drawRaster(QCPPainter& painter, const QRect& rect) const;
    void drawLines(QCPPainter& painter, const QRect& rect) const;

    std::list<Stroke> m_strokes;
};

}  // namespace lockstep::ui
