#include <QJsonArray>
#include <QtTest>
#include <filesystem>

#include "tests/app/lockstep_program.h"

// Why there are no cards, as the program's user reads it: with a driver that is made up, or none.
class TestCudaFailures : public QObject {
    Q_OBJECT

private slots:
    void init() {
        qunsetenv("LOCKSTEP_BACKENDS");
        qputenv("LD_LIBRARY_PATH", LOCKSTEP_FAKE_DRIVER_FOLDER);
    }

    void reasonsAreSaid_data() {
        QTest::addColumn<QByteArray>("driver");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("remedy");
        const auto row = [](const char* name, const char* driver, const char* code, const char* what,
                            const char* remedy) {
            QTest::newRow(name) << QByteArray(driver) << QString(code) << QString(what) << QString(remedy);
        };
        row("too old", "11080 999", "backend.old-driver", "it is for CUDA 11.8, and this module needs 1",
            "Update the driver");
        row("no card", "99000 100", "backend.no-device", "the driver reports no card", "CUDA_VISIBLE_DEVICES");
        row("not ready", "99000 802", "backend.no-driver", "system not yet initialized", "restart the machine");
        row("mismatch", "99000 803", "backend.no-driver", "unsupported display driver / cuda driver combination",
            "update the driver");
        row("unknown", "99000 999", "backend.no-driver", "unknown error", "Install or update the driver");
        row("silent", "0 999", "backend.no-driver", "libcuda.so.1 is not installed, or does not answer",
            "choose another device");
    }

    void reasonsAreSaid() {
        QFETCH(QByteArray, driver);
        QFETCH(QString, code);
        QFETCH(QString, what);
        QFETCH(QString, remedy);
        qputenv("LOCKSTEP_FAKE_DRIVER", driver);
        expectReason(code, what, remedy);
    }

    void withoutADriver() {
        qunsetenv("LD_LIBRARY_PATH");
        if (std::filesystem::exists("/dev/nvidiactl")) QSKIP("this machine has a driver");
        expectReason("backend.no-driver", "libcuda.so.1", "Install or update the driver");
    }

    void withoutTheModule() {
        const LockstepProgram program;
        QVERIFY(!program.write("lockstep_cuda.so", "no library").isEmpty());
        qputenv("LOCKSTEP_BACKENDS", program.path("").toLocal8Bit());
        expectReason("backend.module-broken", "lockstep_cuda.so", "rebuild the module");
    }

    // Training on the CPU asks nothing of the module, whatever state it and the driver are in.
    void theModuleIsLeftAloneUntilCardsAreAskedFor() {
        qputenv("LOCKSTEP_FAKE_DRIVER", "99000 100");
        const auto loads = [](const QString& devices) {
            qputenv("LD_DEBUG", "files");
            const Outcome out = LockstepProgram().run({"train", "--dataset", "synthetic", "--model", "mlp", "--epochs",
                                                       "1", "--batch", "512", "--no-history", "--devices", devices});
            qunsetenv("LD_DEBUG");
            return out.err.contains("lockstep_cuda.so");
        };
        QVERIFY(!loads("cpu:1"));
        QVERIFY(loads("cuda:0"));
    }

private:
    static void expectReason(const QString& code, const QString& what, const QString& remedy) {
        const LockstepProgram program;
        const Outcome devices = program.run({"devices", "--json"});
        QCOMPARE(devices.status, 0);
        const auto missing = devices.last()["missing"].toArray();
        QCOMPARE(missing.size(), 1);
        const auto problem = missing[0].toObject()["problems"].toArray()[0].toObject();
        QCOMPARE(problem["code"].toString(), code);
        QVERIFY2(problem["what"].toString().contains(what), qPrintable(problem["what"].toString()));
        QVERIFY2(problem["remedy"].toString().contains(remedy), qPrintable(problem["remedy"].toString()));
        for (const QString command : {"devices", "doctor"}) {
            const QString said = program.run({command}).out;
            QVERIFY2(said.contains(what) && said.contains(remedy), qPrintable(said));
        }
        const Outcome train = program.run({"train", "--dataset", "synthetic", "--model", "mlp", "--devices", "cuda:0"});
        QVERIFY(train.status > 0);
        QVERIFY2((train.out + train.err).contains(what), qPrintable(train.err));
    }
};

QTEST_GUILESS_MAIN(TestCudaFailures)
#include "tst_cuda_failures.moc"
