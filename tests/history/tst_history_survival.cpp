#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QProcess>
#include <QtTest>
#include <map>
#include <random>
#include <sstream>

#include "tests/history/history_support.h"

using namespace lockstep;
using namespace lockstep::test;

// Other processes: several writers, killed writers, a full disk, a folder of somebody else's.
class tst_HistorySurvival : public QObject {
    Q_OBJECT
private slots:
    void manyProcessesWriteAtOnce();
    void acknowledgedRowsSurviveKills();
    void acknowledgedRowsSurviveAKillAtEverySyscall_data();
    void acknowledgedRowsSurviveAKillAtEverySyscall();
    void aFullDiskLosesNothing();
    void somebodyElsesFolderIsReadOnly();
};

namespace {

const QString kHelper = LOCKSTEP_HISTORY_HELPER;

struct Acknowledged {
    std::map<std::int64_t, std::int64_t> events;           // trial -> last event said to be committed
};

Acknowledged parse(const QByteArray& output) {
    Acknowledged said;
    std::istringstream lines(output.left(output.lastIndexOf('\n') + 1).toStdString());
    std::string kind;
    for (std::int64_t trial = 0; lines >> kind >> trial;) {
        said.events.try_emplace(trial, 0);
        if (kind == "event") lines >> said.events[trial];
    }
    return said;
}

// Empty: everything acknowledged is there, as it was written.
QString loss(const std::filesystem::path& file, const Acknowledged& said) {
    if (const auto verdict = ask(file, "PRAGMA integrity_check"); verdict != "ok")
        return QString::fromStdString(verdict);
    const auto store = openStore(file);                    // what the next process does first
    const auto query = openQuery(file);
    if (!store || !query) return "it cannot be opened";
    for (const auto& [trial, last] : said.events) {
        if (!query->find(trial)) return QString("trial %1 is gone").arg(trial);
        const auto events = query->events(trial, 1);
        if (static_cast<std::int64_t>(events.size()) < last)
            return QString("trial %1: %2 of %3").arg(trial).arg(events.size()).arg(last);
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (events[i].number != static_cast<std::int64_t>(i) + 1)
                return QString("trial %1 has a gap at %2").arg(trial).arg(i + 1);
            const auto* step = std::get_if<StepDone>(&events[i].event);
            if (step && toJsonLine(*step, 1) != toJsonLine(stepOf(step->step), 1))
                return QString("event %1 differs").arg(i + 1);
        }
    }
    return {};
}

std::filesystem::path fileIn(const Folder& folder) { return folder.path() / "history.sqlite"; }

QStringList writing(const Folder& folder, int trials, int steps) {
    return {"write", QString::fromStdString(fileIn(folder)), QString::number(trials), QString::number(steps)};
}

}  // namespace

void tst_HistorySurvival::manyProcessesWriteAtOnce() {
    const Folder folder;
    constexpr int kProcesses = 4, kTrials = 8;
    std::vector<std::unique_ptr<QProcess>> processes;
    for (int i = 0; i < kProcesses; ++i) {                 // they also race to create the file
        processes.push_back(std::make_unique<QProcess>());
        processes.back()->start(kHelper, writing(folder, kTrials, 20));
    }
    Acknowledged all;
    for (auto& process : processes) {
        QVERIFY(process->waitForFinished(60'000));
        const auto output = process->readAllStandardOutput();
        QVERIFY2(process->exitCode() == 0, output);
        for (const auto& [trial, last] : parse(output).events) QVERIFY(all.events.emplace(trial, last).second);
    }
    QCOMPARE(all.events.size(), std::size_t{kProcesses * kTrials});
    for (const auto& [trial, last] : all.events) QCOMPARE(last, std::int64_t{23});
    QCOMPARE(loss(fileIn(folder), all), QString());
    QCOMPARE(openQuery(fileIn(folder))->list({}).size(), std::size_t{kProcesses * kTrials});
}

void tst_HistorySurvival::acknowledgedRowsSurviveKills() {
    const Folder folder;
    std::mt19937 random(7);
    Acknowledged all;
    for (int round = 0; round < 25; ++round) {
        QProcess process;
        process.start(kHelper, writing(folder, 1000, 30));
        QVERIFY(process.waitForStarted());
        QTest::qSleep(5 + static_cast<int>(random() % 120));
        ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
        QVERIFY(process.waitForFinished());
        for (const auto& [trial, last] : parse(process.readAllStandardOutput()).events) all.events[trial] = last;
        QCOMPARE(loss(fileIn(folder), all), QString());
    }
    QVERIFY2(all.events.size() > 10, "the writers were killed before they wrote");
}

// strace counts a thread's calls by themselves: a fresh file dies in the opening thread, an existing one in the store's.
void tst_HistorySurvival::acknowledgedRowsSurviveAKillAtEverySyscall_data() {
    QTest::addColumn<QString>("call");
    QTest::addColumn<bool>("fresh");
    for (const bool fresh : {true, false}) {
        for (const char* call : {"fdatasync", "pwrite64", "unlink"}) {
            QTest::addRow("%s, %s file", call, fresh ? "fresh" : "existing") << QString(call) << fresh;
        }
    }
}

void tst_HistorySurvival::acknowledgedRowsSurviveAKillAtEverySyscall() {
    QFETCH(QString, call);
    QFETCH(bool, fresh);
    QProcess probe;
    probe.start("strace", {"-qq", "-o", "/dev/null", "true"});
    if (!probe.waitForFinished() || probe.exitCode() != 0) QSKIP("strace is not installed, or may not trace here");
    bool survived = false;
    int kills = 0;
    for (int when = 1; !survived; ++when) {
        const Folder folder;
        const QStringList program = QStringList{kHelper} + writing(folder, 1, 10);
        if (!fresh) QCOMPARE(QProcess::execute("sh", QStringList{"-c", "exec \"$@\" >/dev/null", "sh"} + program), 0);
        QProcess process;
        process.start("strace", QStringList{"-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e",
                                            QString("inject=%1:signal=KILL:when=%2").arg(call).arg(when)} +
                                    program);
        QVERIFY(process.waitForFinished(30'000));
        survived = process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
        kills += !survived;
        Acknowledged said = parse(process.readAllStandardOutput());
        if (!fresh) said.events[1] = 12;                   // the trial that was there before
        const QString lost = loss(fileIn(folder), said);
        QVERIFY2(lost.isEmpty(), qPrintable(QString("%1 number %2: %3").arg(call).arg(when).arg(lost)));
        QVERIFY2(when < 500, "the process never ends by itself");
    }
    qInfo("killed %d times", kills);
    QVERIFY2(kills > 0, "it makes no such call");
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
    openStore(fileIn(folder))->createTrial({}, "/runs");
    chmod(folder.path().c_str(), 0555);
    chmod(fileIn(folder).c_str(), 0444);
    QProcess process;
    process.start(kHelper, {"locked-out", QString::fromStdString(fileIn(folder)), "65534"});
    QVERIFY(process.waitForFinished());
    chmod(folder.path().c_str(), 0755);
    const auto output = process.readAllStandardOutput();
    if (output.startsWith("cannot become")) QSKIP("another user cannot be played here");
    QVERIFY2(process.exitCode() == 0, output);
}

QTEST_GUILESS_MAIN(tst_HistorySurvival)
#include "tst_history_survival.moc"
