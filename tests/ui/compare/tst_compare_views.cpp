#include <QtTest>
#include <array>
#include <random>

#include "tests/ui/compare/compare_facts.h"
#include "ui/compare/heat_map.h"
#include "ui/compare/pareto.h"
#include "ui/compare/setting_importance.h"
#include "ui/history/trial_selection.h"
#include "ui/plot/chart_frame.h"
#include "ui/plot/color_ramp.h"

using namespace lockstep;
using namespace lockstep::ui;
using namespace lockstep::test;

namespace {

// Brightness as people see it: WCAG 2.1's relative luminance.
double luminance(const QColor& color) {
    const auto part = [](double value) {
        return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF());
}

// CIE L*a*b* of a colour as somebody without green cones sees it: Machado, Oliveira and Fernandes, "A Physiologically-
// based Model for Simulation of Color Vision Deficiency", IEEE TVCG 2009, severity 1.
std::array<double, 3> seenByDeuteranopes(const QColor& color) {
    const auto linear = [](double value) {
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    const double r = linear(color.redF()), g = linear(color.greenF()), b = linear(color.blueF());
    const double R = std::clamp(0.367322 * r + 0.860646 * g - 0.227968 * b, 0.0, 1.0);
    const double G = std::clamp(0.280085 * r + 0.672501 * g + 0.047413 * b, 0.0, 1.0);
    const double B = std::clamp(-0.011820 * r + 0.042940 * g + 0.968881 * b, 0.0, 1.0);
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = f((0.4124 * R + 0.3576 * G + 0.1805 * B) / 0.9505), y = f(0.2126 * R + 0.7152 * G + 0.0722 * B);
    const double z = f((0.0193 * R + 0.1192 * G + 0.9505 * B) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

}  // namespace

class TestCompareViews : public QObject {
    Q_OBJECT
private slots:
    // By the definition: nothing is as good in both and better in one.
    void theFrontIsWhatNothingBeats() {
        std::mt19937 random(7);
        std::vector<ParetoPoint> points;
        for (std::size_t row = 0; row < 200; ++row)
            points.push_back({static_cast<double>(random() % 30), static_cast<double>(random() % 30), row});
        points.push_back({std::nan(""), 100, 200});
        const auto beats = [&](const ParetoPoint& a, const ParetoPoint& b) {
            return a.x <= b.x && a.y >= b.y && (a.x < b.x || a.y > b.y);
        };
        const auto front = paretoFront(points, Better::Lower, Better::Higher);
        for (const ParetoPoint& each : points) {
            const bool isBeaten = std::isnan(each.x) ||
                                  std::ranges::any_of(points, [&](const auto& other) { return beats(other, each); });
            QCOMPARE(std::ranges::find(front, each.row) == front.end(), isBeaten);
        }
    }

    void aHeatMapMeansWhatTrialsCameTo() {
        const CompareFacts facts = madeFacts();
        const auto scene = sceneOf(facts);
        const CompareTable& table = *scene->table;
        const HeatMap map = heatMap(*scene, table.axes[1], table.axes[0], table.axes[*table.objective]);
        std::size_t counted = 0;
        for (const auto& cell : map.cells) counted += cell.rows.size();
        QCOMPARE(counted, std::size_t(7));  // all but the one that failed and the one that diverged
        QCOMPARE(map.x.bins.size(), std::size_t(2));
        QCOMPARE(map.y.bins.size(), std::size_t(9));
        QCOMPARE(map.at(0, 6).mean, 0.93);
        QVERIFY(std::isnan(map.at(1, 6).mean));
        QCOMPARE(map.fewestEpochs, std::int64_t{3});  // of the one that was stopped
        QCOMPARE(map.mostEpochs, std::int64_t{9});
        for (std::size_t row = 0; row < 9; ++row)
            if (map.y.of[row]) QVERIFY(table.axes[0].passes(map.y.bins[*map.y.of[row]].brush, row));
    }

    void manyValuesShareTheirBinsAndEachBinFindsItsOwn() {
        CompareFacts facts;
        for (std::int64_t id = 1; id <= 100; ++id) {
            facts.rows.push_back(madeRow(id, 0.5));
            facts.settings["learning_rate"][id] = std::pow(10, -4 + 4 * static_cast<double>(id) / 100);
        }
        const auto scene = sceneOf(facts);
        const CompareAxis& axis = scene->table->axes[0];
        QVERIFY(axis.isLog);
        const HeatBins bins = heatBins(axis);
        QCOMPARE(bins.bins.size(), kMostBins);
        std::vector<int> counts(kMostBins);
        for (std::size_t row = 0; row < 100; ++row) {
            ++counts[*bins.of[row]];
            QVERIFY(axis.passes(bins.bins[*bins.of[row]].brush, row));
        }
        QVERIFY(std::ranges::min(counts) >= 8);  // evenly on the logarithm
    }

    void importanceOfASweepIsThatOfItsCells() {
        CompareFacts facts;
        std::mt19937 random(3);
        for (std::int64_t id = 1; id <= 60; ++id) {
            const double rate = std::pow(10, -3 + 3 * static_cast<double>(random() % 1000) / 1000);
            const auto batch = static_cast<std::int64_t>(32u << (random() % 4));
            facts.rows.push_back(madeRow(id, 0.9 - 0.1 * std::pow(std::log10(rate) + 1.5, 2)));
            facts.settings["learning_rate"][id] = rate;
            facts.settings["batch"][id] = batch;
        }
        const auto scene = sceneOf(facts);
        const SettingImportance found = settingImportance(*scene, false);
        const auto by = found.byAxis(*scene->table);
        const auto rate = *scene->table->axisOf("learning_rate"), batch = *scene->table->axisOf("batch");
        QVERIFY(by[rate] > 0.8);
        QVERIFY(by[batch] < 0.1);
        QCOMPARE(found.asked, std::size_t(60));
    }

    void fewTrialsHaveNoImportanceAndNothingBreaks() {
        for (const CompareFacts& facts : {CompareFacts{}, madeFacts()}) {
            const auto scene = sceneOf(facts);
            for (const double each : settingImportance(*scene, true).byAxis(*scene->table)) QCOMPARE(each, 0.0);
        }
    }

    void theRampGetsEvenlyFartherFromTheSurface() {
        for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
            double before = std::abs(luminance(rampColor(0, *theme)) - luminance(theme->surface));
            for (int i = 1; i <= 20; ++i) {
                const double now = std::abs(luminance(rampColor(i / 20.0, *theme)) - luminance(theme->surface));
                QVERIFY(now > before);
                before = now;
            }
        }
    }

    // By colour or by marker: a distance of 10 is seen at a glance.
    void pinnedTrialsStayApartWithoutGreen() {
        for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
            for (int a = 0; a < static_cast<int>(TrialSelection::kMostPlaces); ++a) {
                for (int b = 0; b < a; ++b) {
                    if (seriesMarker(a) != seriesMarker(b)) continue;
                    const auto first = seenByDeuteranopes(seriesColor(a, *theme));
                    const auto second = seenByDeuteranopes(seriesColor(b, *theme));
                    const double apart = std::hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
                    QVERIFY2(apart > 10, qPrintable(QString("%1 and %2: %3").arg(a).arg(b).arg(apart)));
                }
            }
        }
    }

    void aFrameKnowsItsValuesBothWays() {
        const ChartFrame frame({0, 0, 400, 300}, {chartScale(0.001, 1, true, 5)}, {chartScale(0, 10, false, 5)},
                               QFont());
        for (const double x : {0.001, 0.03, 1.0}) {
            const QPointF at = frame.at(x, 3);
            QVERIFY(frame.plot().contains(at));
            QVERIFY(std::abs(frame.xAt(at.x()) / x - 1) < 1e-9);
            QVERIFY(std::abs(frame.yAt(at.y()) - 3) < 1e-9);
        }
    }
};

QTEST_MAIN(TestCompareViews)
#include "tst_compare_views.moc"
