#include <QtTest>
#include <cmath>
#include <limits>
#include <random>

#include "ui/plot/curve.h"

using namespace lockstep::ui;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A noisy curve; now and then a value that is none, steps of 1 to 3, times that stand still now and then.
std::shared_ptr<Curve> noisy(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise;
    auto curve = std::make_shared<Curve>();
    double step = 0, seconds = 0;
    for (std::size_t i = 0; i < count; ++i) {
        step += 1 + random() % 3;
        seconds += random() % 4 * 0.01;
        curve->append(step, seconds, random() % 50 == 0 ? kNan : noise(random));
    }
    return curve;
}

std::pair<double, double> bruteExtremes(const Curve& curve, CurveAxis axis, double from, double to) {
    std::pair<double, double> out{1, 0};
    for (std::size_t i = 0; i < curve.size(); ++i) {
        const double x = curve.x(axis, i), y = curve.value(i);
        if (x < from || x > to || !std::isfinite(y)) continue;
        out = out.first > out.second ? std::pair(y, y) : std::pair(std::min(out.first, y), std::max(out.second, y));
    }
    return out;
}

// The definition, with no memory: sum of (1 - w) w^(distance in steps) times each value, divided by the weights' sum.
double bruteSmooth(const Curve& raw, std::size_t at, double weight) {
    double value = 0, mass = 0;
    for (std::size_t i = 0; i <= at; ++i) {
        const double y = raw.value(i);
        if (!std::isfinite(y)) continue;
        value = weight * value + (1 - weight) * y;
        mass = weight * mass + (1 - weight);
    }
    return value / mass;
}

}  // namespace

class TestCurve : public QObject {
    Q_OBJECT
private slots:
    void extremesAreThoseOfAllPoints() {
        std::mt19937 random(7);
        for (const std::size_t size : {0, 1, 15, 16, 17, 255, 256, 257, 5000}) {
            const auto curve = noisy(size, static_cast<unsigned>(size));
            for (int i = 0; i < 200; ++i) {
                const auto axis = i % 2 ? CurveAxis::Step : CurveAxis::Seconds;
                const double end = size ? curve->x(axis, size - 1) : 1;
                const double a = end * (random() % 1100) / 1000, b = end * (random() % 1100) / 1000;
                QCOMPARE(curve->extremes(axis, std::min(a, b), std::max(a, b)),
                         bruteExtremes(*curve, axis, std::min(a, b), std::max(a, b)));
            }
        }
    }

    void aPictureHasTwoPointsAColumnAtMost() {
        const auto curve = noisy(20'000, 3);
        for (const int columns : {1, 2, 33, 400, 3000, 30'000}) {
            for (const auto& [from, to] : {std::pair(0.0, 1e9), std::pair(0.0, 40'000.0), std::pair(1234.5, 1300.0),
                                           std::pair(7000.0, 21'000.0)}) {
                const auto points = curve->sample(CurveAxis::Step, from, to, columns);
                QVERIFY(points.size() <= 2 * static_cast<std::size_t>(columns) + 2);
                for (std::size_t i = 1; i < points.size(); ++i) QVERIFY(points[i].x >= points[i - 1].x);
            }
        }
    }

    // Column by column nothing sticks out of the picture, and nothing is missing from it.
    void everyColumnKeepsItsExtremes() {
        const auto curve = noisy(20'000, 4);
        const int columns = 100;
        const double from = 1000.25, to = 31'000.25;
        const auto points = curve->sample(CurveAxis::Step, from, to, columns);
        for (int c = 0; c < columns; ++c) {
            const double low = from + (to - from) * c / columns, high = from + (to - from) * (c + 1) / columns;
            std::pair<double, double> drawn{1, 0};
            for (const auto& [x, y] : points) {
                if (x < low || x >= high) continue;
                drawn = drawn.first > drawn.second ? std::pair(y, y)
                                                   : std::pair(std::min(drawn.first, y), std::max(drawn.second, y));
            }
            QCOMPARE(drawn, bruteExtremes(*curve, CurveAxis::Step, low, std::nextafter(high, low)));
        }
    }

    void fewPointsAreDrawnAsTheyAre() {
        Curve curve;
        for (int i = 1; i <= 5; ++i) curve.append(i * 100, i, i == 3 ? kNan : i);
        const auto points = curve.sample(CurveAxis::Step, 150, 450, 500);
        QCOMPARE(points.size(), std::size_t{4});  // the neighbours outside, so that the line goes on; not the third
        QCOMPARE(points.front().x, 100.0);
        QCOMPARE(points.back().x, 500.0);
        QCOMPARE(curve.at(CurveAxis::Seconds, 2.5), std::size_t{1});
        QCOMPARE(curve.at(CurveAxis::Step, 50), curve.size());
    }

    void aMillionPointsStayCheap() {
        Curve curve;
        for (int i = 0; i < 1'000'000; ++i) curve.append(i, i * 1e-3, std::sin(i * 1e-4));
        QCOMPARE(curve.extremes(CurveAxis::Step, 0, 1e6), (bruteExtremes(curve, CurveAxis::Step, 0, 1e6)));
        QVERIFY(curve.sample(CurveAxis::Seconds, 0, 1000, 1600).size() <= 3202);
    }

    void smoothingIsTensorBoards() {
        auto raw = std::make_shared<Curve>();
        std::mt19937 random(1);
        for (int i = 1; i <= 300; ++i)
            raw->append(i, i, i % 37 == 0 ? kNan : static_cast<double>(random() % 1000) / 1000);
        // A value that is none is a step like any other; TensorBoard does not count it, nor does this in value.
        SmoothedCurve smooth;
        const Curve& line = smooth.follow(raw, 0.9);
        for (std::size_t i = 0; i < 36; ++i) QVERIFY(std::abs(line.value(i) - bruteSmooth(*raw, i, 0.9)) < 1e-12);
        QCOMPARE(smooth.follow(raw, 0).value(10), raw->value(10));
    }

    // Following a growing curve, however it comes, gives what smoothing all of it at once gives.
    void smoothingGoesOnWhereItWas() {
        const auto whole = noisy(3000, 9);
        auto growing = std::make_shared<Curve>();
        SmoothedCurve piecewise, once;
        for (std::size_t i = 0; i < whole->size(); ++i) {
            growing->append(whole->x(CurveAxis::Step, i), whole->x(CurveAxis::Seconds, i), whole->value(i));
            if (i % 17 == 0) piecewise.follow(growing, 0.97);
        }
        const Curve& a = piecewise.follow(growing, 0.97);
        const Curve& b = once.follow(whole, 0.97);
        QCOMPARE(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) QCOMPARE(a.value(i), b.value(i));
    }

    // A curve recorded every tenth step forgets as fast as one recorded at each.
    void smoothingCountsSteps() {
        auto each = std::make_shared<Curve>(), tenth = std::make_shared<Curve>();
        for (int i = 0; i <= 2000; ++i) {
            const double value = i < 1000 ? 0 : 1;
            each->append(i, i, value);
            if (i % 10 == 0) tenth->append(i, i, value);
        }
        SmoothedCurve a, b;
        const Curve& fine = a.follow(each, 0.99);
        const Curve& coarse = b.follow(tenth, 0.99);
        for (std::size_t i = 0; i < coarse.size(); ++i) QVERIFY(std::abs(coarse.value(i) - fine.value(10 * i)) < 0.1);
    }

    // Against the plain statement: each part of a column between two places has its edge, and none is forgotten.
    void edgesReachAsFarAsTheirColumns() {
        Curve curve;
        for (int i = 0; i < 50'000; ++i) curve.append(i, i, std::sin(i * 0.011) + 0.3 * std::cos(i * 1.7));
        for (const Sharpness sharpness : {Sharpness::Full, Sharpness::Band, Sharpness::Coarse}) {
            const auto columns = curve.columns(CurveAxis::Step, 3'000, 47'000, 300, sharpness);
            QVERIFY(columns.parts.size() > 250 && columns.parts.size() <= 300);
            std::size_t next = columns.begin;
            const auto low = curve.sampleEdge(Curve::Edge::Lower, CurveAxis::Step, columns);
            const auto high = curve.sampleEdge(Curve::Edge::Upper, CurveAxis::Step, columns);
            QCOMPARE(low.size(), columns.parts.size() + 2);  // and the neighbours outside
            for (std::size_t c = 0; c < columns.parts.size(); ++c) {
                double least = 1e9, most = -1e9;
                QCOMPARE(columns.parts[c].begin, next);
                for (; next < columns.parts[c].end; ++next) {
                    least = std::min(least, curve.value(next)), most = std::max(most, curve.value(next));
                }
                QVERIFY(low[c + 1].y == least && high[c + 1].y == most);
            }
            QCOMPARE(next, columns.end);
        }
        const auto few = curve.columns(CurveAxis::Step, 100, 200, 300);
        QVERIFY(few.parts.empty());
        QCOMPARE(curve.sampleEdge(Curve::Edge::Lower, CurveAxis::Step, few).size(), std::size_t{101 + 2});
    }
};

QTEST_APPLESS_MAIN(TestCurve)
#include "tst_curve.moc"
