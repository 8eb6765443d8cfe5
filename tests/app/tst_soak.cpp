#include <QElapsedTimer>
#include <QFile>
#include <QtTest>

#include "tests/app/lockstep_program.h"
#include "tests/support/long_tests.h"

namespace {

// Resident, in kB; 0: the process is gone.
qint64 memoryOf(qint64 process) {
    QFile file(QString("/proc/%1/status").arg(process));
    if (!file.open(QIODevice::ReadOnly)) return 0;
    for (const QByteArray& line : file.readAll().split('\n'))
        if (line.startsWith("VmRSS:")) return line.mid(6).trimmed().split(' ').front().toLongLong();
    return 0;
}

}  // namespace

// What shows after a while.
class TestSoak : public QObject {
    Q_OBJECT
private slots:
    // A run's memory does not grow with its updates: tens of thousands, each with its events.
    void memoryStaysAsItIs() {
        if (!lockstep::test::isLong()) QSKIP("a soak: packaging/test --long");
        constexpr qint64 kSettled = 20'000, kEnd = 60'000, kAllowed = 1536;  // updates, updates, kB
        const LockstepProgram program;
        const auto run = program.start({"train", "--dataset", "synthetic", "--model", "mlp", "--devices", "cpu:1x1",
                                        "--batch", "32", "--epochs", "100000", "--json", "--no-steps"});
        QElapsedTimer timer;
        timer.start();
        const auto updates = [&] { return program.trial(1).value("step").toInteger(); };
        QTRY_VERIFY_WITH_TIMEOUT(updates() > kSettled, 240'000);
        const qint64 settled = memoryOf(run->processId());
        QTRY_VERIFY_WITH_TIMEOUT(updates() > kEnd, 240'000);
        const qint64 end = memoryOf(run->processId());
        qInfo("%lld kB after %lld updates, %lld kB after %lld, %lld s", settled, kSettled, end, updates(),
              timer.elapsed() / 1000);
        run->terminate();
        constexpr int kStopped = 4;
        QCOMPARE(LockstepProgram::finish(*run).status, kStopped);
        QVERIFY(settled > 0 && end > 0);
        QVERIFY2(end - settled < kAllowed, qPrintable(QString("%1 kB more").arg(end - settled)));
    }
};

QTEST_GUILESS_MAIN(TestSoak)
#include "tst_soak.moc"
