#include <QtTest>

#include "engine/spec/perplexity.h"
#include "ui/evaluate/evaluation_text.h"

using namespace lockstep;
using namespace lockstep::ui;

class TestEvaluationText : public QObject {
    Q_OBJECT
private slots:
    // Beside the samples, and only where there are any.
    void filesLeftOutAreSaid() {
        Evaluation evaluation;
        evaluation.samples = 18;
        QVERIFY(figuresOf(&evaluation, nullptr, {}).filter("left out").isEmpty());
        evaluation.counts.leftOut = 1;
        QCOMPARE(figuresOf(&evaluation, nullptr, {}).mid(0, 2), (QStringList{"18 samples", "one file left out"}));
        evaluation.counts.leftOut = 1200;
        QCOMPARE(figuresOf(&evaluation, nullptr, kNextTokens).value(1), QString("1,200 files left out"));
    }

    // Of what was kept before it was known, nothing.
    void thePrecisionIsSaid() {
        Evaluation evaluation;
        evaluation.samples = 18;
        QCOMPARE(figuresOf(&evaluation, nullptr, {}).value(0), QString("18 samples"));
        evaluation.precision = "bf16";
        QCOMPARE(figuresOf(&evaluation, nullptr, {}).value(0), QString("18 samples in bf16"));
    }
};

QTEST_GUILESS_MAIN(TestEvaluationText)
#include "tst_evaluation_text.moc"
