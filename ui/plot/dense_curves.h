#pragma once
#include <qcustomplot.h>

#include <list>
#include <vector>

#include "ui/plot/curve.h"
#include "ui/plot/curve_raster.h"

namespace lockstep::ui {

// What a plot has too much of for a general painter, on a layer below the other curves: strokes of more points than it
// has columns, the lines of many curves, and bands. On the screen they go through CurveRaster, fifty of them in a few
// milliseconds; in exported pictures they are lines and polygons. Belongs to the plot. GUI thread.
class DenseCurves : public QCPLayerable {
public:
    struct Stroke {
        std::vector<Curve::Point> points;  // ascending in x; empty: not drawn
        QColor color;
    };
    struct Band {
        std::vector<Curve::Point> low, high;
        QColor color;
    };

    explicit DenseCurves(QCustomPlot& plot);
    Stroke* addBehind() { return &m_strokes.emplace_front(); }
    Stroke* add() { return &m_strokes.emplace_back(); }
    Band* addBand() { return &m_bands.emplace_back(); }       // behind all strokes
    void setCoarse(bool isCoarse) { m_isCoarse = isCoarse; }  // columns twice as wide, in half the time
    void remove(const Stroke* stroke);
    void remove(const Band* band);

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;

private:
    void drawRaster(QCPPainter& painter, const QRect& rect);
    void drawLines(QCPPainter& painter, const QRect& rect) const;
    void drawSmoothly(QCPPainter& painter, const QRect& rect, const Band& band) const;

    std::list<Stroke> m_strokes;
    std::list<Band> m_bands;
    CurveRaster m_raster;
    bool m_isCoarse = false;
};

}  // namespace lockstep::ui
