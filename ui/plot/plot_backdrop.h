#pragma once
#include <qcustomplot.h>

#include <QImage>
#include <optional>

#include "ui/plot/plot_model.h"

namespace lockstep::ui {

// Paints the lines behind a plot's series (PlotModel::behind()), on a layer below all curves. What was painted is kept;
// while somebody zooms or moves and painting takes longer than a picture may, it is stretched to where it lies now.
// Belongs to the plot; the model outlives it. GUI thread.
class PlotBackdrop : public QCPLayerable {
public:
    PlotBackdrop(QCustomPlot& plot, const PlotModel& model);
    void forget();  // lines or colours are others
    void setMoving(bool isMoving) { m_isMoving = isMoving; }
    bool isStretched() const { return m_isStretched; }  // what is seen is not what would be painted

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;

private:
    // What the kept picture shows.
    struct View {
        PlotRange x, y;
        QSize size;
        PlotAxis axis = PlotAxis::Step;
        bool isLog = false;
        bool operator==(const View& other) const;
    };

    View viewAt(double ratio) const;
    QImage painted(double ratio) const;
    void drawLines(QCPPainter& painter) const;
    void drawEnds(QPainter& painter) const;
    QColor colorOf(const PlotSeries& line) const;
    QRectF placeOf(const View& view) const;

    const PlotModel& m_model;
    QImage m_picture;
    std::optional<View> m_shown;
    double m_milliseconds = 0;  // that painting took
    bool m_isMoving = false, m_isStretched = false;
};

}  // namespace lockstep::ui
