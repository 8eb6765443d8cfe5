#include <QFileInfo>
#include <QJsonArray>
#include <QtTest>

#include "tests/app/lockstep_program.h"

// The program of the minimal build: everything but the history, on the reference backend.
class TestMinimal : public QObject {
    Q_OBJECT
private slots:
    void trainsIntoAFolderAndGoesOn() {
        const auto folder = m_program.path("out");
        auto arguments = shortRun();
        arguments.replaceInStrings("cpu:2x1", "reference:2x1");
        const auto trained = m_program.run(arguments + QStringList{"--out", folder, "--json"});
        QVERIFY2(trained.status == 0, qPrintable(trained.err));
        QCOMPARE(trained.last()["event"].toString(), QString("run_finished"));
        QVERIFY(trained.last()["test_accuracy"].toDouble() > 0.5);
        const auto more = m_program.run({"train", "--from", folder + "/last.safetensors", "--epochs", "3", "--json"});
        QVERIFY2(more.status == 0, qPrintable(more.err));
        QCOMPARE(more.last()["step"].toInt(), 30);
        QVERIFY(!QFileInfo::exists(m_program.home()));
    }

    void saysWhatItDoesNotHave() {
        const auto trials = m_program.run({"trials"});
        QCOMPARE(trials.status, 2);
        QVERIFY(trials.err.contains("trials"));
        const auto cpu = m_program.run(shortRun());
        QCOMPARE(cpu.status, 2);
        QVERIFY(cpu.err.contains("cpu") && cpu.err.contains("reference"));
    }

    void benchAndProgram() {
        const QStringList model{"--model", "lenet5", "--devices", "reference:1", "--batch", "4"};
        const auto bench = m_program.run(QStringList{"bench", "--steps", "2", "--json"} + model);
        QVERIFY2(bench.status == 0, qPrintable(bench.err));
        QVERIFY(bench.last()["samples_per_second"].toDouble() > 0);
        QVERIFY(m_program.run(QStringList{"program"} + model).out.contains("conv2d"));
    }

    void prove() {
        const QStringList run{"prove",   "--model", "lenet5",    "--devices", "reference:2",
                              "--batch", "4",       "--updates", "1"};
        const auto equal = m_program.run(run);
        QVERIFY2(equal.status == 0, qPrintable(equal.out + equal.err));
        QCOMPARE(m_program.run(run + QStringList{"--break", "no-divide"}).status, 1);
    }

private:
    LockstepProgram m_program;
};

QTEST_APPLESS_MAIN(TestMinimal)
#include "tst_minimal.moc"
