#include <QtTest>
#include <cmath>

#include "app/format.h"
#include "app/progress.h"
#include "app/run_printer.h"

using namespace lockstep;

namespace {

RunStarted fiveEpochsOfHundred() {
    RunStarted started;
    started.epochs = 5;
    started.stepsPerEpoch = 100;
    return started;
}

StepDone stepAt(std::int64_t step, double seconds) {
    StepDone done;
    done.step = step;
    done.epoch = 1 + (step - 1) / 100;
    done.seconds = seconds;
    done.samplesPerSecond = 5120;
    done.loss = 0.5;
    done.accuracy = 0.75;
    return done;
}

}  // namespace

class TestProgress : public QObject {
    Q_OBJECT
private slots:
    void filesAreCountedWhileNobodyKnowsHowMany() {
        QCOMPARE(dataProgressText({320'000, 0, 0}), "listing files: " + countText(320'000));
        QVERIFY(
            dataProgressText({12'000, 60'000, 2000}).starts_with("reading the data: " + countText(12'000) + " of "));
    }

    void etaIsUnknownAtFirst() {
        Progress progress;
        QVERIFY(progress.eta() < 0);
        progress.take(fiveEpochsOfHundred());
        progress.take(stepAt(1, 0.1));
        QVERIFY(progress.eta() < 0);
    }

    void etaIsStepsLeftTimesTheMedian() {
        Progress progress;
        progress.take(fiveEpochsOfHundred());
        for (int step = 1; step <= 50; ++step)
            progress.take(stepAt(step, 0.1 * step + (step >= 40 ? 30 : 0)));  // one pause
        QVERIFY(std::abs(progress.eta() - 45.0) < 0.01);
    }

    void reportedStepsMayBeSparse() {
        Progress progress;
        progress.take(fiveEpochsOfHundred());
        for (int step = 10; step <= 100; step += 10) progress.take(stepAt(step, 0.1 * step));
        QVERIFY(std::abs(progress.eta() - 40.0) < 0.01);
    }

    void evaluationsCountOncePerEpochLeft() {
        Progress progress;
        progress.take(fiveEpochsOfHundred());
        for (int step = 1; step <= 100; ++step) progress.take(stepAt(step, 0.1 * step));
        EvalDone evaluated;
        evaluated.seconds = 12;
        progress.take(evaluated);
        QVERIFY(std::abs(progress.eta() - (40.0 + 4 * 2.0)) < 0.01);
    }

    void theLineIsCutBetweenItsParts() {
        Progress progress;
        progress.take(fiveEpochsOfHundred());
        progress.take(stepAt(50, 5));
        QCOMPARE(progress.line(200),
                 std::string(
                     "epoch 1/5  step 50/500 [#-----------]  5 120 samples/s  loss 0.5000  accuracy 75.00 %  ETA …"));
        for (int columns = 20; columns < 120; ++columns) QVERIFY(columnsOf(progress.line(columns)) <= columns);
        QCOMPARE(progress.line(20), std::string("epoch 1/5"));
    }

    // As unsure as between 256 bytes: eight bits each.
    void languageModelsAreToldByTheirPerplexity() {
        Progress progress;
        RunStarted started = fiveEpochsOfHundred();
        started.task = "next-tokens";
        progress.take(started);
        StepDone step = stepAt(50, 5);
        step.loss = std::log(256);
        progress.take(step);
        QVERIFY2(progress.line(200).ends_with("loss 5.5452  perplexity 256.0  ETA …"), progress.line(200).c_str());
        QCOMPARE(namedText(*findMetric("test_bits_per_byte"), 8), std::string("8.000 bits per byte"));
        QCOMPARE(metricText(*findMetric("perplexity"), 7.38906), std::string("7.389"));
        QCOMPARE(metricText(*findMetric("perplexity"), NAN), std::string("–"));
    }

    void aSampleStandsApart() {
        QCOMPARE(sampleText({10, 1, "To be,\nor", " not\nto be"}), std::string("  «To be,\n  or» not\n  to be\n"));
    }

    void numbersForPeople() {
        QCOMPARE(bytesText(1023), std::string("1023 B"));
        QCOMPARE(bytesText(1536), std::string("1.5 KiB"));
        QCOMPARE(bytesText(3ull << 40), std::string("3.0 TiB"));
        QCOMPARE(durationText(0.25), std::string("0.2 s"));
        QCOMPARE(durationText(59.2), std::string("59 s"));
        QCOMPARE(durationText(59.6), std::string("1 min 00 s"));
        QCOMPARE(durationText(3725), std::string("1 h 02 min"));
        QCOMPARE(durationText(NAN), std::string("–"));
        QCOMPARE(countText(11173962), std::string("11 173 962"));
        QCOMPARE(countText(999), std::string("999"));
        QCOMPARE(countText(-1000), std::string("-1 000"));
        QCOMPARE(percentText(NAN), std::string("–"));
    }

    void tablesAlignCharactersNotBytes() {
        Table table({"A", "B"});
        table.add({"ä€", "x"});
        table.add({"abc", "y"});
        QCOMPARE(table.text(), std::string("A    B\nä€   x\nabc  y\n"));
    }

    void aFailureNamesRankStepAndRemedy() {
        const Words words;
        const auto problem = problemOf({"device", "conv2d a on cpu:1", "broken", 1, 12});
        QCOMPARE(words.what(problem),
                 std::string("Rank 1 at step 12 failed on its device (conv2d a on cpu:1): broken."));
        QVERIFY(!words.remedy(problem).empty());
        const Problem spec{"batch", "spec.batch-too-large", {"512", "synthetic", "100"}};
        QVERIFY(problemOf(failureFrom(spec)) == spec);
    }
};

QTEST_APPLESS_MAIN(TestProgress)
#include "tst_progress.moc"
