#include <QtTest>
#include <algorithm>
#include <set>

#include "engine/search/grid.h"
#include "engine/search/suggest.h"

using namespace lockstep;

namespace {

SweepSpec sweepOf(const char* method, std::initializer_list<const char*> words, std::int64_t trials) {
    SweepSpec sweep;
    sweep.method = method;
    sweep.trials = trials;
    for (const char* each : words) sweep.vary.push_back(dimensionFrom(each).value());
    adoptKinds(sweep, ownField);
    return sweep;
}

std::vector<Cell> all(const SweepSpec& sweep, std::vector<Cell> made = {}) {
    const SearchSpace space = spaceOf(sweep).value();
    while (auto cell = nextCell(sweep, space, made)) made.push_back(std::move(*cell));
    return made;
}

const auto kSmall = {"batch=32,64,128", "optimizer=sgd,adamw", "optimizer.momentum=0.8,0.9?optimizer=sgd"};
const auto kLarge = {"learning_rate=log:1e-3..1", "batch=16..512", "label_smoothing=0..0.2"};

}  // namespace

class TestSuggest : public QObject {
    Q_OBJECT
private slots:
    void everyMethodGoesOnAfterARestart_data() {
        QTest::addColumn<QString>("method");
        for (const char* method : {"grid", "random", "sobol"}) QTest::newRow(method) << method;
    }
    // From what was suggested alone, in whatever order it is told.
    void everyMethodGoesOnAfterARestart() {
        QFETCH(QString, method);
        const bool grid = method == "grid";
        const SweepSpec sweep = sweepOf(qPrintable(method), grid ? kSmall : kLarge, grid ? 0 : 40);
        const std::vector<Cell> whole = all(sweep);
        QCOMPARE(whole.size(), grid ? 9u : 40u);
        for (const std::size_t cut : {std::size_t{1}, whole.size() / 2, whole.size()}) {
            std::vector<Cell> made(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
            std::ranges::reverse(made);
            made = all(sweep, made);
            QVERIFY(std::equal(made.begin() + static_cast<std::ptrdiff_t>(cut), made.end(),
                               whole.begin() + static_cast<std::ptrdiff_t>(cut), whole.end()));
        }
    }

    void theSeedDecides() {
        for (const char* method : {"random", "sobol"}) {
            SweepSpec sweep = sweepOf(method, kLarge, 10);
            const auto one = all(sweep);
            QVERIFY(all(sweep) == one);
            sweep.seed = 2;
            QVERIFY(all(sweep) != one);
        }
    }

    // A small space is tried whole, once, and then there is nothing more.
    void noCellComesTwice() {
        for (const char* method : {"random", "sobol"}) {
            const SweepSpec sweep = sweepOf(method, kSmall, 1000);
            const auto made = all(sweep);
            QCOMPARE(made.size(), 9u);
            const auto cells = gridCells(spaceOf(sweep).value());
            QVERIFY(std::ranges::is_permutation(made, cells));
        }
    }

    void constraintsAreKept() {
        SweepSpec sweep = sweepOf("random", {"batch=1..1000", "epochs=1..1000"}, 50);
        sweep.constraints.push_back(Constraint::parse("batch * epochs <= 2000", "c").value());
        const auto made = all(sweep);
        QCOMPARE(made.size(), 50u);
        for (const Cell& each : made) {
            const TrialSpec spec = trialOf(sweep.trial, each);
            QVERIFY(spec.batch * spec.epochs <= 2000);
        }
        sweep.constraints.push_back(Constraint::parse("batch > 1000", "c").value());
        QVERIFY(all(sweep).empty());
    }

    // Cells of the history that somebody else made count as well.
    void whatIsThereAlreadyIsNotTriedAgain() {
        const SweepSpec sweep = sweepOf("grid", kSmall, 0);
        auto cells = gridCells(spaceOf(sweep).value());
        const std::vector<Cell> known{cells[4], cells[7]};
        const auto made = all(sweep, known);
        QCOMPARE(made.size(), 9u);
        QVERIFY(std::ranges::is_permutation(made, cells));
    }

    void aThousandSuggestionsAreQuick() {
        const SweepSpec sweep = sweepOf("sobol", kLarge, 1000);
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(all(sweep).size(), 1000u);
        qInfo("1000 suggestions took %lld ms", static_cast<long long>(timer.elapsed()));
    }
};

QTEST_GUILESS_MAIN(TestSuggest)
#include "tst_suggest.moc"
