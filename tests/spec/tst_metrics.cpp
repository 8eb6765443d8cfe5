#include <QSet>
#include <QtTest>
#include <cmath>

#include "engine/spec/metrics.h"
#include "engine/spec/perplexity.h"

using namespace lockstep;

class TestMetrics : public QObject {
    Q_OBJECT
private slots:
    void everyMetricComesFromOnePlace() {
        QSet<QByteArray> keys;
        for (const Metric& each : metrics()) {
            const QByteArray key(each.key.data(), static_cast<qsizetype>(each.key.size()));
            QVERIFY2(!keys.contains(key), key.constData());
            keys.insert(key);
            const int places = (each.step != nullptr) + (each.ranks != nullptr) + (each.evaluated != nullptr) +
                               (each.derive != nullptr);
            QVERIFY2(places == 1, key.constData());
            QVERIFY2(!each.name.empty() && !each.title.empty() && !each.field.empty(), key.constData());
            QVERIFY2(!each.derive || (findMetric(each.from) && !findMetric(each.from)->derive), key.constData());
        }
    }

    // The names under which histories hold their numbers.
    void oldKeysAreKept() {
        for (const char* key :
             {"loss", "accuracy", "learning_rate", "gradient_norm", "samples_per_second", "compute", "reduce", "wait",
              "test_loss", "test_accuracy", "test_accuracy5", "train_loss", "train_accuracy"})
            QVERIFY2(findMetric(key), key);
        QVERIFY(!findMetric("loss_of_nobody"));
    }

    void valuesAreMeasuredOrFollow() {
        EvalDone evaluation;
        evaluation.loss = 2;
        evaluation.accuracy = 0.5;
        QCOMPARE(valueIn(evaluation, *findMetric("test_accuracy")), 0.5);
        QCOMPARE(valueIn(evaluation, *findMetric("test_perplexity")), std::exp(2.0));
        QVERIFY(std::isnan(valueIn(evaluation, *findMetric("gradient_norm"))));
        QVERIFY(std::isnan(valueIn(evaluation, *findMetric("validation_accuracy"))));
        evaluation.split = Split::Validation;
        QCOMPARE(valueIn(evaluation, *findMetric("validation_perplexity")), std::exp(2.0));
        QVERIFY(std::isnan(valueIn(evaluation, *findMetric("test_perplexity"))));
        StepDone step;
        step.loss = 1;
        QCOMPARE(valueIn(step, *findMetric("perplexity")), std::exp(1.0));
        QVERIFY(std::isnan(valueIn(step, *findMetric("test_perplexity"))));
    }

    void whatCountsDependsOnTheTask() {
        const auto of = [](std::string_view task) { return metricsFor(task, Split::Test); };
        QCOMPARE(of(kNextTokens).objective->key, std::string_view("test_loss"));
        QCOMPARE(of(kNextTokens).quality->key, std::string_view("test_perplexity"));
        QCOMPARE(of("image-classes").objective->key, std::string_view("test_accuracy"));
        QCOMPARE(of("").quality->key, std::string_view("test_accuracy"));
        QVERIFY(isBetter(*of(kNextTokens).objective, 1, 2) && !isBetter(*of("").objective, 1, 2));
        QCOMPARE(metricsFor("", Split::Validation).objective->key, std::string_view("validation_accuracy"));
        QCOMPARE(metricsFor(kNextTokens, Split::Validation).aside->key, std::string_view("validation_bits_per_byte"));
        QVERIFY(!isBetter(*findMetric("learning_rate"), 1, 2) && !isBetter(*findMetric("learning_rate"), 2, 1));
    }
};

QTEST_APPLESS_MAIN(TestMetrics)
#include "tst_metrics.moc"
