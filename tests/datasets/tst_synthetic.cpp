#include <QtTest>
#include <limits>

#include "dataset_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// The share of test images whose nearest class mean (of the training images) is their own class.
double nearestMeanAccuracy(const DatasetSplits& splits) {
    const std::size_t classes = splits.train->info().classes.size(), pixels = imageOf(*splits.train, 0).size();
    std::vector<std::vector<double>> means(classes, std::vector<double>(pixels));
    for (std::int64_t i = 0; i < splits.train->info().count; ++i) {
        const Bytes image = imageOf(*splits.train, i);
        for (std::size_t p = 0; p < pixels; ++p)
            means[static_cast<std::size_t>(labelOf(*splits.train, i))][p] += image[p];
    }
    const double each = static_cast<double>(splits.train->info().count) / static_cast<double>(classes);
    int right = 0;
    for (std::int64_t i = 0; i < splits.test->info().count; ++i) {
        const Bytes image = imageOf(*splits.test, i);
        std::size_t best = 0;
        double nearest = std::numeric_limits<double>::max();
        for (std::size_t c = 0; c < classes; ++c) {
            double distance = 0;
            for (std::size_t p = 0; p < pixels; ++p) distance += std::pow(image[p] - means[c][p] / each, 2);
            if (distance < nearest) nearest = distance, best = c;
        }
        right += static_cast<std::size_t>(labelOf(*splits.test, i)) == best;
    }
    return right / static_cast<double>(splits.test->info().count);
}

const std::map<std::string, ParamValue> kSmall{{"samples", std::int64_t{300}},
                                               {"test_samples", std::int64_t{100}},
                                               {"channels", std::int64_t{3}},
                                               {"height", std::int64_t{9}},
                                               {"width", std::int64_t{12}}};

}  // namespace

class TestSynthetic : public QObject {
    Q_OBJECT
private slots:
    void hasTheShapeAskedForAndIsBalanced() {
        const DatasetEntry of = entry("synthetic");
        const auto report = of.inspect({}, params(of, kSmall), {});
        QVERIFY(report.ok());
        QCOMPARE(report.value().fields, imageFields({3, 9, 12}));
        QCOMPARE(report.value().trainPerClass, std::vector<std::int64_t>(10, 30));
        QCOMPARE(report.value().testPerClass, std::vector<std::int64_t>(10, 10));
    }

    void isDeterministicAndSeeded() {
        auto other = kSmall;
        other["seed"] = std::int64_t{2};
        const auto one = open("synthetic", {}, kSmall), same = open("synthetic", {}, kSmall),
                   different = open("synthetic", {}, other);
        for (const std::int64_t i : {0, 7, 299}) {
            QCOMPARE(imageOf(*one.value().train, i), imageOf(*same.value().train, i));
            QVERIFY(imageOf(*one.value().train, i) != imageOf(*different.value().train, i));
        }
        QVERIFY(imageOf(*one.value().train, 0) != imageOf(*one.value().test, 0));
        QVERIFY(imageOf(*one.value().train, 0) != imageOf(*one.value().train, 10));
    }

    void canBeLearntAndNoiseMakesItHarder() {
        auto hard = kSmall;
        hard["noise"] = 20.0;
        const double easy = nearestMeanAccuracy(open("synthetic", {}, kSmall).value());
        const double harder = nearestMeanAccuracy(open("synthetic", {}, hard).value());
        QVERIFY2(easy > 0.99, qPrintable(QString::number(easy)));
        QVERIFY2(harder < 0.95, qPrintable(QString::number(harder)));
    }

    void tooMuchForTheMemoryIsAProblem() {
        const auto result = open(
            "synthetic", {},
            {{"samples", std::int64_t{10'000'000}}, {"height", std::int64_t{1024}}, {"width", std::int64_t{1024}}});
        QCOMPARE(codeOf(result), std::string("dataset.too-large"));
    }
};

QTEST_APPLESS_MAIN(TestSynthetic)
#include "tst_synthetic.moc"
