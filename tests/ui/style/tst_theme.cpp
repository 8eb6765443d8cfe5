#include <QApplication>
#include <QtTest>
#include <cmath>

#include "ui/style/contrast.h"
#include "ui/style/motion_preference.h"
#include "ui/style/theme.h"

using namespace lockstep::ui;

namespace {

double linear(double channel) {
    return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& color) {
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

// WCAG 2.1, "contrast ratio".
double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

class TestTheme : public QObject {
    Q_OBJECT
private slots:
    void textIsReadable() {
        for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
            for (const QColor& behind : {theme->window, theme->surface, theme->raised}) {
                for (const QColor& text :
                     {theme->text, theme->muted, theme->good, theme->warn, theme->bad, theme->accent}) {
                    const double ratio = contrast(text, behind);
                    QVERIFY2(ratio >= 4.5,
                             qPrintable(QString("%1 on %2: %3").arg(text.name(), behind.name()).arg(ratio)));
                }
            }
            QVERIFY(contrast(theme->onAccent, theme->accent) >= 4.5);
            QVERIFY(contrast(theme->outline, theme->surface) >= 3);
        }
    }

    // As the portals of GNOME, of Plasma, and of any desktop have it.
    void desktopsThatAskForLessMotionAreUnderstood() {
        const auto& reduced = MotionPreference::reducedBy;
        QCOMPARE(reduced("org.gnome.desktop.interface", "enable-animations", false), std::optional(true));
        QCOMPARE(reduced("org.gnome.desktop.interface", "enable-animations", true), std::optional(false));
        QCOMPARE(reduced("org.kde.kdeglobals.KDE", "AnimationDurationFactor", "0"), std::optional(true));
        QCOMPARE(reduced("org.kde.kdeglobals.KDE", "AnimationDurationFactor", "0.5"), std::optional(false));
        QCOMPARE(reduced("org.freedesktop.appearance", "reduced-motion", 1u), std::optional(true));
        QCOMPARE(reduced("org.freedesktop.appearance", "reduced-motion", 0u), std::optional(false));
        QCOMPARE(reduced("org.gnome.desktop.interface", "font-name", "Sans 11"), std::nullopt);
    }

    // On whatever ground there is; and the colour that was wanted, where that can be read.
    void aTextFindsAReadableColor() {
        for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
            QCOMPARE(readableOn(theme->surface, theme->text), theme->text);
            for (int hue = 0; hue < 360; hue += 30) {
                for (int lightness = 0; lightness < 256; lightness += 5) {
                    const QColor ground = QColor::fromHsl(hue, 160, lightness);
                    const QColor text = readableOn(ground, theme->text);
                    QVERIFY2(contrast(text, ground) >= 4.5, qPrintable(text.name() + " on " + ground.name()));
                    QVERIFY(text == theme->text || contrast(theme->text, ground) < 4.5);
                }
            }
        }
        QVERIFY(std::abs(contrastRatio(Qt::white, Qt::black) - 21) < 1e-9);
        QVERIFY(std::abs(contrastRatio("#6fcf97", "#1d2129") - contrast("#6fcf97", "#1d2129")) < 0.01);
    }

    void curvesStandOutAndDiffer() {
        for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
            for (std::int64_t i = 0; i < kSeriesColors; ++i) {
                QVERIFY(contrast(seriesColor(i, *theme), theme->surface) >= 3);
                for (std::int64_t j = 0; j < i; ++j) QVERIFY(seriesColor(i, *theme) != seriesColor(j, *theme));
            }
        }
        const auto looks = [](std::int64_t i) { return std::pair(seriesColor(i, lightTheme()), seriesMarker(i)); };
        for (std::int64_t i = 0; i < kSeriesColors * kMarkers; ++i) {
            QVERIFY(looks(i).first != looks(i + 1).first && looks(i).second != looks(i + 1).second);
            QVERIFY(looks(i) == looks(i + kSeriesColors * kMarkers));
            for (std::int64_t j = 0; j < i; ++j) QVERIFY(looks(i) != looks(j));
        }
    }

    void whatADeviceDoesIsToldApart() {
        for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
            const QColor colors[] = {theme->compute, theme->reduce, theme->wait, theme->load, theme->update};
            for (std::size_t i = 0; i < std::size(colors); ++i) {
                for (std::size_t j = 0; j < i; ++j) {
                    const int apart = std::abs(colors[i].red() - colors[j].red()) +
                                      std::abs(colors[i].green() - colors[j].green()) +
                                      std::abs(colors[i].blue() - colors[j].blue());
                    QVERIFY2(apart > 80, qPrintable(colors[i].name() + " and " + colors[j].name()));
                }
            }
        }
    }

    void theApplicationFollowsTheChoice() {
        auto& application = *static_cast<QApplication*>(QCoreApplication::instance());
        applyTheme(application, ThemeChoice::Dark);
        QVERIFY(currentTheme().dark);
        applyTheme(application, ThemeChoice::Light);
        QVERIFY(!currentTheme().dark);
        QCOMPARE(QApplication::palette().color(QPalette::Window), lightTheme().window);
    }
};

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
