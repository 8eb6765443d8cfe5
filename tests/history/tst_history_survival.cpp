#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QProcess>
#include <QtTest>
#include <random>
#include <utility>

#include "tests/history/history_support.h"
#include "tests/history/writing.h"
#include "tests/support/long_tests.h"

using namespace lockstep;
using namespace lockstep::test;

// Other processes: several writers, killed writers, a full disk, a folder of somebody else's.
class tst_HistorySurvival : public QObject {
    Q_OBJECT
private slots:
    void manyProcessesWriteAtOnce();
    void whatWasSaidSurvivesRandomKills();
    void aFullDiskLosesNothing();
    void somebodyElsesFolderIsReadOnly();
};

namespace {

const QString kHelper = LOCKSTEP_HISTORY_HELPER;
constexpr int kKills = 16;

}  // namespace

void tst_HistorySurvival::manyProcessesWriteAtOnce() {
    const Folder folder;
    constexpr int kProcesses = 4, kTrials = 8;
    std::vector<std::unique_ptr<QProcess>> processes;
    for (int i = 0; i < kProcesses; ++i) {  // they also race to create the file
        processes.push_back(std::make_unique<QProcess>());
        processes.back()->start(kHelper, writing(folder.file(), kTrials, 20));
    }
    Said all;
    for (auto& process : processes) {
        QVERIFY(process->waitForFinished(60'000));
        const auto output = process->readAllStandardOutput();
        QVERIFY2(process->exitCode() == 0, output);
        for (const auto& [trial, last] : parse(output).trials) QVERIFY(all.trials.emplace(trial, last).second);
    }
    QCOMPARE(all.trials.size(), std::size_t{kProcesses * kTrials});
    for (const auto& [trial, last] : all.trials) QCOMPARE(last.event, eventsOf(20));
    QCOMPARE(loss(folder.file(), all), QString());
    QCOMPARE(openQuery(folder.file())->list({}).size(), std::size_t{kProcesses * kTrials});
}

// After so many lines that it said, and a little later.
void tst_HistorySurvival::whatWasSaidSurvivesRandomKills() {
    std::mt19937 random(7);
    std::size_t written = 0;
    const int histories = rounds(8, 60);
    for (int history = 0; history < histories; ++history) {
        const Folder folder;
        Said all;
        for (int kill = 0; kill < kKills; ++kill) {
            QProcess process;
            process.start(kHelper, writing(folder.file(), 1000, 30));
            QByteArray output;
            for (auto lines = random() % 12; output.count('\n') < static_cast<qsizetype>(lines);) {
                QVERIFY(process.waitForReadyRead());
                output += process.readAllStandardOutput();
            }
            QThread::usleep(random() % 4000);
            process.kill();
            QVERIFY(process.waitForFinished());
            output += process.readAllStandardOutput();
            for (const auto& [trial, last] : parse(output).trials) all.trials[trial] = last;
            QCOMPARE(loss(folder.file(), all), QString());
        }
        written += all.trials.size();
    }
    QVERIFY2(std::cmp_greater(written, histories * kKills / 2), "the writers were killed before they wrote");
}

void tst_HistorySurvival::aFullDiskLosesNothing() {
    const Folder folder;
    const QString place = QString::fromStdString(folder.path());
    QProcess probe;
    probe.start("unshare", {"-m", "mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place});
    if (!probe.waitForFinished() || probe.exitCode() != 0)
        QSKIP("no small file system can be mounted here (needs root)");
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start("unshare", {"-m", "sh", "-c", "mount -t tmpfs -o size=8m tmpfs \"$1\" && exec \"$2\" full \"$1\"",
                              "sh", place, kHelper});
    QVERIFY(process.waitForFinished(60'000));
    QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, process.readAll());
}

void tst_HistorySurvival::somebodyElsesFolderIsReadOnly() {
    const Folder folder;
    openStore(folder.file())->createTrial({}, folder.runs());
    chmod(folder.path().c_str(), 0555);
    chmod(folder.file().c_str(), 0444);
    QProcess process;
    process.start(kHelper, {"locked-out", QString::fromStdString(folder.file()), "65534"});
    QVERIFY(process.waitForFinished());
    chmod(folder.path().c_str(), 0755);
    const auto output = process.readAllStandardOutput();
    if (output.startsWith("cannot become")) QSKIP("another user cannot be played here");
    QVERIFY2(process.exitCode() == 0, output);
}

QTEST_GUILESS_MAIN(tst_HistorySurvival)
#include "tst_history_survival.moc"
