#include <rapidcheck.h>
#include <QRegularExpression>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/core/printable.h"
#include "engine/report/svg_chart.h"
#include "tests/report/hostile_text.h"

using namespace lockstep;
using namespace lockstep::report;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Of any size, and as near to each other as they come.
std::pair<double, double> anyRange() {
    const double size = std::pow(10.0, *rc::gen::inRange(-12, 13));
    const double low = *rc::gen::inRange(-100'000, 100'000) / 1e5 * size;
    return {low, low + *rc::gen::inRange(1, 100'000) / 1e5 * size};
}

// A number's first digits where it is one, two or five times a power of ten; else 0.
int niceFactor(double step) {
    const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-9));
    for (const int nice : {1, 2, 5}) {
        if (std::abs(mantissa - nice) < 1e-6) return nice;
    }
    return 0;
}

double readBack(std::string text) {
    double unit = 1;
    for (const auto& [letter, factor] : {std::pair('k', 1e3), {'M', 1e6}, {'G', 1e9}, {'T', 1e12}}) {
        if (text.back() == letter) unit = factor, text.pop_back();
    }
    return std::stod(text) * unit;
}

std::vector<ChartPoint> anyCurve() {
    std::vector<ChartPoint> points;
    const int count = *rc::gen::inRange(1, 600);
    for (int i = 0; i < count; ++i) {
        const bool isGap = *rc::gen::inRange(0, 40) == 0;
        points.push_back({static_cast<double>(i * 3), isGap ? kNan : *rc::gen::inRange(-1000, 1000) / 7.0});
    }
    return points;
}

// Lowest and highest of all that fall into a column, by a plain loop.
struct Extremes {
    double low = std::numeric_limits<double>::infinity(), high = -low;
};
std::vector<Extremes> extremesOf(const std::vector<ChartPoint>& points, double begin, double end, int columns) {
    std::vector<Extremes> out(static_cast<std::size_t>(columns));
    for (const ChartPoint& each : points) {
        if (!std::isfinite(each.y)) continue;
        const double share = end > begin ? (each.x - begin) / (end - begin) : 0;
        Extremes& column = out[static_cast<std::size_t>(std::min(static_cast<int>(share * columns), columns - 1))];
        column.low = std::min(column.low, each.y), column.high = std::max(column.high, each.y);
    }
    return out;
}

LineChart noisyChart(int series, int points) {
    LineChart chart{"Loss", "updates", "loss (nats)", {}};
    for (int s = 0; s < series; ++s) {
        chart.series.push_back({"series " + std::to_string(s), {}, true});
        for (int i = 0; i < points; ++i)
            chart.series.back().points.push_back({static_cast<double>(i), 2 + s + std::sin(i * 12.9898) * 0.7});
    }
    return chart;
}

int count(const std::string& text, const char* part) {
    return static_cast<int>(QString::fromStdString(text).count(part));
}

}  // namespace

class TestSvgChart : public QObject {
    Q_OBJECT
private slots:
    void ticksAreRoundAndCoverTheNumbers() {
        QVERIFY(rc::check("ticks are multiples of a nice step, and reach beyond the numbers", [] {
            const auto [low, high] = anyRange();
            const int most = *rc::gen::inRange(3, 12);
            const ChartScale scale = linearScale(low, high, most);
            RC_ASSERT(scale.ticks.size() >= 2 && std::cmp_less_equal(scale.ticks.size(), most));
            RC_ASSERT(scale.low <= low && scale.high >= high);
            const double step =
                (scale.ticks.back() - scale.ticks.front()) / static_cast<double>(scale.ticks.size() - 1);
            RC_ASSERT(niceFactor(step) > 0);
            RC_ASSERT(std::abs(scale.ticks.front() - scale.low) < 1e-6 * step);
            RC_ASSERT(std::abs(scale.ticks.back() - scale.high) < 1e-6 * step);
            for (std::size_t i = 1; i < scale.ticks.size(); ++i)
                RC_ASSERT(std::abs(scale.ticks[i] - scale.ticks[i - 1] - step) < 1e-6 * step);
            RC_ASSERT(step < 4 * (high - low) || scale.ticks.size() == 2);
        }));
    }

    void textsOfTicksAreTheTicks() {
        QVERIFY(rc::check("a tick's text reads back as the tick, and no two are the same", [] {
            const auto [low, high] = anyRange();
            RC_PRE(high - low > 1e-3 * std::abs(low));
            const ChartScale scale = linearScale(low, high, 6);
            std::set<std::string> texts;
            for (const double tick : scale.ticks) {
                const std::string text = tickText(scale, tick);
                RC_ASSERT(std::abs(readBack(text) - tick) <= 0.01 * (scale.ticks[1] - scale.ticks[0]));
                texts.insert(text);
            }
            RC_ASSERT(texts.size() == scale.ticks.size());
        }));
    }

    void textsAreThoseOfPeople_data() {
        QTest::addColumn<double>("low");
        QTest::addColumn<double>("high");
        QTest::addColumn<QString>("texts");
        QTest::newRow("shares") << 0.0 << 1.0 << "0 0.2 0.4 0.6 0.8 1";
        QTest::newRow("percent") << 3.0 << 97.0 << "0 20 40 60 80 100";
        QTest::newRow("thousands") << 0.0 << 21'000.0 << "0 5k 10k 15k 20k 25k";
        QTest::newRow("millions") << 0.0 << 2.2e6 << "0 0.5M 1M 1.5M 2M 2.5M";
        QTest::newRow("small") << 0.0 << 2e-6 << "0 5e-7 1e-6 1.5e-6 2e-6";
        QTest::newRow("below nothing") << -1.0 << 1.0 << "-1 -0.5 0 0.5 1";
        QTest::newRow("all the same") << 4.0 << 4.0 << "2 3 4 5 6";
    }
    void textsAreThoseOfPeople() {
        QFETCH(double, low);
        QFETCH(double, high);
        QFETCH(QString, texts);
        const ChartScale scale = linearScale(low, high, 6);
        QStringList said;
        for (const double tick : scale.ticks) said << QString::fromStdString(tickText(scale, tick));
        QCOMPARE(said.join(' '), texts);
    }

    void decadesHaveTheirTicks() {
        QVERIFY(rc::check("ticks of a logarithmic axis are nice numbers within it", [] {
            const double low = std::pow(10.0, *rc::gen::inRange(-80, 80) / 10.0);
            const double high = low * std::pow(10.0, *rc::gen::inRange(20, 120) / 10.0);
            const int most = *rc::gen::inRange(3, 12);
            const ChartScale scale = logScale(low, high, most);
            RC_ASSERT(scale.ticks.size() >= 2 && std::cmp_less_equal(scale.ticks.size(), most));
            for (const double tick : scale.ticks) {
                RC_ASSERT(tick >= low && tick <= high && niceFactor(tick) > 0);
                RC_ASSERT(std::abs(readBack(tickText(scale, tick)) - tick) < 0.01 * tick);
            }
            RC_ASSERT(std::ranges::is_sorted(scale.ticks));
            RC_ASSERT(std::abs(scale.place(std::sqrt(low * high)) - 0.5) < 1e-9);
        }));
        QVERIFY(spansDecades(0.02, 2.3) && !spansDecades(0, 2) && !spansDecades(-1, 200) && !spansDecades(0.5, 2));
    }

    void decimationKeepsWhatCanBeSeen() {
        QVERIFY(rc::check("each column keeps its lowest and its highest point", [] {
            const auto points = anyCurve();
            const int columns = *rc::gen::inRange(1, 50);
            const auto kept = decimated(points, columns);
            const double begin = points.front().x, end = points.back().x;
            const auto want = extremesOf(points, begin, end, columns), have = extremesOf(kept, begin, end, columns);
            for (std::size_t i = 0; i < want.size(); ++i)
                RC_ASSERT(want[i].low == have[i].low && want[i].high == have[i].high);
            RC_ASSERT(std::ranges::is_sorted(kept, {}, &ChartPoint::x));
            for (const ChartPoint& each : kept) {
                const auto at = static_cast<std::size_t>(each.x / 3);
                RC_ASSERT(points[at] == each || (std::isnan(points[at].y) && std::isnan(each.y)));
            }
        }));
        QVERIFY(decimated(noisyChart(1, 100'000).series.front().points, 460).size() <= 2 * 460 + 2);
    }

    void aGapStaysAGap() {
        std::vector<ChartPoint> points;
        for (int i = 0; i < 1000; ++i) points.push_back({static_cast<double>(i), i >= 400 && i < 500 ? kNan : 1.0 * i});
        const auto kept = decimated(points, 20);
        QCOMPARE(std::ranges::count_if(kept, [](const ChartPoint& each) { return std::isnan(each.y); }), 1);
        const std::string svg = lineChartSvg({"Gap", "x", "y", {{"one", points, false}}});
        QCOMPARE(count(svg, "<polyline"), 2);
    }

    void aMeanNearbyKeepsLinesAndConstants() {
        std::vector<ChartPoint> line;
        for (int i = 0; i < 100; ++i) line.push_back({static_cast<double>(i), 3.0 * i - 7});
        const auto mean = smoothed(line, 5);
        for (std::size_t i = 5; i < 95; ++i) QVERIFY(std::abs(mean[i].y - line[i].y) < 1e-9);
        QVERIFY(std::abs(mean[0].y - (3.0 * 2.5 - 7)) < 1e-9);  // of 0 to 5
        line[50].y = kNan;
        QVERIFY(std::isnan(smoothed(line, 5)[50].y) && std::isfinite(smoothed(line, 5)[51].y));
    }

    void chartsAreXmlWhateverTheirNames() {
        LineChart chart{"", "", "", {}};
        std::vector<std::string> classes;
        for (const std::string& name : test::kHostileNames) {
            chart = {name, name, name, {{name, {{1, 1}, {2, 3}}, false}, {"other", {{1, 2}}, false}}};
            classes = {name, "other"};
            ConfusionMatrix matrix(2);
            matrix.at(0, 1) = 5;
            for (const std::string& svg :
                 {lineChartSvg(chart), confusionSvg(matrix, classes, name), calibrationSvg({}, name)}) {
                const auto parsed = test::parsedXml(svg);
                QVERIFY2(parsed.error.isEmpty(), qPrintable(parsed.error + "\n" + QString::fromStdString(svg)));
                QVERIFY(!parsed.elements.contains("script") && !parsed.elements.contains("img"));
                QVERIFY(!(svg.find("href") != std::string::npos) && !(svg.find("\x1b") != std::string::npos) &&
                        parsed.elements.count("svg") == 1);
                QString told = QString::fromStdString(printable(name));
                QVERIFY2(parsed.texts.contains(told.replace(QChar(0xffff), QChar(0xfffd))), qPrintable(told));
            }
        }
    }

    // A line of a million points is as long as the chart is wide, and stays within it.
    void longChartsStaySmall() {
        const std::string svg = lineChartSvg(noisyChart(4, 250'000));
        QVERIFY2(svg.size() < 100'000, qPrintable(QString::number(svg.size())));
        static const QRegularExpression points("points=\"([^\"]*)\"");
        int seen = 0;
        for (auto it = points.globalMatch(QString::fromStdString(svg)); it.hasNext();) {
            for (const QString& point : it.next().captured(1).split(' ')) {
                const double x = point.section(',', 0, 0).toDouble(), y = point.section(',', 1).toDouble();
                QVERIFY2(x >= 0 && x <= 660 && y >= 0 && y <= 400, qPrintable(point));
                ++seen;
            }
        }
        QVERIFY(seen > 1000);
    }

    void whatIsNoNumberIsNotDrawn() {
        const double huge = std::numeric_limits<double>::max(), infinite = std::numeric_limits<double>::infinity();
        const LineChart none{"Loss", "updates", "loss", {{"a", {{1, kNan}, {2, infinite}, {3, huge}}, true}}};
        QVERIFY(lineChartSvg(none).find("Not measured.") != std::string::npos);
        QVERIFY(lineChartSvg({"Loss", "updates", "loss", {}}).find("Not measured.") != std::string::npos);
        const LineChart some{"Loss", "updates", "loss", {{"a", {{1, kNan}, {2, 4}, {3, -infinite}}, true}}};
        QVERIFY(count(lineChartSvg(some), "<polyline") >= 1);
        QCOMPARE(count(lineChartSvg(some), "nan") + count(lineChartSvg(some), "inf"), 0);
    }

    // What falls to nothing only at its end is no matter of decades.
    void decadesAreDrawnWhereTheSeriesLivesInThem() {
        LineChart steps{"Rate", "updates", "rate", {{"rate", {}, false}}}, cosine = steps;
        for (int i = 0; i < 300; ++i) {
            steps.series[0].points.push_back({static_cast<double>(i), std::pow(10.0, -1 - i / 100)});
            cosine.series[0].points.push_back(
                {static_cast<double>(i), 0.05 * (1 + std::cos(i * 3.14159 / 300)) + 1e-6});
        }
        QVERIFY(lineChartSvg(steps).find(">0.01<") != std::string::npos);
        QVERIFY(lineChartSvg(cosine).find(">0.01<") == std::string::npos);
    }

    void aConfusionIsACellEach() {
        ConfusionMatrix matrix(3);
        matrix.at(0, 0) = 12, matrix.at(0, 2) = 3, matrix.at(1, 1) = 7, matrix.at(2, 2) = 1'000'000'000;
        const std::vector<std::string> classes{"ant", "bee", "a cat of a very long name"};
        const std::string svg = confusionSvg(matrix, classes, "Confusions");
        QCOMPARE(count(svg, "class=\"lk-hit\""), 3);
        QCOMPARE(count(svg, "class=\"lk-miss\""), 1);
        QVERIFY((svg.find(">12<") != std::string::npos) && (svg.find(">3<") != std::string::npos) &&
                !(svg.find("1000000000") != std::string::npos));
        QVERIFY((svg.find(">a cat of a very…<") != std::string::npos));
    }

    void calibrationHasABarForEachBinWithAnswers() {
        const CalibrationBin none{0, kNan, kNan}, some{4, 0.5, 0.75};
        const std::vector<CalibrationBin> bins{none, some, none, some};
        const std::string svg = calibrationSvg(bins, "Calibration");
        QCOMPARE(count(svg, "class=\"lk-hit\""), 2);
        QCOMPARE(count(svg, "class=\"lk-few\""), 2);
        QVERIFY(!(svg.find("nan") != std::string::npos));
    }
};

QTEST_APPLESS_MAIN(TestSvgChart)
#include "tst_svg_chart.moc"
