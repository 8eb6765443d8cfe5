#pragma once
#include <qcustomplot.h>

#include "ui/style/theme.h"

namespace lockstep::ui {

constexpr int kSampleWidth = 22;

// A curve's marker as the plot, the legend and a line of text show it.
QPainterPath markerPath(Marker marker, QPointF center, qreal radius);  // `radius` pixels around
QCPScatterStyle markerStyle(Marker marker, const QColor& color, const QColor& behind);
// On a piece of its line, in the middle of `box`; a dashed curve's marker is hollow.
void paintSample(QPainter& painter, const QRectF& box, Marker marker, const QColor& color, bool dashed);
// Filled in its colour, with an outline if one is wanted; a cross, which has nothing to fill, is drawn in it.
void paintMarker(QPainter& painter, Marker marker, QPointF center, qreal radius, const QColor& color,
                 const QPen& outline = Qt::NoPen);
QString markerGlyph(Marker marker);
// A trial's colour and marker, by the number of its look, at the left of a table's cell, in the theme as it is now.
// `painter`: with antialiasing.
constexpr int kSwatchWidth = 22;
// `isQuiet`: others stand out.
void paintSwatch(QPainter& painter, const QRect& cell, std::int64_t look, bool isQuiet = false);

}  // namespace lockstep::ui
