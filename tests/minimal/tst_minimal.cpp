#include <QDir>
#include <QJsonArray>
#include <QtTest>

#include "tests/app/lockstep_program.h"

// The program of the minimal build: trains on the reference backend, writes checkpoints, has no history.
class TestMinimal : public QObject {
    Q_OBJECT
private slots:
    void trainsOnTwoDevices() {
        const QStringList arguments{"train", "--dataset", "synthetic", "--set", "dataset.samples=1024", "dataset.height=8",
                                    "dataset.width=8", "--model", "mlp", "--set", "model.width=16", "--devices", "reference:2",
                                    "--batch", "32", "--epochs", "3", "--lr", "0.1", "--out", m_program.path("out"), "--json"};
        const auto outcome = m_program.run(arguments);
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
        QCOMPARE(outcome.last()["event"].toString(), QString("run_finished"));
        QVERIFY(outcome.last()["test_accuracy"].toDouble() > 0.5);
        QVERIFY(QFile::exists(m_program.path("out/last.safetensors")));
        QVERIFY(QFile::exists(m_program.path("out/best.safetensors")));
    }

    void listsItsDevicesAndNothingElse() {
        const auto json = m_program.run({"devices", "--json"}).last();
        QStringList ids;
        for (const auto& each : json["devices"].toArray()) ids << each.toObject()["id"].toString();
        QVERIFY(ids.contains("reference") && !ids.contains("cpu"));
    }

    void aMissingBackendIsNamed() {
        const auto outcome = m_program.run({"train", "--dataset", "synthetic", "--model", "mlp", "--devices", "cpu:2"});
        QCOMPARE(outcome.status, 2);
        QVERIFY(outcome.err.contains("cpu"));
    }

    void compilesAndTimesPrograms() {
        QVERIFY(m_program.run({"program", "--model", "mlp", "--devices", "reference:2", "--batch", "8"}).out.contains("all-reduce"));
        const auto bench = m_program.run({"bench", "--model", "mlp", "--batch", "8", "--devices", "reference:1", "--steps", "2", "--json"});
        QVERIFY(bench.last()["samples_per_second"].toDouble() > 0);
    }

    void hasNoHistory() { QVERIFY(!m_program.run({"--help"}).out.contains("\n  trials ")); }

private:
    LockstepProgram m_program;
};

QTEST_APPLESS_MAIN(TestMinimal)
#include "tst_minimal.moc"
