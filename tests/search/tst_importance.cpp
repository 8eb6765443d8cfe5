#include <QtTest>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <numbers>
#include <numeric>

#include "engine/core/random.h"
#include "engine/search/fanova.h"
#include "engine/search/ped_anova.h"

using namespace lockstep;

namespace {

constexpr double kIrrationals[] = {0.618033988749895, 0.414213562373095, 0.732050807568877, 0.236067977499790,
                                   0.645751311064591, 0.316624790355400, 0.605551275463989, 0.123105625617661};

// Trials of make_importance.py: the places of the n-th in the unit cube.
std::vector<double> placesOf(int trial) {
    std::vector<double> places;
    for (const double each : kIrrationals) places.push_back(std::fmod((trial + 1) * each, 1.0));
    return places;
}

Dimension ranged(const char* path, double low, double high, bool isLog = false, bool isWhole = false, double step = 0) {
    return {path, NumberRange{.low = low, .high = high, .isLog = isLog, .isWhole = isWhole, .step = step}};
}
Dimension chosen(const char* path, ChoiceOfValues values) { return {path, std::move(values)}; }
const ChoiceOfValues kKinds{std::string("a"), std::string("b"), std::string("c")};

const std::vector<Dimension> kMixed{ranged("x", 0, 1),
                                    ranged("rate", 1e-5, 1, true),
                                    ranged("depth", 1, 8, false, true),
                                    ranged("width", 16, 512, true, true),
                                    ranged("dropout", 0, 0.5, false, false, 0.125),
                                    chosen("kind", kKinds),
                                    ranged("many", 0, 98, false, true),
                                    ranged("momentum", 0.8, 0.99)};

double lossOf(const std::vector<double>& u) {
    const auto square = [](double value) { return value * value; };
    return square(u[1] - 0.6) + 0.3 * square(u[0] - 0.5) + 0.2 * square(u[2] - 0.9) * u[5] + 0.1 * u[3] + 0.02 * u[7] +
           (u[5] < 1.0 / 3 ? 0.15 : 0.0) + 0.05 * u[4] * u[6];
}

Tried mixedTrial(int trial, bool rounded) {
    const auto u = placesOf(trial);
    const auto whole = [](double value) { return static_cast<std::int64_t>(value); };
    Tried made{{{"x", u[0]},
                {"rate", std::pow(10.0, 5 * u[1] - 5)},
                {"depth", 1 + whole(8 * u[2])},
                {"width", whole(16 * std::pow(32.0, u[3]))},
                {"dropout", 0.125 * static_cast<double>(whole(5 * u[4]))},
                {"kind", kKinds[static_cast<std::size_t>(3 * u[5])]},
                {"many", whole(99 * u[6])}},
               lossOf(u)};
    if (made.cell[5].value == kKinds[0]) made.cell.push_back({"momentum", 0.8 + 0.19 * u[7]});
    if (rounded) made.loss = std::floor(20 * made.loss) / 20;
    return made;
}

std::vector<Tried> mixed(int count, bool rounded = false) {
    std::vector<Tried> tried;
    for (int trial = 0; trial < count; ++trial) tried.push_back(mixedTrial(trial, rounded));
    return tried;
}

double meanOf(const Fanova& found, std::size_t dimension) { return found.shares[dimension]->mean; }

bool isFinite(const PedAnova& found) {
    return std::ranges::all_of(found.importances, [](double each) { return std::isfinite(each) && each >= 0; });
}
bool isFinite(const Fanova& found) {
    const auto isSound = [](const auto& each) {
        return !each || (each->mean >= 0 && each->mean <= 1 && each->deviation >= 0 && each->deviation <= 1);
    };
    return std::ranges::all_of(found.shares, isSound) && (!found.outOfBag || std::isfinite(*found.outOfBag));
}

// x <= 0.25: 1. Otherwise y <= 0.5: 2, else 4.
RegressionTree handMadeTree() {
    return {{{.column = 0, .threshold = 0.25, .left = 1, .right = 2},
             {.value = 1},
             {.column = 1, .threshold = 0.5, .left = 3, .right = 4},
             {.value = 2},
             {.value = 4}}};
}

}  // namespace

class TestImportance : public QObject {
    Q_OBJECT
private slots:
    void pedAnovaIsThatOfOptuna_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<bool>("rounded");
        QTest::addColumn<double>("target");
        QTest::addColumn<double>("region");
        QTest::addColumn<bool>("isLocal");
        QTest::addColumn<QList<double>>("expected");
        QTest::newRow("as usual") << 120 << false << 0.1 << 1.0 << true
                                  << QList<double>{0.001838260771342117,  0.008179157091249568,
                                                   0.004776162921565115,  0.00365088765731231,
                                                   0.00060724761378545,   0.001153846153842692,
                                                   0.0002288829640388418, 0};
        QTest::newRow("in a region") << 120 << false << 0.3 << 0.6 << true
                                     << QList<double>{0.01297879909435398,  0.02661407450709738,   0.009649029660977144,
                                                      0.01044847232072251,  0.0006679694920782483, 0.008522593376998931,
                                                      0.004764599558287551, 0.01205795865852367};
        QTest::newRow("in the whole space")
            << 120 << false << 0.1 << 1.0 << false
            << QList<double>{0.002223234827493334,  0.009033618649062537, 0.004892754051586281,  0.003937515571394031,
                             0.0005916632417030467, 0.001153846153846153, 0.0004026333848001605, 0};
        QTest::newRow("ties") << 120 << true << 0.1 << 1.0 << true
                              << QList<double>{0.002451030321819838,  0.01240351582795166,
                                               0.001307558104441365,  0.00917047151727678,
                                               0.001386132897886181,  0.003365650969518988,
                                               7.745430170980866e-05, 0};
        QTest::newRow("few") << 12 << false << 0.1 << 1.0 << true
                             << QList<double>{0.001645249018083292,  0.02520630074258845,
                                              0.01680687332644519,   0.006923575427364985,
                                              1.550353595000863e-05, 0.00154320987653858,
                                              0.003051478367087304,  0};
        QTest::newRow("many") << 700 << false << 0.1 << 1.0 << true
                              << QList<double>{0.00361245545158515,   0.01141242230236564,
                                               0.005049025700762383,  0.004681288383420863,
                                               7.277604296634215e-05, 0.001305112047692552,
                                               0.0002375985663190634, 0};
    }
    // The numbers are those of make_importance.py.
    void pedAnovaIsThatOfOptuna() {
        QFETCH(int, count);
        QFETCH(bool, rounded);
        QFETCH(double, target);
        QFETCH(double, region);
        QFETCH(bool, isLocal);
        QFETCH(QList<double>, expected);
        const auto found = pedAnova(kMixed, mixed(count, rounded), {target, region, isLocal});
        for (std::size_t i = 0; i < kMixed.size(); ++i) {
            const double wanted = expected[static_cast<qsizetype>(i)];
            QVERIFY2(std::abs(found.importances[i] - wanted) <= 1e-9 * std::max(wanted, 1e-3),
                     qPrintable(QString("%1: %2, not %3")
                                    .arg(kMixed[i].path.c_str())
                                    .arg(found.importances[i], 0, 'g', 16)
                                    .arg(wanted, 0, 'g', 16)));
        }
    }

    // By hand: its mean is 0.25 + 0.75 * 3 = 2.5. Its variance 0.25 * 2.25 + 0.375 * 0.25 + 0.375 * 2.25 = 1.5. Over x
    // alone it is 1 or 3, which is 0.25 * 2.25 + 0.75 * 0.25 = 0.75; over y 1.75 or 3.25, which is 0.75 squared.
    void aTreeByHandIsDividedExactly() {
        const auto shares = marginalShares(handMadeTree(), 3);
        QCOMPARE(shares[0], 0.5);
        QCOMPARE(shares[1], 0.375);
        QCOMPARE(shares[2], 0.0);
        QCOMPARE(marginalShares({{{.value = 7}}}, 2), (std::vector<double>{0, 0}));
    }

    // The means of Optuna's over 20 seeds, which differ by 0.012 at most.
    void fanovaIsNearOptunas() {
        const auto isNear = [](double found, double wanted) { return std::abs(found - wanted) <= 0.03; };
        std::vector<Tried> tried;
        for (int trial = 0; trial < 200; ++trial) {
            const auto u = placesOf(trial);
            const auto angle = [&](std::size_t i) { return std::numbers::pi * (2 * u[i] - 1); };
            const double value = std::sin(angle(0)) + 7 * std::pow(std::sin(angle(1)), 2) +
                                 0.1 * std::pow(angle(2), 4) * std::sin(angle(0));
            tried.push_back({{{"x", angle(0)}, {"y", angle(1)}, {"z", angle(2)}}, value});
        }
        const double pi = std::numbers::pi;
        const auto ishigami =
            fanova(std::vector{ranged("x", -pi, pi), ranged("y", -pi, pi), ranged("z", -pi, pi)}, tried);
        qInfo("Ishigami %.4f %.4f %.4f, R^2 %.3f", meanOf(ishigami, 0), meanOf(ishigami, 1), meanOf(ishigami, 2),
              *ishigami.outOfBag);
        QVERIFY(isNear(meanOf(ishigami, 0), 0.2981));
        QVERIFY(isNear(meanOf(ishigami, 1), 0.2719));
        QVERIFY(isNear(meanOf(ishigami, 2), 0.0457));
    }

    // A rate on a log scale, which Optuna was given the logarithm of.
    void fanovaMeasuresLogScalesAsLogarithms() {
        std::vector<Tried> tried;
        for (int trial = 0; trial < 200; ++trial) {
            const auto u = placesOf(trial);
            const double rate = 5 * u[0] - 5, momentum = 0.99 * u[1];
            tried.push_back({{{"rate", std::pow(10.0, rate)}, {"momentum", momentum}},
                             std::pow(rate + 2, 2) + 2 * std::pow(momentum - 0.5, 2) + 3 * momentum});
        }
        const auto found = fanova(std::vector{ranged("rate", 1e-5, 1, true), ranged("momentum", 0, 0.99)}, tried);
        qInfo("log %.4f %.4f", meanOf(found, 0), meanOf(found, 1));
        QVERIFY(std::abs(meanOf(found, 0) - 0.8984) <= 0.03);
        QVERIFY(std::abs(meanOf(found, 1) - 0.0811) <= 0.03);
        QVERIFY(*found.outOfBag > 0.9);
    }

    // Every whole number and every kind is as likely as the others, and the shares are known. (Optuna, which gives the
    // first and the last number half the weight and each kind an axis of its own, has 0.431, 0.428 and 0.054.)
    void fanovaOfWholeNumbersAndKinds() {
        std::vector<Tried> tried;
        for (int trial = 0; trial < 150; ++trial) {
            const auto u = placesOf(trial);
            const auto depth = static_cast<std::int64_t>(8 * u[0]);
            const auto kind = static_cast<std::size_t>(3 * u[1]);
            tried.push_back(
                {{{"depth", 1 + depth}, {"kind", kKinds[kind]}, {"x", u[2]}},
                 0.1 * static_cast<double>(depth) + (kind == 1 ? 0.5 : 0.0) + u[2] * (kind == 2 ? 0.6 : 0.2)});
        }
        const auto found =
            fanova(std::vector{ranged("depth", 1, 8, false, true), chosen("kind", kKinds), ranged("x", 0, 1)}, tried);
        qInfo("whole and kinds %.4f %.4f %.4f", meanOf(found, 0), meanOf(found, 1), meanOf(found, 2));
        // 0.01 * 63 / 12; kinds add 0.1, 0.6 and 0.3 on average; x has a slope of a third, which varies with the kind.
        const double depth = 0.0525, kind = (0.01 + 0.36 + 0.09) / 3 - 1.0 / 9, x = 1.0 / 9 / 12,
                     both = (0.04 + 0.04 + 0.36) / 36 - x, all = depth + kind + x + both;
        QVERIFY(std::abs(meanOf(found, 0) - depth / all) <= 0.05);
        QVERIFY(std::abs(meanOf(found, 1) - kind / all) <= 0.05);
        QVERIFY(std::abs(meanOf(found, 2) - x / all) <= 0.05);
    }

    void theSeedDecides() {
        const auto tried = mixed(60);
        const auto one = fanova(kMixed, tried, 5), again = fanova(kMixed, tried, 5), other = fanova(kMixed, tried, 6);
        QCOMPARE(meanOf(one, 1), meanOf(again, 1));
        QCOMPARE(one.outOfBag, again.outOfBag);
        QVERIFY(meanOf(one, 1) != meanOf(other, 1));
    }

    // A category by itself each, or noise: whoever has not seen a trial knows nothing of it.
    void whatCannotBePredictedIsSaidSo() {
        const CounterRng random(1, streamOf("noise"), 0, 0);
        std::vector<Tried> tried;
        ChoiceOfValues seeds;
        for (std::int64_t i = 0; i < 60; ++i) {
            seeds.push_back(i);
            tried.push_back({{{"seed", i}, {"x", random.uniform(static_cast<std::uint32_t>(2 * i))}},
                             random.uniform(static_cast<std::uint32_t>(2 * i + 1))});
        }
        const auto found = fanova(std::vector{chosen("seed", seeds), ranged("x", 0, 1)}, tried);
        QVERIFY2(*found.outOfBag < kLeastOutOfBag, qPrintable(QString::number(*found.outOfBag)));
        QCOMPARE(found.verdict, ImportanceVerdict::Unpredictable);
        QVERIFY(isFinite(found));
    }

    // Of noise one in forty may be believed; of what decides, most must be.
    void whatChanceDoesIsSaidSo() {
        int believedNoise = 0, believed = 0;
        for (std::uint64_t series = 0; series < 100; ++series) {
            const CounterRng random(series, streamOf("chance"), 0, 0);
            std::vector<Tried> noise, real;
            for (std::uint32_t i = 0; i < 160; i += 4) {
                const double x = random.uniform(i), y = random.uniform(i + 1), any = random.uniform(i + 2);
                noise.push_back({{{"x", x}, {"y", y}}, any});
                real.push_back({{{"x", x}, {"y", y}}, std::abs(x - 0.3) + 0.1 * any});
            }
            const std::vector<Dimension> both{ranged("x", 0, 1), ranged("y", 0, 1)};
            believedNoise += pedAnova(both, noise).verdict == ImportanceVerdict::Sound ? 1 : 0;
            believed += pedAnova(both, real).verdict == ImportanceVerdict::Sound ? 1 : 0;
        }
        qInfo("believed: %d of 100 of noise, %d of 100 of what decides", believedNoise, believed);
        QVERIFY(believedNoise <= 9 && believed >= 60);
    }

    // With losses that are none, and a setting that a third of the trials have.
    void conditionalSettingsCountWhereTheyAreSet() {
        auto tried = mixed(60);
        const auto ped = pedAnova(kMixed, tried, {.target = 0.5});
        const auto forest = fanova(kMixed, tried);
        QVERIFY(ped.importances[7] > 0);
        QVERIFY(forest.shares[7].has_value());
        for (const double none : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity()})
            tried.push_back({tried.front().cell, none});
        QCOMPARE(pedAnova(kMixed, tried, {.target = 0.5}).importances, ped.importances);
        QCOMPARE(meanOf(fanova(kMixed, tried), 1), meanOf(forest, 1));
        QCOMPARE(fanova(kMixed, tried).tried, 60u);
        QVERIFY(!fanova(kMixed, mixed(20)).shares[7].has_value());
        QVERIFY(isFinite(fanova(kMixed, mixed(20))));
    }

    void tooFewIsSaid() {
        for (int count = 0; count < 10; ++count) {
            const auto ped = pedAnova(kMixed, mixed(count));
            const auto forest = fanova(kMixed, mixed(count));
            QCOMPARE(ped.verdict, ImportanceVerdict::TooFewTried);
            QCOMPARE(forest.verdict, ImportanceVerdict::TooFewTried);
            QVERIFY(isFinite(ped) && isFinite(forest));
        }
        QCOMPARE(pedAnova(kMixed, mixed(120)).verdict, ImportanceVerdict::Sound);
    }

    void nothingToDivideIsSaid() {
        auto tried = mixed(50);
        const std::vector<Dimension> single{chosen("kind", {std::string("a")}), ranged("x", 0.5, 0.5)};
        QCOMPARE(pedAnova(single, tried).verdict, ImportanceVerdict::NothingVaried);
        QCOMPARE(fanova(single, tried).verdict, ImportanceVerdict::NothingVaried);
        QCOMPARE(meanOf(fanova(single, tried), 0), 0.0);
        QCOMPARE(pedAnova({}, tried).verdict, ImportanceVerdict::NothingVaried);
        QCOMPARE(fanova({}, tried).verdict, ImportanceVerdict::NothingVaried);
        for (Tried& each : tried) each.loss = 0.3;
        const auto ped = pedAnova(kMixed, tried);
        const auto forest = fanova(kMixed, tried);
        QCOMPARE(ped.verdict, ImportanceVerdict::AllAlike);
        QCOMPARE(forest.verdict, ImportanceVerdict::AllAlike);
        QCOMPARE(ped.shares(), std::vector<double>(kMixed.size(), 0.0));
        QVERIFY(isFinite(ped) && isFinite(forest));
    }

    // Losses whose squares are no numbers, values beyond the range or of none of the choices, whole numbers as JSON
    // gives them.
    void oddTrialsAreHarmless() {
        auto tried = mixed(60);
        const auto usual = fanova(kMixed, tried);
        for (Tried& each : tried) each.loss *= 0x1p1000;
        QVERIFY(std::abs(meanOf(fanova(kMixed, tried), 1) - meanOf(usual, 1)) < 1e-9);
        tried.push_back(
            {{{"x", 5.0}, {"rate", -1.0}, {"kind", std::string("none")}, {"many", std::string("x")}}, -1e308});
        tried.push_back({{{"x", std::int64_t{1}}, {"rate", std::numeric_limits<double>::quiet_NaN()}}, 1e308});
        QVERIFY(isFinite(pedAnova(kMixed, tried)) && isFinite(fanova(kMixed, tried)));
        const std::vector<Dimension> endless{ranged("x", -1.5e308, 1.5e308), ranged("many", 0, 1e9, false, true)};
        QVERIFY(isFinite(pedAnova(endless, tried)) && isFinite(fanova(endless, tried)));
        QCOMPARE(coordinateOf(chosen("batch", {std::int64_t{32}, std::int64_t{64}}), {{"batch", 64.0}}), 1.0);
    }

    void placesAreThoseThatValuesAreMadeOf() {
        for (const Dimension& each : kMixed) {
            if (std::holds_alternative<ChoiceOfValues>(each.values)) continue;
            for (const double u : {0.003, 0.2, 0.5, 0.77, 0.995}) {
                const Cell cell{{each.path, each.valueAt(u)}};
                const double place = unitPlace(each, *coordinateOf(each, cell));
                QVERIFY2(each.valueAt(place) == cell.front().value, each.path.c_str());
                QVERIFY(std::abs(place - u) <= 0.5 / static_cast<double>(each.count().value_or(1000)) + 0.02 ||
                        std::get<NumberRange>(each.values).isLog);
            }
        }
    }

    void aThousandTrialsAreQuick() {
        const CounterRng random(3, streamOf("quick"), 0, 0);
        std::vector<Dimension> dimensions;
        for (int i = 0; i < 12; ++i) dimensions.push_back(ranged(("d" + std::to_string(i)).c_str(), 0, 1));
        std::vector<Tried> tried;
        for (std::uint32_t trial = 0, next = 0; trial < 1000; ++trial) {
            Tried each;
            for (const Dimension& dimension : dimensions) each.cell.push_back({dimension.path, random.uniform(next++)});
            for (std::size_t i = 0; i < 6; ++i)
                each.loss += std::pow(std::get<double>(each.cell[i].value) - 0.3, 2) / static_cast<double>(i + 1);
            tried.push_back(std::move(each));
        }
        const std::clock_t begun = std::clock();
        const auto ped = pedAnova(dimensions, tried);
        const std::clock_t between = std::clock();
        const auto forest = fanova(dimensions, tried);
        const auto milliseconds = [](std::clock_t from, std::clock_t to) {
            return 1e3 * static_cast<double>(to - from) / CLOCKS_PER_SEC;
        };
        qInfo("a thousand trials of 12 settings: PED-ANOVA %.0f ms, fANOVA %.0f ms of a processor, R^2 %.3f",
              milliseconds(begun, between), milliseconds(between, std::clock()), *forest.outOfBag);
        QVERIFY(std::ranges::max_element(ped.importances) == ped.importances.begin());
        QVERIFY(meanOf(forest, 0) > meanOf(forest, 11));
    }
};

QTEST_GUILESS_MAIN(TestImportance)
#include "tst_importance.moc"
