#pragma once
#include <qcustomplot.h>

#include <QIcon>

#include "ui/style/theme.h"

namespace lockstep::ui {

// A curve's marker as the plot, the legend and a line of text show it.
QCPScatterStyle markerStyle(Marker marker, const QColor& color, const QColor& behind);
QIcon markerIcon(Marker marker, const QColor& color, double pixelRatio);       // on a piece of its line
QString markerGlyph(Marker marker);

}  // namespace lockstep::ui
