#include <QProcess>
#include <QtTest>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "engine/history/database.h"
#include "tests/history/history_support.h"
#include "tests/history/writing.h"
#include "tests/support/long_tests.h"

using namespace lockstep;
using namespace lockstep::test;

// At every call that changes the file system, while trials and their checkpoints are written: killed there (strace), or
// the call fails; and disks that are short, wherever. What was said to be written is there afterwards.
class tst_HistorySyscalls : public QObject {
    Q_OBJECT
private slots:
    void kills_data() { scenarios(); }
    void kills();
    void errors_data() { scenarios(); }
    void errors();
    void shortWritesChangeNothing();
    void disksThatFillUp_data() { scenarios(); }
    void disksThatFillUp();

private:
    static void scenarios() {
        QTest::addColumn<QString>("before");
        for (const char* before : {"nothing", "a history", "an older history"}) QTest::newRow(before) << before;
    }
};

namespace {

const QString kHelper = LOCKSTEP_HISTORY_HELPER;
constexpr int kSteps = 20;  // two checkpoints: the second takes the first one's place

// What the disk holds follows from these; a kill at any other call finds what a kill at the next of them finds.
const QString kChanging =
    "?open,?openat,?openat2,?creat,?write,?writev,?pwrite64,?pwritev,?pwritev2,?truncate,?ftruncate,?fallocate,?fsync,"
    "?fdatasync,?sync_file_range,?msync,?rename,?renameat,?renameat2,?link,?linkat,?symlink,?symlinkat,?unlink,"
    "?unlinkat,?mkdir,?mkdirat,?rmdir,?chmod,?fchmod,?fchmodat,?chown,?fchown,?fchownat,?utimensat,?copy_file_range,"
    "?sendfile,?splice";

// A folder with what was written there before, and what must never be lost of it.
class Place {
public:
    explicit Place(const QString& before) {
        if (before == "a history") {
            QProcess process;
            process.start(kHelper, writing(file(), 1, kSteps));
            process.waitForFinished();
            m_said = parse(process.readAllStandardOutput());
        } else if (before == "an older history") {
            openForWriting(file(), migrations().first(1));
            ask(file(),
                "INSERT INTO trial (title, state, spec_json, dataset, model, devices, batch, epochs, learning_rate,"
                " created_at, run_directory) VALUES ('', 'finished', '{}', 'd', 'm', 'cpu:1', 1, 1, 0.1, '', '')");
            m_said.trials[1];
        }
    }

    std::filesystem::path file() const { return m_folder.file(); }
    QString path() const { return QString::fromStdString(m_folder.path()); }

    // Empty: all that there was, and all that the process said.
    QString loss(const QByteArray& output) const {
        Said said = m_said;
        for (const auto& [trial, last] : parse(output).trials) said.trials[trial] = last;
        const QString lost = lockstep::test::loss(file(), said);
        return lost.isEmpty() ? orphans(said) : lost;
    }

private:
    // What a killed writer left beside a checkpoint goes with the next one.
    QString orphans(const Said& said) const {
        if (said.trials.empty()) return {};
        const auto trial = said.trials.rbegin()->first;
        const auto checkpoint = checkpointFile(file(), trial);
        if (!exists(checkpoint.parent_path())) return {};
        writeCheckpoint(checkpoint, checkpointOf(trial, kSteps + 1));
        const auto beside = std::distance(std::filesystem::directory_iterator(checkpoint.parent_path()), {});
        return beside == 1 ? QString() : QString("%1 files beside the checkpoint").arg(beside - 1);
    }

    Folder m_folder;
    Said m_said;
};

struct Ended {
    bool killed = false;
    int code = 0;
    QByteArray output;
};

Ended end(QProcess& process) {
    if (!process.waitForFinished(60'000)) return {true, -1, "it never ended"};
    return {process.exitStatus() == QProcess::CrashExit, process.exitCode(), process.readAllStandardOutput()};
}

void startHelper(QProcess& process, const Place& place, const char* variable, const QString& value) {
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert(variable, value);
    process.setProcessEnvironment(environment);
    process.start(kHelper, writing(place.file(), 1, kSteps));
}

// With one of the helper's threads under strace, before it writes anything: strace counts the calls of each by itself.
Ended runTraced(const Place& place, const QString& thread, const QStringList& words) {
    QProcess helper, strace;
    startHelper(helper, place, "LOCKSTEP_TEST_WAIT", thread);
    QByteArray said;
    while (!said.endsWith('\n') && helper.waitForReadyRead()) said += helper.readAllStandardOutput();
    strace.setProcessChannelMode(QProcess::MergedChannels);
    strace.start("strace", words + QStringList{"-p", said.trimmed().split(' ').last()});
    for (QByteArray told; !told.contains("attached") && strace.waitForReadyRead();) told += strace.readAll();
    helper.write("\n");
    const Ended ended = end(helper);
    strace.waitForFinished();
    return ended;
}

struct Point {
    QString thread, call;
    int number = 0;  // of the thread's calls of that name
};

QString text(const Point& point) {
    return QString("%1's %2 number %3").arg(point.thread, point.call).arg(point.number);
}

// Every changing call in the folder, of both threads that write: the one that opens the history, writes checkpoints
// and closes it, and the store's. Every other one where time is short.
std::vector<Point> pointsOf(const QString& before) {
    std::vector<Point> points;
    static const QRegularExpression call("^(\\w+)\\((.*)");
    for (const char* thread : {"main", "store"}) {
        const Place place(before);
        QTemporaryFile log;
        if (!log.open()) return {};
        runTraced(place, thread, {"-y", "-o", log.fileName(), "-e", "trace=" + kChanging});
        std::map<QString, int> counts;
        while (!log.atEnd()) {
            const auto match = call.match(QString::fromUtf8(log.readLine()));
            if (!match.hasMatch()) continue;
            const int number = ++counts[match.captured(1)];
            if (match.captured(2).contains(place.path())) points.push_back({thread, match.captured(1), number});
        }
    }
    std::vector<Point> chosen;
    const auto each = static_cast<std::size_t>(rounds(2, 1));
    for (std::size_t i = 0; i < points.size(); i += each) chosen.push_back(points[i]);
    return chosen;
}

// What `check` finds wrong first; two at a time, for they wait for the disk most of the time.
QString onEach(const std::vector<Point>& points, const std::function<QString(const Point&)>& check) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    QString found;
    const auto work = [&] {
        for (std::size_t i = next++; i < points.size(); i = next++) {
            const QString wrong = check(points[i]);
            const std::lock_guard lock(mutex);
            if (!wrong.isEmpty() && found.isEmpty()) found = text(points[i]) + ": " + wrong;
            if (!found.isEmpty()) return;
        }
    };
    std::jthread other(work);
    work();
    other.join();
    return found;
}

QStringList injecting(const Point& point, const QString& what) {
    const QString inject = QString("inject=%1:%2").arg(point.call, what.arg(point.number));
    return {"-o", "/dev/null", "-e", "trace=" + point.call, "-e", inject};
}

// A process that could not write all says so, naming what it could not write, and ends by itself.
QString fault(const Place& place, const Ended& ended) {
    if (ended.killed || ended.code > 1) return QString("it ended with %1: ").arg(ended.code) + ended.output;
    const bool told = ended.output.contains("trouble") && ended.output.contains(place.path().toUtf8());
    if (ended.code == 1 && !told) return "it did not say what was wrong: " + ended.output;
    return place.loss(ended.output);
}

}  // namespace

void tst_HistorySyscalls::kills() {
    QFETCH(QString, before);
    const auto points = pointsOf(before);
    if (points.empty()) QSKIP("strace is not installed, or may not trace here");
    std::atomic<std::size_t> kills{0};
    const QString wrong = onEach(points, [&](const Point& point) {
        const Place place(before);
        const Ended ended = runTraced(place, point.thread, injecting(point, "signal=KILL:when=%1"));
        kills += ended.killed;
        return place.loss(ended.output);
    });
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    qInfo("killed at %zu of %zu calls", kills.load(), points.size());
    QVERIFY(points.size() > 25 && kills > points.size() * 9 / 10);
}

void tst_HistorySyscalls::errors() {
    QFETCH(QString, before);
    const auto points = pointsOf(before);
    if (points.empty()) QSKIP("strace is not installed, or may not trace here");
    std::atomic<std::size_t> failures{0};
    for (const char* what : {"error=EIO:when=%1", "error=ENOSPC:when=%1+"}) {  // once; from then on
        const QString wrong = onEach(points, [&](const Point& point) {
            const Place place(before);
            const Ended ended = runTraced(place, point.thread, injecting(point, what));
            failures += ended.code != 0;
            return fault(place, ended);
        });
        QVERIFY2(wrong.isEmpty(), qPrintable(what + (": " + wrong)));
    }
    qInfo("%zu of %zu processes could not write all", failures.load(), 2 * points.size());
    QVERIFY(failures > points.size() / 2);
}

void tst_HistorySyscalls::shortWritesChangeNothing() {
    const Place place("nothing");
    QProcess process;
    startHelper(process, place, "LOCKSTEP_TEST_DISK", "short");
    const Ended ended = end(process);
    QCOMPARE(ended.code, 0);
    const Said said = parse(ended.output);
    QCOMPARE(said.trials.size(), std::size_t{1});
    for (const auto& [trial, last] : said.trials) {
        QCOMPARE(last.event, eventsOf(kSteps));
        QCOMPARE(last.checkpoint, kSteps);
    }
    QCOMPARE(place.loss(ended.output), QString());
}

void tst_HistorySyscalls::disksThatFillUp() {
    QFETCH(QString, before);
    constexpr int kMore = 1777;  // no multiple of a page or a sector
    int full = 0;
    for (bool fits = false; !fits; ++full) {
        const Place place(before);
        QProcess process;
        startHelper(process, place, "LOCKSTEP_TEST_DISK", QString::number(full * kMore));
        const Ended ended = end(process);
        fits = !ended.killed && ended.code == 0;
        const QString wrong = fault(place, ended);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString("%1 bytes: %2").arg(full * kMore).arg(wrong)));
        QVERIFY(full < 1000);
    }
    QVERIFY(full > 10);
}

QTEST_GUILESS_MAIN(tst_HistorySyscalls)
#include "tst_history_syscalls.moc"
