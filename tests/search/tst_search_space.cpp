#include <rapidcheck.h>

#include <QtTest>
#include <cmath>

#include "engine/core/number_text.h"
#include "engine/search/cell_count.h"
#include "engine/search/grid.h"
#include "engine/search/search_space.h"
#include "engine/search/suggest.h"

using namespace lockstep;

namespace {

Dimension choices(const std::string& path, ChoiceOfValues values, std::vector<DimensionCondition> when = {}) {
    return {path, std::move(values), std::move(when)};
}
Dimension whole(const std::string& path, double low, double high) {
    return {path, NumberRange{low, high, false, true, 0, 0}, {}};
}

const Dimension kOptimizer = choices("optimizer", {std::string("sgd"), std::string("adamw")});
const Dimension kMomentum = choices("optimizer.momentum", {0.0, 0.9, 0.95}, {{"optimizer", {std::string("sgd")}}});

std::string problemOf(const Result<SearchSpace>& space) {
    return space.ok() ? "" : space.problems().front().field + ": " + space.problems().front().code;
}

}  // namespace

class TestSearchSpace : public QObject {
    Q_OBJECT
private slots:
    void conditionalSettingsCountUnderTheirConditionAlone() {
        const auto space = SearchSpace::from({kMomentum, kOptimizer, whole("epochs", 1, 2)}, {}, {}).value();
        QCOMPARE(gridSize(space), 8.0);  // (3 + 1) * 2
        const auto cells = gridCells(space);
        QCOMPARE(cells.size(), 8u);
        for (const Cell& each : cells) {
            const TrialSpec spec = trialOf({}, each);
            QCOMPARE(each.size(), spec.optimizer.id == "sgd" ? 3u : 2u);
            QCOMPARE(readSetting(spec, "optimizer.momentum").has_value(), spec.optimizer.id == "sgd");
        }
        QVERIFY(cells[0][1] == cells[1][1] && cells[0][2] != cells[1][2]);  // the last one's values come fastest
    }

    // Whoever writes it down, in whatever order.
    void theOrderIsItsOwn() {
        const auto one = SearchSpace::from({kMomentum, kOptimizer, whole("epochs", 1, 2)}, {}, {}).value();
        const auto other = SearchSpace::from({whole("epochs", 1, 2), kOptimizer, kMomentum}, {}, {}).value();
        QVERIFY(one.dimensions() == other.dimensions());
        QCOMPARE(one.dimensions()[0].path, std::string("epochs"));
        QVERIFY(gridCells(one) == gridCells(other));
    }

    void constraintsLeaveCellsOut() {
        auto constraint = Constraint::parse("batch / devices >= 32", "c").value();
        const auto space =
            SearchSpace::from(
                {choices("batch", {std::int64_t{32}, std::int64_t{64}, std::int64_t{128}}),
                 choices("devices", {std::string("cpu:1"), std::string("cpu:2x1"), std::string("cuda:0,1")})},
                {constraint}, {})
                .value();
        QCOMPARE(gridSize(space), 9.0);
        QCOMPARE(gridCells(space).size(), 7u);
    }

    // Which constraint it is; exactly of a grid, and by many that are drawn of what cannot be counted.
    void whereNoCellIsThatIsSaid() {
        SweepSpec sweep;
        const auto problem = [&](const char* method, std::initializer_list<const char*> words,
                                 std::initializer_list<const char*> constraints) {
            sweep = {};
            sweep.method = method;
            for (const char* each : words) sweep.vary.push_back(dimensionFrom(each).value());
            for (const char* each : constraints) sweep.constraints.push_back(Constraint::parse(each, "").value());
            return problemOfNoCells(sweep, spaceOf(sweep).value());
        };
        QVERIFY(!problem("grid", {"batch=32,64"}, {}));
        QVERIFY(!problem("grid", {"batch=32,64"}, {"batch >= 64"}));
        QCOMPARE(problem("grid", {"batch=32,64", "epochs=1,2,3"}, {"epochs <= 3", "batch >= 65 * accumulation"}),
                 std::optional(Problem{
                     "constraints", "sweep.no-cells", {"6", "batch >= 65 * accumulation", "batch, accumulation"}}));
        // Each by itself leaves some, and both leave none.
        QCOMPARE(problem("grid", {"batch=32,64"}, {"batch >= 64", "batch <= 32"}),
                 std::optional(Problem{"constraints", "sweep.no-cells", {"2", "batch >= 64, batch <= 32", "batch"}}));
        for (const char* method : {"random", "sobol", "tpe", "gp"}) {
            const auto drawn = problem(method, {"learning_rate=log:1e-3..1", "batch=32,64"}, {"learning_rate > 2"});
            QCOMPARE(drawn, std::optional(Problem{"constraints",
                                                  "sweep.no-cells-drawn",
                                                  {countText(kPatience), "learning_rate > 2", "learning_rate"}}));
            QVERIFY(!problem(method, {"learning_rate=log:1e-3..1"}, {"learning_rate > 0.5"}));
        }
    }

    void cellsAreCounted() {
        const auto count = [](std::initializer_list<const char*> words, std::vector<Constraint> constraints) {
            std::vector<Dimension> dimensions;
            for (const char* each : words) dimensions.push_back(dimensionFrom(each).value());
            return cellCount(SearchSpace::from(dimensions, std::move(constraints), {}).value());
        };
        QCOMPARE(count({"batch=32,64", "epochs=1,2,3"}, {}), 6.0);
        QCOMPARE(count({"batch=32,64", "epochs=1,2,3"}, {Constraint::parse("batch <= 32 * epochs", "").value()}), 5.0);
        QVERIFY(std::isinf(count({"batch=32,64", "learning_rate=0.1..1"}, {})));
    }

    void hugeGridsAreCountedAndRefused() {
        std::vector<Dimension> many;
        for (const char* path : {"batch", "epochs", "shards"}) many.push_back(whole(path, 1, 1000));
        const auto space = SearchSpace::from(many, {}, {}).value();
        QCOMPARE(gridSize(space), 1e9);
        QCOMPARE(checkGrid(space)->code, std::string("search.too-many-cells"));
        QCOMPARE(checkGrid(space)->args[0], std::string("1000000000"));
        const auto endless = SearchSpace::from({{"learning_rate", NumberRange{0, 1, false, {}, 0, 0}, {}}}, {}, {});
        QCOMPARE(checkGrid(endless.value())->code, std::string("search.endless"));
    }

    void whatIsWrongIsNamed() {
        QCOMPARE(problemOf(SearchSpace::from({}, {}, {})), "vary: search.empty");
        QCOMPARE(problemOf(SearchSpace::from({whole("batsch", 1, 2)}, {}, {})), "batsch: spec.unknown-key");
        QCOMPARE(problemOf(SearchSpace::from({whole("batch", 1, 2), whole("batch", 3, 4)}, {}, {})),
                 "batch: search.twice-varied");
        QCOMPARE(problemOf(SearchSpace::from({choices("batch", {std::string("many")})}, {}, {})),
                 "batch: spec.wrong-type");
        const DimensionCondition onEpochs{"epochs", {std::int64_t{1}}}, onBatch{"batch", {std::int64_t{1}}};
        QCOMPARE(problemOf(SearchSpace::from(
                     {choices("batch", {std::int64_t{1}}, {onEpochs}), choices("epochs", {std::int64_t{1}}, {onBatch})},
                     {}, {})),
                 "batch: search.circle");
        QCOMPARE(problemOf(SearchSpace::from({kMomentum, choices("optimizer", {std::string("adamw")})}, {}, {})),
                 "optimizer.momentum: search.never");
        TrialSpec adamw;
        adamw.optimizer = {"adamw", {}};
        QCOMPARE(problemOf(SearchSpace::from({kMomentum}, {}, adamw)), "optimizer.momentum: search.never");
        QVERIFY(SearchSpace::from({kMomentum}, {}, {}).ok());
        QCOMPARE(problemOf(SearchSpace::from({whole("batch", 1, 2)}, {Constraint::parse("bach > 1", "c").value()}, {})),
                 "bach > 1: search.not-a-setting");
    }

    // A point of the cube is a cell of the grid, and every cell has points.
    void pointsAndGridMeanTheSame() {
        rc::check([] {
            const auto space = SearchSpace::from({kMomentum, kOptimizer, whole("epochs", 1, 3)}, {}, {}).value();
            std::vector<double> point;
            for (int i = 0; i < 3; ++i) point.push_back(*rc::gen::inRange(0, 1000) / 1000.0);
            const auto cell = space.cellAt(point);
            const auto all = gridCells(space);
            RC_ASSERT(cell && std::ranges::find(all, *cell) != all.end());
        });
    }
};

QTEST_GUILESS_MAIN(TestSearchSpace)
#include "tst_search_space.moc"
