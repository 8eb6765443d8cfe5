#include <QtTest>

#include "tests/ui/compare/compare_facts.h"
#include "ui/compare/axis_order.h"
#include "ui/compare/parallel_brush.h"
#include "ui/compare/parallel_layout.h"
#include "ui/compare/parallel_lines.h"

using namespace lockstep;
using namespace lockstep::ui;
using namespace lockstep::test;

namespace {

// Rates of 0.001 times 1, 4, 9 … 81: on their log scale 9 is in the middle.
struct Bench {
    SharedScene scene = sceneOf(madeFacts());
    ParallelAxis axis(const std::string& key, bool isFlipped = false) const {
        return ParallelAxis(*scene->table, *scene->table->axisOf(key), isFlipped);
    }
    std::vector<std::string> shown(const AxisOrder& order = {}) const {
        std::vector<std::string> keys;
        for (const std::size_t each : shownAxes(*scene, order)) keys.push_back(scene->table->axes[each].key);
        return keys;
    }
};
const std::string kRate = "learning_rate", kOptimizer = "optimizer", kMomentum = "optimizer.momentum",
                  kObjective = "metric.validation_accuracy";

using Ranges = std::vector<AxisBrush::Range>;
using Keys = std::vector<std::string>;

bool near(double a, double b) { return std::abs(a - b) < 1e-3; }

// As text: a rate of 0.009 is not to the last bit nine times 0.001.
QString text(const Ranges& ranges) {
    QStringList parts;
    for (const auto& each : ranges) parts << QString("%1-%2").arg(each.low, 0, 'g', 6).arg(each.high, 0, 'g', 6);
    return parts.join(' ');
}

}  // namespace

class TestParallelAxes : public QObject {
    Q_OBJECT
private slots:
    void numbersStandByTheirScale() {
        const Bench bench;
        const ParallelAxis rate = bench.axis(kRate);
        QVERIFY(near(rate.place(0.001), 0) && near(rate.place(0.009), 0.5) && near(rate.place(0.081), 1));
        QVERIFY(near(bench.axis(kRate, true).place(0.001), 1));
        QVERIFY(near(bench.axis(kRate, true).places()[0], 1));
        const ParallelAxis momentum = bench.axis(kMomentum);
        QVERIFY(near(momentum.place(0.45), 0.5));
    }

    void choicesStandAtEvenDistances() {
        const Bench bench;
        const ParallelAxis optimizer = bench.axis(kOptimizer);
        QVERIFY(near(optimizer.place(0), 0.25) && near(optimizer.place(1), 0.75));
        QCOMPARE(optimizer.ticks(5).size(), std::size_t(2));
        QCOMPARE(optimizer.ticks(5)[1].text, QString("adamw"));
    }

    // A batch of 1.5 passes is nobody's; and half a number is another number.
    void aFewNumbersAreTicksAndNoneIsCut() {
        CompareFacts facts;
        for (std::int64_t id = 1; id <= 8; ++id) {
            facts.rows.push_back(madeRow(id, 0.5));
            facts.settings["accumulation"][id] = 1 + id % 4;
            facts.settings["learning_rate"][id] = 0.000123456 * static_cast<double>(id);
        }
        const CompareTable table = compareTable(facts);
        const ParallelAxis passes(table, *table.axisOf("accumulation"), false);
        QStringList texts;
        for (const auto& tick : passes.ticks(10)) texts << tick.text;
        QCOMPARE(texts, QStringList({"1", "2", "3", "4"}));
        const ParallelAxis rate(table, *table.axisOf("learning_rate"), false);
        const QFontMetricsF metrics((QFont()));
        QCOMPARE(rate.shortText(0, metrics, 1000), table.axes[rate.index()].cell(0));
        QCOMPARE(rate.shortText(0, metrics, 1), QString("0.0001"));
    }

    void whatHasNoValueStandsInASlot() {
        const Bench bench;
        const auto slotOf = [&](const std::string& key, std::size_t row) {
            return ParallelAxis::slotAt(bench.axis(key).places()[row]);
        };
        QCOMPARE(slotOf(kMomentum, 2), Absence::NotSet);
        QCOMPARE(slotOf(kObjective, 2), Absence::Diverged);
        QCOMPARE(slotOf(kObjective, 4), Absence::Failed);
        QCOMPARE(bench.axis(kMomentum).count(Absence::NotSet), std::size_t(3));
        QCOMPARE(bench.axis(kObjective).count(Absence::None), std::size_t(7));
    }

    // A loss of a million does not take the axis from the others.
    void whatLiesFarBeyondTheRestStandsAtTheEnd() {
        CompareFacts facts;
        for (std::int64_t id = 1; id <= 20; ++id) {
            facts.rows.push_back(madeRow(id, 0.5));
            facts.rows.back().testLoss = facts.rows.back().lowestTestLoss =
                id == 9 ? 1e6 : 0.1 * static_cast<double>(id);
        }
        facts.settings["batch"] = {{1, std::int64_t(32)}, {2, std::int64_t(1'000'000)}};
        const CompareTable table = compareTable(facts);
        const ParallelAxis loss(table, *table.axisOf("metric.test_loss"), false);
        QVERIFY(near(loss.places()[8], 1));
        QVERIFY(loss.places()[19] < 0.7);
        QCOMPARE(loss.pieces({.ranges = {{0.5, 1e6}}})[0].high, 1.0);
        const ParallelAxis batch(table, *table.axisOf("batch"), false);  // nobody's choice is put aside
        QVERIFY(near(batch.place(32), 0) && near(batch.place(1e6), 1));
    }

    void aBrushSnapsToWhatIsThere() {
        const Bench bench;
        const ParallelAxis rate = bench.axis(kRate);
        const auto drawn = [&](double from, double to) { return text(BrushDrag(rate, {}, {}, from).to(to).ranges); };
        QCOMPARE(drawn(0.1, 0.6), QString("0.004-0.009"));
        QCOMPARE(drawn(0.6, 0.1), QString("0.004-0.009"));
        QCOMPARE(drawn(-1, 2), QString("0.001-0.081"));
        QCOMPARE(drawn(0.05, 0.2), QString());
        const ParallelAxis flipped = bench.axis(kRate, true);
        QCOMPARE(text(BrushDrag(flipped, {}, {}, 0.9).to(0.4).ranges), QString("0.004-0.009"));
    }

    void aPieceIsMovedAndResized() {
        const Bench bench;
        const ParallelAxis rate = bench.axis(kRate);
        const auto& values = bench.scene->table->axes[*bench.scene->table->axisOf(kRate)].values;
        const AxisBrush before{.ranges = {{values[1], values[2]}, {values[7], values[7]}}};
        const auto dragged = [&](BrushGrip grip, double from, double to) {
            return text(merged(BrushDrag(rate, before, {0, grip}, from).to(to)).ranges);
        };
        QCOMPARE(dragged(BrushGrip::Whole, 0.4, 0.72), QString("0.025-0.036 0.064-0.064"));
        QCOMPARE(dragged(BrushGrip::Whole, 0.4, 5), QString("0.036-0.081"));  // both are one
        QCOMPARE(dragged(BrushGrip::High, 0.5, 0.75), QString("0.004-0.025 0.064-0.064"));
        QCOMPARE(dragged(BrushGrip::High, 0.5, 0), QString("0.001-0.004 0.064-0.064"));
        QCOMPARE(dragged(BrushGrip::Low, 0.3155, 0.1), QString("0.004-0.009 0.064-0.064"));
        QCOMPARE(dragged(BrushGrip::Low, 0.3155, 0), QString("0.001-0.009 0.064-0.064"));
        // Between two stops it is the nearer one.
        QCOMPARE(text(merged(BrushDrag(rate, before, {1, BrushGrip::Whole}, 0.946).to(0.55)).ranges),
                 QString("0.004-0.009"));
    }

    void severalPiecesOfAnAxis() {
        const Bench bench;
        const ParallelAxis rate = bench.axis(kRate);
        const AxisBrush one{.ranges = {{0.001, 0.001}}, .without = {Absence::Failed}};
        const AxisBrush two = BrushDrag(rate, one, {}, 0.9).to(1);
        QCOMPARE(text(two.ranges), QString("0.001-0.001 0.064-0.081"));
        QCOMPARE(rate.pieces(two).size(), std::size_t(2));
        QCOMPARE(text(withoutPiece(rate, two, 0).ranges), QString("0.064-0.081"));
        QVERIFY(withoutPiece(rate, two, 0).without.contains(Absence::Failed));
        QVERIFY(toggled(one, Absence::Failed).without.empty());
        QCOMPARE(text(merged({.ranges = {{2, 4}, {1, 3}, {7, 8}}}).ranges), QString("1-4 7-8"));
    }

    void choicesAreBrushedByName() {
        const Bench bench;
        const ParallelAxis optimizer = bench.axis(kOptimizer);
        const AxisBrush both = BrushDrag(optimizer, {}, {}, 0.1).to(0.9);
        QCOMPARE(both.choices, std::set<std::string>({"sgd", "adamw"}));
        QCOMPARE(optimizer.pieces(both), std::vector<AxisPiece>({{0.25, 0.75}}));
        QCOMPARE(BrushDrag(optimizer, both, {0, BrushGrip::High}, 0.75).to(0.4).choices,
                 std::set<std::string>({"sgd"}));
        QVERIFY(withoutPiece(optimizer, both, 0).empty());
        QCOMPARE(toggled(both, std::string("sgd")).choices, std::set<std::string>({"adamw"}));
    }

    void aPointerTakesHoldOfEndsAndMiddles() {
        const std::vector<AxisPiece> pieces{{0.2, 0.4}, {0.42, 0.44}};
        const auto hit = [&](double place) { return brushAt(pieces, place, 0.03); };
        QCOMPARE(hit(0.1), BrushHit());
        QCOMPARE(hit(0.18), BrushHit({0, BrushGrip::Low}));
        QCOMPARE(hit(0.3), BrushHit({0, BrushGrip::Whole}));
        QCOMPARE(hit(0.39), BrushHit({0, BrushGrip::High}));
        QCOMPARE(hit(0.43), BrushHit({1, BrushGrip::Whole}));
        QCOMPARE(hit(0.46), BrushHit({1, BrushGrip::High}));
    }

    void axesStandByImportanceTheObjectiveLast() {
        Bench bench;
        QCOMPARE(bench.shown(), Keys({kRate, kOptimizer, kMomentum, kObjective}));
        auto known = std::make_shared<CompareScene>(*bench.scene);
        known->importance = {0.1, 0.2, 0.7};
        bench.scene = known;
        QCOMPARE(bench.shown(), Keys({kMomentum, kOptimizer, kRate, kObjective}));
    }

    void aPersonsOrderStays() {
        Bench bench;
        const std::size_t objective = *bench.scene->table->objective,
                          seconds = *bench.scene->table->axisOf("metric.seconds");
        AxisOrder order = withMoved(*bench.scene, {}, objective, 0);
        QCOMPARE(bench.shown(order), Keys({kObjective, kRate, kOptimizer, kMomentum}));
        order = withShown(*bench.scene, order, *bench.scene->table->axisOf(kOptimizer), false);
        QCOMPARE(bench.shown(order), Keys({kObjective, kRate, kMomentum}));
        order = withShown(*bench.scene, order, *bench.scene->table->axisOf(kOptimizer), true);
        QCOMPARE(bench.shown(order), Keys({kObjective, kRate, kOptimizer, kMomentum}));
        // What it does not know stands before the first that would follow it.
        QCOMPARE(bench.shown(withShown(*bench.scene, {}, seconds, true)),
                 Keys({kRate, kOptimizer, kMomentum, "metric.seconds", kObjective}));
        QCOMPARE(bench.shown({.order = {"of another sweep", kMomentum}}),
                 Keys({kMomentum, kRate, kOptimizer, kObjective}));
    }

    void anOrderIsKept() {
        const AxisOrder order{.order = {"b", "a"}, .flipped = {"a"}, .away = {"c"}, .added = {"metric.seconds"}};
        QCOMPARE(axisOrderFrom(jsonOf(order)), order);
        QCOMPARE(axisOrderFrom({}), AxisOrder());
        QCOMPARE(withFlipped(withFlipped(order, "b"), "b"), order);
    }

    void everythingHasItsPlace() {
        const Bench bench;
        std::vector<ParallelAxis> axes;
        for (const std::size_t each : shownAxes(*bench.scene, {})) axes.emplace_back(*bench.scene->table, each, false);
        for (const QSizeF size : {QSizeF(1600, 500), QSizeF(380, 180)}) {
            const ParallelLayout layout = layoutOf(QRectF({0, 30}, size), axes, QFont());
            QCOMPARE(layout.slotRows, std::vector<Absence>({Absence::NotSet, Absence::Failed, Absence::Diverged}));
            QVERIFY(layout.plot.height() > 40);
            const auto slot = [&](Absence absence) { return layout.y(-static_cast<float>(absence)); };
            QVERIFY(slot(Absence::Failed) < layout.area.bottom() && slot(Absence::NotSet) > layout.plot.bottom());
            QVERIFY(near(layout.placeAt(layout.y(0.25f)), 0.25));
            using Target = ParallelTarget;
            for (std::size_t i = 0; i < axes.size(); ++i) {
                QCOMPARE(targetAt(layout, axes, layout.titleRoom(i).center()), Target({Target::Title, i}));
                QCOMPARE(targetAt(layout, axes, {layout.x[i] + 2, layout.y(0.3f)}), Target({Target::Axis, i}));
            }
            QCOMPARE(targetAt(layout, axes, {layout.x[2], layout.y(-1)}), Target({Target::Slot, 2, Absence::NotSet}));
            QCOMPARE(targetAt(layout, axes, {layout.x[0], layout.y(-1)}), Target());  // all have a rate
            QCOMPARE(targetAt(layout, axes, {layout.x[0] + layout.gap() / 2, layout.y(0.5f)}), Target());
        }
    }

    void theBestLieAboveAndStayColoured() {
        ParallelPlot plot{.scene = sceneOf(madeFacts())};
        rankTrials(plot);
        QCOMPARE(plot.drawOrder.back(), std::uint32_t(6));  // trial 7, the best
        QVERIFY(plot.goodness[6] == 1 && plot.goodness[4] < 0);
        QCOMPARE(coloured(plot).size(), std::size_t(9));
        plot.bestShare = 0.25;  // of the seven that have a value
        QCOMPARE(coloured(plot), std::vector<std::uint32_t>({7, 6}));
        plot.scene = sceneOf(madeFacts(), {{kRate, {.ranges = {{0.001, 0.05}}}}});
        QCOMPARE(coloured(plot), std::vector<std::uint32_t>({6}));
    }

    // Thousands are drawn in bins while a pointer moves: that looks alike, and none is left out.
    void aDraftLooksLikeThePicture() {
        CompareFacts facts;
        for (std::int64_t id = 1; id <= 3500; ++id) {
            const double part = static_cast<double>(id * 7919 % 3500) / 3500;
            facts.rows.push_back(madeRow(id, 0.2 + 0.6 * part));
            facts.settings["batch"][id] = static_cast<std::int64_t>(id * 104729 % 3500);
            facts.settings["learning_rate"][id] = part * part;
        }
        ParallelPlot plot{.scene = sceneOf(facts)};
        for (const std::size_t each : shownAxes(*plot.scene, {}))
            plot.axes.emplace_back(*plot.scene->table, each, false);
        plot.layout = layoutOf(QRectF(0, 0, 600, 300), plot.axes, QFont());
        rankTrials(plot);
        QVERIFY(ParallelLines::hasDraft(plot, 1));
        ParallelLines lines;
        const QImage draft = lines.picture(plot, 1, true), exact = lines.picture(plot, 1, false);
        // Of squares that are as large as what an eye takes in at once.
        constexpr int kSquare = 12;
        const auto mean = [](const QImage& image, int left, int top) {
            int sum = 0;
            for (int y = top; y < top + kSquare; ++y)
                for (int x = left; x < left + kSquare; ++x) sum += qGreen(image.pixel(x, y));
            return sum / (kSquare * kSquare);
        };
        QVERIFY(draft != exact);
        double away = 0;
        int squares = 0;
        for (int y = 0; y + kSquare <= exact.height(); y += kSquare) {
            for (int x = 0; x + kSquare <= exact.width(); x += kSquare, ++squares)
                away += std::abs(mean(exact, x, y) - mean(draft, x, y));
        }
        QVERIFY2(away / squares < 12, qPrintable(QString::number(away / squares)));
    }
};

QTEST_MAIN(TestParallelAxes)
#include "tst_parallel_axes.moc"
