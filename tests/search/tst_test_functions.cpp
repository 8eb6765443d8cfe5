#include <QtTest>
#include <cmath>

#include "engine/search/simulated_sweep.h"

using namespace lockstep;

namespace {

Cell cellOf(std::initializer_list<double> x) {
    Cell cell;
    for (const double each : x) cell.push_back({"x" + std::to_string(cell.size() + 1), each});
    return cell;
}

using Rows = std::vector<std::vector<std::string>>;

std::string codeOf(const Rows& rows) {
    const auto table = tableFunction(rows, "t.csv");
    return table.ok() ? "" : table.problems().front().code;
}

const Rows kTable{
    {"batch", " optimizer ", "loss"}, {"32", "sgd", "0.5"}, {"64", "sgd", "0.25\r"}, {"16", "adamw", "nan"}};

}  // namespace

class TestTestFunctions : public QObject {
    Q_OBJECT
private slots:
    void theirMinimaAreKnown() {
        const TestFunction branin = testFunction("branin").value();
        for (const auto& x : {cellOf({-M_PI, 12.275}), cellOf({M_PI, 2.275}), cellOf({9.42478, 2.475})})
            QVERIFY(std::abs(branin.loss(x) - 0.397887) < 1e-6);
        const TestFunction hartmann = testFunction("hartmann6").value();
        QVERIFY(std::abs(hartmann.loss(cellOf({0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573})) + 3.32237) <
                1e-5);
        QVERIFY(std::isnan(branin.loss(cellOf({1}))));
        QVERIFY(!testFunction("rosenbrock"));
    }

    void aTableIsRead() {
        const auto table = tableFunction(kTable, "t.csv");
        QVERIFY(table.ok());
        const TestFunction& function = table.value();
        QCOMPARE(wordsOf(function.domain[0]), std::string("batch=16,32,64"));
        QCOMPARE(wordsOf(function.domain[1]), std::string("optimizer=sgd,adamw"));
        QCOMPARE(function.loss({{"batch", 64.0}, {"optimizer", std::string("sgd")}}), 0.25);
        QVERIFY(std::isnan(function.loss({{"batch", std::int64_t{16}}, {"optimizer", std::string("adamw")}})));
        QVERIFY(std::isnan(function.loss({{"batch", std::int64_t{16}}, {"optimizer", std::string("sgd")}})));
    }

    // Which combination of which columns, or which line.
    void whatHasNoLossSaysWhy() {
        const TestFunction table = tableFunction(kTable, "t.csv").value();
        QCOMPARE(table.whyNone({{"batch", std::int64_t{16}}, {"optimizer", std::string("sgd")}}),
                 (Problem{"t.csv", "search.table-no-cell", {"batch=16 optimizer=sgd", "batch, optimizer"}}));
        QCOMPARE(table.whyNone({{"batch", std::int64_t{16}}, {"optimizer", std::string("adamw")}}),
                 (Problem{"t.csv", "search.table-no-loss", {"4", "loss", "nan", "batch=16 optimizer=adamw"}}));
        QCOMPARE(testFunction("branin")->whyNone({{"x1", 1.0}, {"x2", std::string("a")}}),
                 (Problem{"branin", "search.not-a-number", {"x2", "a"}}));
    }

    void whatIsNoTableIsRefused() {
        QCOMPARE(codeOf({}), "search.table-empty");
        QCOMPARE(codeOf({{"loss"}, {"1"}}), "search.table-empty");
        QCOMPARE(codeOf({{"a", "loss"}}), "search.table-empty");
        QCOMPARE(codeOf({{"a", "loss"}, {" ", "1"}}), "");
        QCOMPARE(codeOf({{"a", "loss"}, {"1", "1"}, {"2", "1"}, {"1.0", "3"}}), "search.table-twice");
    }

    void linesWithoutLossAreKnown() {
        const auto table = tableFunction({{"a", "error"}, {"1", "nan"}, {"2", "1"}, {"3", ""}}, "t.csv");
        QVERIFY(table.ok());
        QVERIFY(table.value().linesWithoutLoss == (std::vector<std::size_t>{2, 4}));
        QCOMPARE(table.value().lossColumn, std::string("error"));
    }

    // A grid with three at once: told in the order in which they began, the best so far beside them.
    void aSweepIsSimulated() {
        const TestFunction function = tableFunction(kTable, "t.csv").value();
        SweepSpec sweep;
        sweep.method = "grid";
        sweep.trials = 0;
        sweep.parallel = 3;
        std::vector<SimulatedTrial> told;
        simulate(sweep, SearchSpace::from(function.domain, {}).value(), function,
                 [&](const SimulatedTrial& each) { told.push_back(each); });
        QCOMPARE(told.size(), 6u);
        for (std::size_t i = 0; i < told.size(); ++i) QCOMPARE(told[i].number, i);
        QCOMPARE(told.back().best, 0.25);
        QCOMPARE(std::ranges::count(told, TriedState::Failed, [](const auto& each) { return each.tried.state; }), 4);
    }
};

QTEST_GUILESS_MAIN(TestTestFunctions)
#include "tst_test_functions.moc"
