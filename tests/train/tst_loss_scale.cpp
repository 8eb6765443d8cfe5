#include <QtTest>

#include "engine/train/loss_scale.h"

using namespace lockstep;

class TestLossScale : public QObject {
    Q_OBJECT

private slots:
    void onlyFp16IsScaled() {
        for (const Precision precision : {Precision::Fp32, Precision::Tf32, Precision::Bf16}) {
            LossScale scale(precision, 128);
            for (int i = 0; i < 5000; ++i) scale.applied();
            scale.restore(8, 3);
            QVERIFY(scale.value() == 1 && !scale.lower() && scale.value() == 1);
        }
    }

    void itBeginsByTheBatch_data() {
        QTest::addColumn<int>("batch");
        QTest::addColumn<double>("first");
        QTest::newRow("1") << 1 << 65536.0;
        QTest::newRow("128") << 128 << 512.0;
        QTest::newRow("100, to a power of two") << 100 << 512.0;
        QTest::newRow("1,000,000") << 1000000 << 0.0625;
    }
    void itBeginsByTheBatch() {
        QFETCH(int, batch);
        QTEST(LossScale(Precision::Fp16, batch).value(), "first");
    }

    void itIsHalvedAndDoubled() {
        LossScale scale(Precision::Fp16, 64);
        QVERIFY(scale.lower());
        QCOMPARE(scale.value(), 512.0);
        for (int i = 1; i < LossScale::kPatience; ++i) scale.applied();
        QCOMPARE(scale.value(), 512.0);
        scale.applied();
        QCOMPARE(scale.value(), 1024.0);
        QCOMPARE(scale.updates(), std::int64_t{0});
        for (int i = 1; i < LossScale::kPatience; ++i) scale.applied();
        QVERIFY(scale.lower());  // the row is broken
        scale.applied();
        QCOMPARE(scale.value(), 512.0);
        QCOMPARE(scale.updates(), std::int64_t{1});
    }

    void itHasEnds() {
        LossScale scale(Precision::Fp16, 1);
        int halved = 0;
        while (scale.lower()) ++halved;
        QCOMPARE(halved, 40);  // from 2^16 to 2^-24: then something else is at fault
        QCOMPARE(scale.value(), LossScale::kLeast);
        for (int i = 0; i < 60 * LossScale::kPatience; ++i) scale.applied();
        QCOMPARE(scale.value(), LossScale::kMost);
    }

    void itGoesOnWhereItWas() {
        LossScale scale(Precision::Fp16, 64);
        scale.restore(0, 7);  // a run that had none
        QVERIFY(scale.value() == 1024 && scale.updates() == 0);
        scale.restore(32, 1999);
        scale.applied();
        QCOMPARE(scale.value(), 64.0);
    }
};

QTEST_APPLESS_MAIN(TestLossScale)
#include "tst_loss_scale.moc"
