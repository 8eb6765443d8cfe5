#include <QPainter>
#include <QPointF>
#include <QtTest>
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
