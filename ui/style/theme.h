#pragma once
#include <QColor>
#include <QPalette>
#include <QString>
#include <cstdint>

class QApplication;

namespace lockstep::ui {

// The colours of one of the two themes. Text colours have a contrast of at least 4.5:1 on window and surface; the test
// computes it.
struct Theme {
    bool dark = false;
    QColor window, surface, raised;  // behind everything; cards and plots; hovered and selected
    QColor border, grid, outline;    // of cards; behind curves; of fields, 3:1 on a surface
    QColor text, muted;
    QColor accent, onAccent;  // the one thing to do next
    QColor good, warn, bad;
    QColor compute, reduce, wait, load, update;  // what a device does with its time, in tiles and timeline alike
};
const Theme& lightTheme();
const Theme& darkTheme();

// The theme of the application's palette; changes with it (QEvent::PaletteChange).
const Theme& currentTheme();

// A quiet selection of rows that leaves the colours of series and states to be seen.
QColor selectionColor(const Theme& theme);

enum class ThemeChoice { System, Light, Dark };
// Fusion, the palette and the style sheet; may be called again at any time.
void applyTheme(QApplication& application, ThemeChoice choice);

// Colours and markers that tell curves apart, also for the colour-blind (Okabe & Ito, "Color universal design", 2008):
// neighbours differ in both, and a pair comes again after 35. A trial's index is its id's, so that it keeps its looks
// everywhere.
constexpr int kSeriesColors = 7, kMarkers = 5;
QColor seriesColor(std::int64_t index, const Theme& theme);
enum class Marker { Circle, Square, Triangle, Diamond, Cross };
Marker seriesMarker(std::int64_t index);

// Distances in device-independent pixels.
namespace space {
constexpr int kSmall = 4, kMedium = 8, kLarge = 16, kPage = 24;
}

}  // namespace lockstep::ui
