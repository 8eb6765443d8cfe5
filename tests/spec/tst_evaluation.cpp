#include <QtTest>
#include <cmath>
#include <numeric>

#include "engine/spec/data_known.h"
#include "engine/spec/evaluation.h"
#include "engine/spec/trial_spec.h"

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

DataFingerprint dataOf(std::uint64_t train, std::uint64_t test, std::uint64_t validation = 0) {
    return {{60, train}, {10, test}, {validation > 0 ? 5 : 0, validation}};
}

Evaluation askedOf(std::int64_t id, std::optional<DataFingerprint> fingerprint, const char* split = "test") {
    Evaluation out;
    out.id = id, out.data = "/data", out.dataset = "image-folder", out.split = split, out.fingerprint = fingerprint;
    return out;
}

TrialSpec specOfData() {
    TrialSpec spec;
    spec.dataset = {"image-folder", {}}, spec.dataPath = "/data";
    return spec;
}

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
        EvalCounts holed = threeClasses();
        QVERIFY(toJsonLine(holed, 5).find("left_out") == std::string::npos);
        holed.leftOut = 2;
        QVERIFY(std::get<EvalCounts>(eventFromJsonLine(toJsonLine(holed, 5)).value().event) == holed);
    }

    void aFingerprintIsReadAsItWasWritten() {
        const auto two = dataOf(1, 0xfedcba9876543210ull), three = dataOf(1, 2, 3);
        QVERIFY(fingerprintIn(fingerprintText(two)) == two && fingerprintIn(fingerprintText(three)) == three);
        QCOMPARE(fingerprintText(two),
                 std::string(R"({"test":{"content":"fedcba9876543210","samples":10},)"
                             R"("train":{"content":"0000000000000001","samples":60},"version":1})"));
        for (const char* odd : {"", "7", "{}", R"({"version":2})", R"({"version":1,"train":{}})"})
            QVERIFY2(!fingerprintIn(odd), odd);
    }

    // Of what was asked about alone. Where nothing is held out by the dataset itself, validation samples are some of
    // those for training.
    void splitsThatChangedAreNamed() {
        using Names = std::vector<std::string>;
        const auto before = dataOf(1, 2), tested = dataOf(1, 9), trained = dataOf(8, 2), validated = dataOf(1, 2, 3);
        QCOMPARE(changedSplits(before, before), Names{});
        QCOMPARE(changedSplits(before, tested), Names{"test"});
        QCOMPARE(changedSplits(before, dataOf(8, 9)), (Names{"training", "test"}));
        QCOMPARE(changedSplits(before, tested, "train"), Names{});
        QCOMPARE(changedSplits(before, trained, "test"), Names{});
        QCOMPARE(changedSplits(before, trained, "validation"), Names{"training"});
        QCOMPARE(changedSplits(validated, dataOf(8, 2, 3), "validation"), Names{});
        QCOMPARE(changedSplits(validated, dataOf(1, 2, 4), "validation"), Names{"validation"});
        QCOMPARE(changedSplits(validated, before, "validation"), Names{"validation"});
        QCOMPARE(changedSplits(validated, before), Names{});
        DataFingerprint fewer = before;
        fewer.test.samples = 9;
        QCOMPARE(changedSplits(before, fewer, "test"), Names{"test"});
    }

    void aNewerEvaluationTellsThatDataHaveChanged() {
        const auto then = dataOf(1, 2), now = dataOf(1, 9);
        std::vector<Evaluation> all{askedOf(4, std::nullopt), askedOf(3, now, "train"), askedOf(2, then),
                                    askedOf(1, std::nullopt)};
        QCOMPARE(changedSince(all[2], all), &all[1]);
        for (const std::size_t unknownOrNewest : {0u, 1u, 3u}) QVERIFY(!changedSince(all[unknownOrNewest], all));
        all[2].split = "train";  // those are what they were
        QVERIFY(!changedSince(all[2], all));
        all[2].split = "all", all[2].data = "/elsewhere";
        QVERIFY(!changedSince(all[2], all));
        all[2].data = "/data", all[2].dataset = "idx";
        QVERIFY(!changedSince(all[2], all));
        all = {askedOf(3, then), askedOf(2, now), askedOf(1, then)};  // and back again
        QVERIFY(!changedSince(all[2], all) && changedSince(all[1], all) == &all[0]);
    }

    void dataHaveChangedSinceTheTraining() {
        const auto then = dataOf(1, 2), now = dataOf(1, 9);
        const TrialSpec spec = specOfData();
        std::vector<Evaluation> all{askedOf(2, now, "train"), askedOf(1, then)};
        QCOMPARE(changedSinceTraining(then, spec, all), &all[0]);
        QVERIFY(!changedSinceTraining(now, spec, all) && !changedSinceTraining(std::nullopt, spec, all));
        QVERIFY(!askedOthers(all[0], then, spec) && !askedOthers(all[1], then, spec));
        all[0].split = "test";
        QVERIFY(askedOthers(all[0], then, spec) && !askedOthers(all[0], std::nullopt, spec));
        all[0].data = "/elsewhere";
        QVERIFY(!changedSinceTraining(then, spec, all) && !askedOthers(all[0], then, spec));
    }

    void classesAreKnownBesideTheData() {
        const DataKnown known{R"({"dataset":"idx","fields":[{"name":"label"}],"classes":["cat","dög"]})"};
        QCOMPARE(classesOf(known), (std::vector<std::string>{"cat", "dög"}));
        for (const char* odd : {"", "[]", "{}", R"({"classes":"cat"})", R"({"classes":[1]})"})
            QVERIFY2(classesOf({odd}).empty(), odd);
        DataKnown other = known;
        QVERIFY(readAlike(known, other) && !readAlike({}, {}) && !readAlike(known, {}));
        other.trainedOn = R"({"dataset":"idx","fields":[{"name":"image"}],"classes":["cat","dög"]})";
        QVERIFY(!readAlike(known, other));
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
