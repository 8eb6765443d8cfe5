#include <QPainter>
#include <QPointF>
#include <QtTest>
#include <cmath>
#include <random>
#include <vector>

#include "ui/plot/curve_raster.h"

using lockstep::ui::CurveRaster;

namespace {

constexpr QRgb kRed = qRgb(200, 30, 20);

const auto kAsIs = [](const QPointF& point) { return point; };

QImage painted(int width, int height, const std::vector<QPointF>& points, QRgb color = kRed) {
    CurveRaster raster(width, height);
    raster.paint(points, kAsIs, color);
    return raster.image();
}

int paintedIn(const QImage& image, int column) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y) count += qAlpha(image.pixel(column, y)) > 0;
    return count;
}

}  // namespace

class TestCurveRaster : public QObject {
    Q_OBJECT
private slots:
    // Against the plain statement: a pixel is painted if it lies between its column's smallest and largest value, or
    // between them and the neighbour's.
    void columnsReachFromTheSmallestToTheLargest() {
        constexpr int kWidth = 200, kHeight = 90, kPerColumn = 6;
        std::mt19937 random(7);
        std::uniform_real_distribution<double> value(0, kHeight);
        std::vector<QPointF> points;
        std::vector<std::pair<int, int>> spans;
        for (int x = 0; x < kWidth; ++x) {
            std::pair<int, int> span{kHeight, -1};
            for (int i = 0; i < kPerColumn; ++i) {
                points.emplace_back(x + static_cast<double>(i) / kPerColumn, value(random) * (x % 3 ? 0.2 : 1));
                const int at = static_cast<int>(points.back().y());
                span = {std::min(span.first, at), std::max(span.second, at)};
            }
            spans.push_back(span);
        }
        const QImage image = painted(kWidth, kHeight, points);
        for (int x = 0; x < kWidth; ++x) {
            auto [from, to] = spans[static_cast<std::size_t>(x)];
            if (x > 0) {
                const auto [lastFrom, lastTo] = spans[static_cast<std::size_t>(x - 1)];
                if (lastTo < from) from = lastTo + 1;
                if (lastFrom > to) to = lastFrom - 1;
            }
            for (int y = 0; y < kHeight; ++y) QCOMPARE(image.pixel(x, y) == kRed, y >= from && y <= to);
        }
    }

    void aJumpHasNoGap() {
        const QImage image = painted(3, 50, {{0.5, 2}, {1.5, 40}, {2.5, 41}});
        QCOMPARE(paintedIn(image, 0), 1);
        QCOMPARE(paintedIn(image, 1), 38);
        QCOMPARE(paintedIn(image, 2), 1);
    }

    void aColumnWithoutPointsIsBridgedAWideHoleIsNot() {
        const QImage image = painted(12, 20, {{0, 5}, {2, 5}, {11, 5}});
        QCOMPARE(paintedIn(image, 1), 1);
        QCOMPARE(paintedIn(image, 6), 0);
    }

    void whatIsOutsideIsLeftOut() {
        const QImage image = painted(4, 10, {{-3, 5}, {0, -100}, {1, 1e9}, {2, std::nan("")}, {3, 4}, {9, 4}});
        QCOMPARE(paintedIn(image, 0), 0);
        QCOMPARE(paintedIn(image, 1), 10);  // on its way down, out of the picture
        QCOMPARE(paintedIn(image, 3), 6);
    }

    // Against the plain statement: a column has what the line passes between its left and its right edge.
    void aLineIsStraightBetweenItsPoints() {
        constexpr int kWidth = 60, kHeight = 40;
        const std::vector<QPointF> points{{2.5, 3}, {20.25, 35.5}, {20.75, 10}, {57, 20}};
        CurveRaster raster(kWidth, kHeight);
        raster.paintLine(points, kAsIs, kRed);
        const QImage image = raster.image();
        for (int x = 0; x < kWidth; ++x) {
            double least = 1e9, most = -1e9;
            for (std::size_t i = 0; i + 1 < points.size(); ++i) {
                const QPointF from = points[i], to = points[i + 1];
                const double left = std::max<double>(x, from.x()), right = std::min<double>(x + 1, to.x());
                for (const double at : {left, right}) {
                    if (left > right) continue;
                    const double y = from.y() + (to.y() - from.y()) * (at - from.x()) / (to.x() - from.x());
                    least = std::min(least, y), most = std::max(most, y);
                }
            }
            const int painted = paintedIn(image, x);
            if (least > most) QCOMPARE(painted, 0);
            else QVERIFY(std::abs(painted - (std::floor(most) - std::floor(least) + 1)) <= 1);
        }
    }

    void aBandIsWhatLiesBetweenItsEdges() {
        CurveRaster raster(20, 30);
        raster.paintBand(std::vector<QPointF>{{0, 20}, {20, 20}}, std::vector<QPointF>{{5, 10}, {15, 10}}, kAsIs, kRed);
        const QImage image = raster.image();
        QCOMPARE(paintedIn(image, 2), 0);  // one of its edges alone
        QCOMPARE(paintedIn(image, 10), 11);
        QVERIFY(qAlpha(image.pixel(10, 9)) == 0 && qAlpha(image.pixel(10, 21)) == 0);
        raster.paintBand(std::vector<QPointF>{{0, 500}, {20, 500}}, std::vector<QPointF>{{0, -50}, {20, -50}}, kAsIs,
                         kRed);
        QCOMPARE(paintedIn(raster.image(), 19), 30);
        raster.paintBand(std::vector<QPointF>{}, std::vector<QPointF>{}, kAsIs, kRed);
    }

    // Against Qt's painter.
    void translucentColoursAddUp() {
        const QRgb ghost = qRgba(0, 114, 178, 80);
        CurveRaster raster(1, 1);
        QImage expected(1, 1, QImage::Format_ARGB32_Premultiplied);
        expected.fill(Qt::transparent);
        for (const QRgb color : {ghost, kRed, ghost, ghost}) {
            raster.paint(std::vector<QPointF>{{0, 0}}, kAsIs, color);
            QPainter(&expected).fillRect(0, 0, 1, 1, QColor::fromRgba(color));
            const QRgb got = raster.image().pixel(0, 0), wanted = expected.pixel(0, 0);
            QVERIFY(std::abs(qRed(got) - qRed(wanted)) <= 2 && std::abs(qGreen(got) - qGreen(wanted)) <= 2 &&
                    std::abs(qBlue(got) - qBlue(wanted)) <= 2 && std::abs(qAlpha(got) - qAlpha(wanted)) <= 2);
        }
    }
};

QTEST_APPLESS_MAIN(TestCurveRaster)
#include "tst_curve_raster.moc"
