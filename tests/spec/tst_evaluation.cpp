#include <QtTest>
#include <cmath>
#include <numeric>

#include "engine/spec/evaluation.h"

using namespace lockstep;

namespace {

// Three classes; nobody is taken for the last but itself.
EvalCounts threeClasses() {
    EvalCounts counts{.step = 7, .epoch = 2, .classes = 3};
    counts.cells = {0, 0, 8, 0, 1, 2, 1, 0, 1, 1, 1, 4, 2, 1, 5, 2, 2, 5};
    counts.binSamples = {0, 5, 20};
    counts.binCorrect = {0, 2, 15};
    counts.binConfidence = {0, 2.5, 18};
    return counts;
}

ConfusionMatrix matrixOf(const EvalCounts& counts) { return ConfusionMatrix::from(counts).value(); }

bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

}  // namespace

class TestEvaluation : public QObject {
    Q_OBJECT
private slots:
    void rowsAreClassesAndColumnsAnswers() {
        const ConfusionMatrix matrix = matrixOf(threeClasses());
        QCOMPARE(matrix.at(2, 1), std::int64_t{5});
        QCOMPARE(matrix.at(1, 2), std::int64_t{0});
        QCOMPARE(matrix.ofClass(2), std::int64_t{10});
        QCOMPARE(matrix.answered(1), std::int64_t{11});
        QCOMPARE(matrix.total(), std::int64_t{25});
        QCOMPARE(matrix.correct(), std::int64_t{17});
    }

    void confusionsAreSortedByCount() {
        using Cell = ConfusionMatrix::Cell;
        QVERIFY(matrixOf(threeClasses()).confusions() == (std::vector<Cell>{{2, 1, 5}, {0, 1, 2}, {1, 0, 1}}));
    }

    // By the definitions: precision of the answers, recall of the class, F1 their harmonic mean.
    void scoresFollowTheirDefinitions() {
        const auto scores = classScores(matrixOf(threeClasses()));
        QVERIFY(near(scores[0].precision, 8.0 / 9) && near(scores[0].recall, 8.0 / 10));
        QVERIFY(near(scores[1].precision, 4.0 / 11) && near(scores[1].recall, 4.0 / 5));
        QVERIFY(near(scores[2].precision, 1) && near(scores[2].recall, 0.5));
        for (const ClassScore& each : scores)
            QVERIFY(near(each.f1, 2 * each.precision * each.recall / (each.precision + each.recall)));
        const ClassScore mean = macroAverage(scores);
        QVERIFY(near(mean.recall, (0.8 + 0.8 + 0.5) / 3));
        QCOMPARE(mean.samples, std::int64_t{25});
    }

    void aClassWithoutSamplesOrAnswersHasNoScore() {
        EvalCounts counts{.classes = 3};
        counts.cells = {0, 0, 3, 2, 0, 1};  // nothing of class 1, nothing taken for 1 or 2
        const auto scores = classScores(matrixOf(counts));
        QVERIFY(std::isnan(scores[1].recall) && std::isnan(scores[1].precision) && std::isnan(scores[1].f1));
        QVERIFY(std::isnan(scores[2].precision) && scores[2].recall == 0 && scores[2].f1 == 0);
        const ClassScore mean = macroAverage(scores);
        QVERIFY(near(mean.precision, 0.75 / 2) && near(mean.recall, 0.5));
        QVERIFY(std::isnan(macroAverage(classScores(ConfusionMatrix(2))).f1));
    }

    // 5 samples are 0.4 right at 0.5, 20 are 0.75 right at 0.9.
    void calibrationErrorIsTheWeightedGap() {
        const auto bins = calibration(threeClasses());
        QVERIFY(bins[0].samples == 0 && std::isnan(bins[0].accuracy));
        QVERIFY(near(bins[1].confidence, 0.5) && near(bins[2].accuracy, 0.75));
        QVERIFY(near(expectedCalibrationError(bins), (5 * 0.1 + 20 * 0.15) / 25));
        QVERIFY(std::isnan(expectedCalibrationError({})));
    }

    void countsTravelAsAnEvent() {
        const auto read = eventFromJsonLine(toJsonLine(threeClasses(), 5));
        QVERIFY(read.ok() && read.value().number == 5);
        QVERIFY(std::get<EvalCounts>(read.value().event) == threeClasses());
        QVERIFY(!isStepEvent(threeClasses()));
    }

    void oddCountsAreRefused_data() {
        QTest::addColumn<std::int64_t>("classes");
        QTest::addColumn<std::vector<std::int64_t>>("cells");
        using Cells = std::vector<std::int64_t>;
        QTest::newRow("no classes") << std::int64_t{0} << Cells{};
        QTest::newRow("more than are counted") << kMostCountedClasses + 1 << Cells{};
        QTest::newRow("cut") << std::int64_t{3} << Cells{0, 1};
        QTest::newRow("label beyond") << std::int64_t{3} << Cells{3, 0, 1};
        QTest::newRow("answer beyond") << std::int64_t{3} << Cells{0, 3, 1};
        QTest::newRow("negative label") << std::int64_t{3} << Cells{-1, 0, 1};
        QTest::newRow("negative count") << std::int64_t{3} << Cells{0, 0, -1};
    }
    void oddCountsAreRefused() {
        QFETCH(std::int64_t, classes);
        QFETCH(std::vector<std::int64_t>, cells);
        EvalCounts counts{.classes = classes};
        counts.cells = cells;
        const auto matrix = ConfusionMatrix::from(counts);
        QVERIFY(!matrix.ok());
        QCOMPARE(matrix.problems().front().code, std::string("event.bad-field"));
    }
};

QTEST_APPLESS_MAIN(TestEvaluation)
#include "tst_evaluation.moc"
