#include "ui/style/theme.h"

#include <QApplication>
#include <QStyleFactory>
#include <QStyleHints>
#include <array>

namespace lockstep::ui {

namespace {

Theme makeLight() {
    Theme t;
    t.window = "#f4f5f7";
    t.surface = "#ffffff";
    t.raised = "#e9edf3";
    t.border = "#d3d8e0";
    t.outline = "#868fa0";
    t.grid = "#e6e9ee";
    t.text = "#1b2230";
    t.muted = "#586274";
    t.accent = "#0b5cad";
    t.onAccent = "#ffffff";
    t.good = "#17703f";
    t.warn = "#8a5300";
    t.bad = "#b3261e";
    t.compute = "#0072b2";
    t.reduce = "#d55e00";
    t.wait = "#8f98a8";
    t.load = "#009e73";
    t.update = "#a8467f";
    return t;
}

Theme makeDark() {
    Theme t;
    t.dark = true;
    t.window = "#15181e";
    t.surface = "#1d2129";
    t.raised = "#2a303b";
    t.border = "#39414f";
    t.outline = "#758093";
    t.grid = "#2b313b";
    t.text = "#e8ecf3";
    t.muted = "#a3adbd";
    t.accent = "#6cb2f7";
    t.onAccent = "#0c1622";
    t.good = "#6fcf97";
    t.warn = "#f2b45c";
    t.bad = "#ff8a80";
    t.compute = "#56b4e9";
    t.reduce = "#f0883e";
    t.wait = "#7a8496";
    t.load = "#2fc79a";
    t.update = "#e08bbd";
    return t;
}

QPalette paletteOf(const Theme& t) {
    QPalette p;
    p.setColor(QPalette::Window, t.window);
    p.setColor(QPalette::WindowText, t.text);
    p.setColor(QPalette::Base, t.surface);
    p.setColor(QPalette::AlternateBase, t.window);
    p.setColor(QPalette::Text, t.text);
    p.setColor(QPalette::PlaceholderText, t.muted);
    p.setColor(QPalette::Button, t.surface);
    p.setColor(QPalette::ButtonText, t.text);
    p.setColor(QPalette::BrightText, t.bad);
    p.setColor(QPalette::Highlight, t.accent);
    p.setColor(QPalette::HighlightedText, t.onAccent);
    p.setColor(QPalette::Link, t.accent);
    p.setColor(QPalette::ToolTipBase, t.raised);
    p.setColor(QPalette::ToolTipText, t.text);
    p.setColor(QPalette::Light, t.raised);
    p.setColor(QPalette::Midlight, t.grid);
    p.setColor(QPalette::Mid, t.border);
    p.setColor(QPalette::Dark, t.border);
    p.setColor(QPalette::Shadow, t.border);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        p.setColor(QPalette::Disabled, role, t.muted);
    }
    return p;
}

// Fusion draws the outline of a field as the window's colour made darker (QFusionStylePrivate::outline): on a dark
// window nobody would see it.
QPalette fieldPaletteOf(const Theme& t) {
    QPalette p = paletteOf(t);
    p.setColor(QPalette::Window, t.outline.lighter(140));
    return p;
}

QString styleSheetOf(const Theme& t) {
    return QString(R"(
        QToolTip { color: %1; background: %2; border: 1px solid %3; padding: 6px; }
        QFrame[card="true"] { background: %4; border: 1px solid %3; border-radius: 8px; }
        QLabel[role="title"] { font-size: 20px; font-weight: 600; }
        QLabel[role="heading"] { font-weight: 600; }
        QLabel[role="muted"] { color: %5; }
        QLabel[role="problem"] { color: %6; }
        QLabel[role="number"] { font-size: 18px; font-weight: 600; }
        QListWidget#navigation { background: %4; border: none; border-right: 1px solid %3; padding-top: 16px; outline: none; }
        QListWidget#navigation::item { padding: 10px 18px; margin: 2px 8px; border-radius: 6px; color: %1; }
        QListWidget#navigation::item:hover { background: %2; }
        QListWidget#navigation::item:selected { background: %7; color: %8; }
        QPushButton { padding: 6px 14px; border: 1px solid %3; border-radius: 6px; background: %4; }
        QPushButton:hover { background: %2; }
        QPushButton:focus { border: 2px solid %7; padding: 5px 13px; }
        QPushButton:disabled { color: %5; background: transparent; }
        QPushButton[primary="true"] { background: %7; color: %8; border-color: %7; font-weight: 600; }
        QPushButton[primary="true"]:focus { border: 2px solid %1; }
        QPushButton[primary="true"]:disabled { background: %3; color: %5; border-color: %3; }
        QProgressBar[thin="true"] { background: %3; border: none; border-radius: 3px; }
        QProgressBar[thin="true"]::chunk { background: %7; border-radius: 3px; }
        QToolButton[beside="true"] { color: %1; background: %4; border: 1px solid %3; border-radius: 4px; padding: 1px 6px; }
        QToolButton[beside="true"]:hover { background: %2; }
        QToolButton[beside="true"]:focus { border-color: %7; }
        QToolButton[beside="true"]:disabled { color: %5; background: transparent; }
        QToolButton[quiet="true"] { color: %5; background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 1px 4px; }
        QToolButton[quiet="true"]:hover { color: %1; background: %2; }
        QToolButton[quiet="true"]:focus { border-color: %7; }
        QToolButton[quiet="true"]:checked { color: %8; background: %7; }
        QToolButton[quiet="true"]:checked:focus { border-color: %1; }
    )")
        .arg(t.text.name(), t.raised.name(), t.border.name(), t.surface.name(), t.muted.name(), t.bad.name(),
             t.accent.name(), t.onAccent.name());
}

bool isDark(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

// Five markers go with them in turn: those that have the same are not alike.
constexpr std::array<const char*, kSeriesColors> kOnLight{"#0072b2", "#d55e00", "#008a64", "#a8467f",
                                                          "#2b7fa8", "#8a6d00", "#4a4a4a"};
constexpr std::array<const char*, kSeriesColors> kOnDark{"#4aa8e0", "#f0883e", "#2fc79a", "#e08bbd",
                                                         "#8fd0f5", "#f0e442", "#c8c8c8"};

// Place in a ring of `size`; 1, the first trial's, is its beginning.
std::size_t turn(std::int64_t index, std::int64_t size) {
    return static_cast<std::size_t>(((index - 1) % size + size) % size);
}

}  // namespace

const Theme& lightTheme() {
    static const Theme theme = makeLight();
    return theme;
}

const Theme& darkTheme() {
    static const Theme theme = makeDark();
    return theme;
}

const Theme& currentTheme() { return isDark(QApplication::palette()) ? darkTheme() : lightTheme(); }

QColor selectionColor(const Theme& theme) {
    const float share = theme.dark ? 0.3f : 0.16f;
    const auto mixed = [&](float below, float above) { return (1 - share) * below + share * above; };
    return QColor::fromRgbF(mixed(theme.surface.redF(), theme.accent.redF()),
                            mixed(theme.surface.greenF(), theme.accent.greenF()),
                            mixed(theme.surface.blueF(), theme.accent.blueF()));
}

void applyTheme(QApplication& application, ThemeChoice choice) {
    static const bool systemIsDark = isDark(QApplication::palette());
    const bool dark = choice == ThemeChoice::System ? systemIsDark : choice == ThemeChoice::Dark;
    const Theme& theme = dark ? darkTheme() : lightTheme();
    QApplication::setStyle(QStyleFactory::create("Fusion"));
    QApplication::setPalette(paletteOf(theme));
    for (const char* field : {"QLineEdit", "QComboBox", "QAbstractSpinBox", "QCheckBox", "QPlainTextEdit", "QSlider"})
        QApplication::setPalette(fieldPaletteOf(theme), field);
    application.setStyleSheet(styleSheetOf(theme));
}

QColor seriesColor(std::int64_t index, const Theme& theme) {
    const std::size_t at = turn(index, kSeriesColors);
    return QColor(theme.dark ? kOnDark[at] : kOnLight[at]);
}

Marker seriesMarker(std::int64_t index) { return static_cast<Marker>(turn(index, kMarkers)); }

}  // namespace lockstep::ui
