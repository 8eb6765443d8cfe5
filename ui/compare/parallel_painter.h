#pragma once
#include <QColor>
#include <QFont>
#include <QPainter>

#include "ui/compare/parallel_lines.h"

namespace lockstep::ui {

// "Learning rate ↑": which way its numbers grow.
QString titleText(const ParallelAxis& axis);

// Draws what stands around and above the lines of a plot of parallel coordinates, in the theme as it is now. The plot
// outlives it.
class ParallelPainter {
public:
    ParallelPainter(QPainter& painter, const ParallelPlot& plot, const QFont& font);

    void paintAxes() const;  // with ticks, titles and slots, and what colours mean at the objective
    void paintBrushes(const Brushes& brushes) const;
    void paintMarks() const;  // at the objective: crosses of failures, epochs at which trials were cut short
    void paintTrial(std::size_t row, const QColor& color, double width) const;
    // Rows with their colours and markers. Where several go the same way, their colours take turns along it.
    struct Pinned {
        std::size_t row = 0;
        QColor color;
        Marker marker = Marker::Circle;
    };
    void paintPinned(const std::vector<Pinned>& pinned) const;
    void paintValues(std::size_t row) const;  // of one trial, at each axis

private:
    void paintPinnedGap(const std::vector<Pinned>& pinned, std::size_t gap) const;
    void paintTicks(std::size_t axis) const;
    void paintTitle(std::size_t axis) const;
    void paintSlots(std::size_t axis) const;
    void paintRamp(std::size_t axis) const;
    void paintCrosses(std::size_t axis) const;
    void paintEpochs(std::size_t axis) const;
    // Beside an axis, on a ground that lines do not show through. `room`: its widest.
    void paintWords(const QString& words, QPointF at, double room, bool isLeft, const QColor& color) const;
    QPointF placeOf(std::size_t row, std::size_t axis) const;
    std::optional<std::size_t> objective() const;  // among the shown axes

    QPainter& m_painter;
    const ParallelPlot& m_plot;
    const ParallelLayout& m_layout;
    const QFont m_font, m_small;
    const QFontMetricsF m_metrics, m_smallMetrics;
};

}  // namespace lockstep::ui
