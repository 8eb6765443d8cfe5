#include <QtTest>
#include <cmath>
#include <set>

#include "engine/core/random.h"

using namespace lockstep;

class TestRandom : public QObject {
    Q_OBJECT
private slots:
    // Known answers of Random123 1.x (kat_vectors, philox4x32 10).
    void philoxKnownAnswers() {
        using Words = std::array<std::uint32_t, 4>;
        QCOMPARE(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
        const std::uint32_t f = 0xffffffff;
        QCOMPARE(philox({f, f, f, f}, {f, f}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
        QCOMPARE(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
                 (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
    }

    void everyPartOfTheKeyMatters() {
        const CounterRng base(1, streamOf("crop"), 2, 3);
        QVERIFY(base.bits64(0) != CounterRng(2, streamOf("crop"), 2, 3).bits64(0));
        QVERIFY(base.bits64(0) != CounterRng(1, streamOf("flip"), 2, 3).bits64(0));
        QVERIFY(base.bits64(0) != CounterRng(1, streamOf("crop"), 3, 3).bits64(0));
        QVERIFY(base.bits64(0) != CounterRng(1, streamOf("crop"), 2, 4).bits64(0));
        QVERIFY(base.bits64(0) != base.bits64(1));
        QCOMPARE(base.bits64(5), CounterRng(1, streamOf("crop"), 2, 3).bits64(5));
    }

    void neighbouringKeysDoNotCollide() {
        std::set<std::uint64_t> seen;
        for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
            for (std::uint64_t id = 0; id < 500; ++id) seen.insert(CounterRng(7, streamOf("x"), epoch, id).bits64(0));
        }
        QCOMPARE(seen.size(), std::size_t{25000});
    }

    void momentsAreRight() {
        const CounterRng rng(3, streamOf("moments"), 0, 0);
        constexpr int kCount = 200000;
        double sum = 0, squares = 0, normalSum = 0, normalSquares = 0;
        for (int i = 0; i < kCount; ++i) {
            const double u = rng.uniform(static_cast<std::uint32_t>(i)), z = rng.normal(static_cast<std::uint32_t>(i));
            QVERIFY(u >= 0 && u < 1);
            sum += u, squares += u * u, normalSum += z, normalSquares += z * z;
        }
        // Six standard errors.
        QVERIFY(std::abs(sum / kCount - 0.5) < 6 * 0.2887 / std::sqrt(kCount));
        QVERIFY(std::abs(squares / kCount - 1.0 / 3) < 6 * 0.298 / std::sqrt(kCount));
        QVERIFY(std::abs(normalSum / kCount) < 6 / std::sqrt(kCount));
        QVERIFY(std::abs(normalSquares / kCount - 1) < 6 * std::sqrt(2.0 / kCount));
    }

    void belowStaysBelowAndReachesAll() {
        const CounterRng rng(3, streamOf("below"), 0, 0);
        std::set<std::uint64_t> seen;
        for (std::uint32_t i = 0; i < 1000; ++i) {
            const std::uint64_t value = rng.below(7, i);
            QVERIFY(value < 7);
            seen.insert(value);
        }
        QCOMPARE(seen.size(), std::size_t{7});
        QCOMPARE(rng.below(1, 0), std::uint64_t{0});
    }
};

QTEST_APPLESS_MAIN(TestRandom)
#include "tst_random.moc"
