#include <QtTest>

#include <cmath>
#include <numeric>

#include "engine/train/initialize.h"

using namespace lockstep;
using Kind = Initializer::Kind;
Q_DECLARE_METATYPE(lockstep::Initializer)

namespace {

HostTensor start(const Shape& shape, const Initializer& init, const char* name = "w", std::uint64_t seed = 1) {
    Value value;
    value.name = name;
    value.type = {shape, DType::F32};
    value.init = init;
    return initialTensor(value, seed);
}

}  // namespace

class TstInitialize : public QObject {
    Q_OBJECT

private slots:
    void randomKindsHaveTheirSpread_data();
    void randomKindsHaveTheirSpread();
    void seedAndNameDecide();
    void identityHandsChannelsOn_data();
    void identityHandsChannelsOn();
};

void TstInitialize::randomKindsHaveTheirSpread_data() {
    QTest::addColumn<Initializer>("init");
    QTest::addColumn<double>("deviation");
    QTest::addColumn<double>("bound");  // 0: none
    const auto uniform = [](const char* name, Kind kind, double bound) {
        QTest::newRow(name) << Initializer{kind, 0, 200, 400} << bound / std::sqrt(3) << bound;
    };
    QTest::newRow("he-normal") << Initializer{Kind::HeNormal, 0, 200, 400} << std::sqrt(2.0 / 400) << 0.0;
    uniform("he-uniform", Kind::HeUniform, std::sqrt(6.0 / 200));
    uniform("glorot-uniform", Kind::GlorotUniform, std::sqrt(6.0 / 600));
    uniform("fan-in-uniform", Kind::FanInUniform, std::sqrt(1.0 / 200));
}

void TstInitialize::randomKindsHaveTheirSpread() {
    QFETCH(const Initializer, init);
    QFETCH(const double, deviation);
    QFETCH(const double, bound);
    const HostTensor tensor = start({400, 200}, init);
    const auto values = tensor.as<float>();
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0, largest = 0;
    for (const double value : values) {
        squares += value * value;
        largest = std::max(largest, std::abs(value));
    }
    QVERIFY2(std::abs(mean) < 4 * deviation / std::sqrt(count), qPrintable(QString::number(mean)));
    QVERIFY(std::abs(std::sqrt(squares / count) / deviation - 1) < 0.01);
    if (bound > 0) QVERIFY(largest <= bound * (1 + 1e-6) && largest > 0.99 * bound);
}

void TstInitialize::seedAndNameDecide() {
    const Initializer he{Kind::HeNormal, 0, 9, 9};
    const auto same = [](const HostTensor& a, const HostTensor& b) {
        const auto x = a.as<float>(), y = b.as<float>();
        return std::equal(x.begin(), x.end(), y.begin(), y.end());
    };
    QVERIFY(same(start({9, 9}, he), start({9, 9}, he)));
    QVERIFY(!same(start({9, 9}, he), start({9, 9}, he, "other")));
    QVERIFY(!same(start({9, 9}, he), start({9, 9}, he, "w", 2)));
}

void TstInitialize::identityHandsChannelsOn_data() {
    QTest::addColumn<int>("filters");
    QTest::addColumn<int>("channels");
    QTest::newRow("as-many") << 8 << 8;
    QTest::newRow("more-filters") << 12 << 8;
    QTest::newRow("fewer-filters") << 5 << 8;
}

void TstInitialize::identityHandsChannelsOn() {
    QFETCH(const int, filters);
    QFETCH(const int, channels);
    const Shape shape{filters, channels, 3, 3};
    const HostTensor tensor = start(shape, {Kind::Identity, 0, channels * 9, filters * 9});
    const HostTensor random = start(shape, {Kind::HeNormal, 0, channels * 9, filters * 9});
    const auto w = tensor.as<float>(), he = random.as<float>();
    std::size_t at = 0;
    for (int filter = 0; filter < filters; ++filter) {
        for (int channel = 0; channel < channels; ++channel) {
            for (int pixel = 0; pixel < 9; ++pixel, ++at) {
                const bool isCentre = channel == filter && pixel == 4;
                QCOMPARE(w[at], filter < channels ? (isCentre ? 1.0f : 0.0f) : he[at]);
            }
        }
    }
}

QTEST_APPLESS_MAIN(TstInitialize)
#include "tst_initialize.moc"
