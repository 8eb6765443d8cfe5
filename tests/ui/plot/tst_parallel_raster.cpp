#include <QPainter>
#include <QtTest>
#include <cmath>
#include <random>
#include <vector>

#include "ui/plot/color_ramp.h"
#include "ui/plot/parallel_raster.h"
#include "ui/style/contrast.h"

using namespace lockstep::ui;
using Line = ParallelRaster::Line;

namespace {

constexpr QRgb kWhite = 0xFFFFFFFF, kBlack = 0xFF000000;
constexpr int kWidth = 120, kHeight = 300;

QImage painted(const std::vector<Line>& lines, double thickness) {
    ParallelRaster raster(kWidth, kHeight, kWhite);
    raster.paint(0, kWidth, lines, thickness);
    return raster.image();
}

// How many pixels of a column are black, grey ones in part.
double inkIn(const QImage& image, int column) {
    double ink = 0;
    for (int y = 0; y < image.height(); ++y) ink += 1 - qRed(image.pixel(column, y)) / 255.0;
    return ink;
}

QImage byPainter(const std::vector<Line>& lines, double thickness) {
    QImage image(kWidth, kHeight, QImage::Format_RGB32);
    image.fill(kWhite);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    for (const Line& line : lines) {
        painter.setPen(QPen(QColor::fromRgba(line.color), thickness, Qt::SolidLine, Qt::SquareCap));
        painter.drawLine(QPointF(0, line.from), QPointF(kWidth, line.to));
    }
    return image;
}

}  // namespace

class TestParallelRaster : public QObject {
    Q_OBJECT
private slots:
    // A line as thick as t covers of each column t times what its slope makes it longer.
    void aLineCoversOfEveryColumnWhatItsSlopeSays() {
        for (const double rise : {0.0, 1.0, 37.5, 80.0, 200.0}) {
            for (const double thickness : {1.0, 1.3, 2.4}) {
                const QImage image = painted({{40.3f, static_cast<float>(40.3 + rise), kBlack}}, thickness);
                const double slope = rise / kWidth, wanted = thickness * std::sqrt(1 + slope * slope);
                for (int x = 0; x < kWidth; ++x) QVERIFY(std::abs(inkIn(image, x) - wanted) < 0.04 * wanted + 0.02);
            }
        }
    }

    void manyLinesLookAsThoseOfAPlainPainter() {
        std::mt19937 random(5);
        std::uniform_real_distribution<float> height(20, kHeight - 20);
        std::vector<Line> lines;
        for (int i = 0; i < 60; ++i)
            lines.push_back(
                {height(random), height(random), qRgba(10 * (i % 20), 80, 200 - 10 * (i % 20), i % 3 ? 255 : 90)});
        const QImage ours = painted(lines, 1.3), theirs = byPainter(lines, 1.3);
        double away = 0;
        for (int x = 0; x < kWidth; ++x) {
            double in = 0, of = 0;  // of the column
            for (int y = 0; y < kHeight; ++y) {
                in += 255 - qGreen(ours.pixel(x, y)), of += 255 - qGreen(theirs.pixel(x, y));
                away += std::abs(qGreen(ours.pixel(x, y)) - qGreen(theirs.pixel(x, y)));
            }
            QVERIFY2(std::abs(in - of) < 0.06 * of,
                     qPrintable(QString("column %1: %2, not %3").arg(x).arg(in).arg(of)));
        }
        QVERIFY2(away / (kWidth * kHeight) < 4, qPrintable(QString::number(away / (kWidth * kHeight))));
    }

    void theLastLineLiesAboveTheOthers() {
        const QRgb red = qRgb(200, 0, 0), blue = qRgb(0, 0, 200);
        QCOMPARE(painted({{50, 50, red}, {50, 50, blue}}, 4).pixel(60, 50), blue);
        QCOMPARE(painted({{50, 50, blue}, {50, 50, red}}, 4).pixel(60, 50), red);
    }

    void translucentLinesAddUp() {
        const QRgb ghost = qRgba(0, 0, 0, 51);  // a fifth
        const int once = qRed(painted({{50, 50, ghost}}, 4).pixel(60, 50));
        const int twice = qRed(painted({{50, 50, ghost}, {50, 50, ghost}}, 4).pixel(60, 50));
        QVERIFY(std::abs(once - 204) <= 1);
        QVERIFY(std::abs(twice - 163) <= 2);
    }

    void dashesLeaveGaps() {
        const QImage image = painted({{50, 50, kBlack, true}}, 1);
        int drawn = 0;
        for (int x = 0; x < kWidth; ++x) drawn += inkIn(image, x) > 0.5;
        QVERIFY2(drawn > kWidth / 3 && drawn < 4 * kWidth / 5, qPrintable(QString::number(drawn)));
        QVERIFY(inkIn(image, 0) > 0.5);
    }

    void otherColumnsStayAsTheyAre() {
        ParallelRaster raster(kWidth, kHeight, kWhite);
        raster.paint(30, 60, std::vector<Line>{{10, 290, kBlack}, {299, 0, kBlack}}, 2);
        const QImage image = raster.image();
        for (const int x : {0, 29, 60, 119}) QCOMPARE(inkIn(image, x), 0.0);
        for (const int x : {30, 59}) QVERIFY(inkIn(image, x) > 2);
    }

    // Within the picture, however steep: nothing is written elsewhere.
    void linesAtTheEdgesAndAlmostUprightOnes() {
        ParallelRaster raster(kWidth, kHeight, kWhite);
        raster.paint(0, 1, std::vector<Line>{{0, kHeight, kBlack}, {kHeight, 0, kBlack}}, 3);
        raster.paint(kWidth - 2, kWidth,
                     std::vector<Line>{{-1e6f, 1e6f, kBlack}, {0, 0, kBlack}, {kHeight, kHeight, kBlack}}, 3);
        raster.paint(40, 20, std::vector<Line>{{0, 10, kBlack}}, 3);
        raster.paint(-50, 10'000, std::vector<Line>{}, 3);
        const QImage image = raster.image();
        QVERIFY(inkIn(image, 0) > kHeight - 10);
        QCOMPARE(inkIn(image, 30), 0.0);
    }

    // Even steps: of lightness, which all people see alike; and the best stands out most.
    void theRampIsEvenAndReadable() {
        for (const Theme& theme : {lightTheme(), darkTheme()}) {
            std::vector<double> lightness;
            for (int i = 0; i <= 10; ++i) {
                const double bright = contrastRatio(rampColor(i / 10.0, theme), Qt::black) * 0.05 - 0.05;
                lightness.push_back(116 * std::cbrt(bright) - 16);  // CIE L*
            }
            const double step = (lightness.back() - lightness.front()) / 10;
            for (std::size_t i = 1; i < lightness.size(); ++i) {
                const double share = (lightness[i] - lightness[i - 1]) / step;
                QVERIFY2(share > 0.5 && share < 1.6, qPrintable(QString::number(share)));
            }
            QVERIFY(contrastRatio(rampColor(1, theme), theme.surface) > 9);
            QVERIFY(contrastRatio(rampColor(0, theme), theme.surface) > 1.4);
        }
    }
};

QTEST_APPLESS_MAIN(TestParallelRaster)
#include "tst_parallel_raster.moc"
