#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QtTest>
#include <fstream>

#include "tests/history/history_support.h"
#include "tests/ui/trials/trials_desktop.h"
#include "ui/style/theme.h"

using namespace lockstep;
using namespace lockstep::ui;
using test::Desktop;
namespace fs = std::filesystem;

namespace {

constexpr int kPatience = 30'000;
constexpr uid_t kNobody = 65534;

// Another process that holds the history's write lock until it is released.
class Locker {
public:
    explicit Locker(const fs::path& file) {
        int ready[2], end[2];
        if (::pipe(ready) != 0 || ::pipe(end) != 0) qFatal("no pipe");
        m_child = ::fork();
        if (m_child == 0) {
            ::close(end[1]);
            sqlite3* database = nullptr;
            const bool locked = sqlite3_open(file.c_str(), &database) == SQLITE_OK &&
                                sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK;
            char byte = locked ? 'y' : 'n';
            (void)!::write(ready[1], &byte, 1);
            (void)!::read(end[0], &byte, 1);
            sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
            sqlite3_close(database);
            ::_exit(0);
        }
        ::close(ready[1]);
        ::close(end[0]);
        m_end = end[1];
        char byte = 0;
        m_locked = ::read(ready[0], &byte, 1) == 1 && byte == 'y';
        ::close(ready[0]);
    }
    ~Locker() { release(); }
    bool locked() const { return m_locked; }
    void release() {
        if (m_child <= 0) return;
        ::close(m_end);
        ::waitpid(m_child, nullptr, 0);
        m_child = 0;
    }

private:
    pid_t m_child = 0;
    int m_end = -1;
    bool m_locked = false;
};

// Root may write anywhere: as another user the test sees what others see.
class Ordinary {
public:
    Ordinary() : m_root(::geteuid() == 0), m_ok(!m_root || ::seteuid(kNobody) == 0) {}
    ~Ordinary() {
        if (m_root) (void)!::seteuid(0);
    }
    bool ok() const { return m_ok; }

private:
    bool m_root, m_ok;
};

// The longest time for which the window did not come round.
class Pulse : public QObject {
public:
    Pulse() {
        m_since.start();
        startTimer(5);
    }
    qint64 longest() const { return m_longest; }

protected:
    void timerEvent(QTimerEvent*) override { m_longest = std::max(m_longest, m_since.restart()); }

private:
    QElapsedTimer m_since;
    qint64 m_longest = 0;
};

void makeTrials(const Desktop& desktop, int count) {
    const auto store = test::openStore(desktop.places.history());
    for (int i = 0; i < count; ++i) store->setState(store->createTrial({}, desktop.places.runs()), RunState::Finished);
}

void allow(const Desktop& desktop, bool writing) {
    fs::permissions(desktop.places.data, fs::perms(writing ? 0777 : 0555));
    fs::permissions(desktop.places.history(), fs::perms(writing ? 0666 : 0444));
}

}  // namespace

// The history is locked, may only be read, or is damaged: the page says so, loses nothing, and goes on afterwards.
class TestTrialsFaults : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    void aLostHistoryLeavesFoldersToImport() {
        Desktop desktop;
        for (const int trial : {3, 4, 5}) fs::create_directories(desktop.places.run(trial) / "checkpoints");
        std::ofstream(desktop.places.run(3) / "spec.json") << "{}";
        std::ofstream(desktop.places.run(5) / "checkpoints" / "best.safetensors");
        desktop.open();
        QTRY_VERIFY(desktop.says("There are 2 run folders"));
        QVERIFY(desktop.says("`lockstep import`"));
        makeTrials(desktop, 1);
        QTRY_COMPARE(desktop.rows(), 1);
        QVERIFY(!desktop.says("`lockstep import`"));
    }

    void anEmptyHistoryBesideFoldersSaysSo() {
        Desktop desktop;
        fs::create_directories(desktop.places.run(3));
        std::ofstream(desktop.places.run(3) / "spec.json") << "{}";
        test::openStore(desktop.places.history());
        desktop.open();
        QTRY_VERIFY(desktop.says("There is 1 run folder"));
    }

    void aLockOfSecondsHoldsUpWritingAlone() {
        Desktop desktop;
        makeTrials(desktop, 3);
        Locker locker(desktop.places.history());
        QVERIFY(locker.locked());
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 3);  // reading goes on
        const Pulse pulse;
        desktop.select(0);
        desktop.action("Star").trigger();
        desktop.action("Archive").trigger();
        QCOMPARE(desktop.rows(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(desktop.says("history.busy") && desktop.says("Your changes are kept"), kPatience);
        QCOMPARE(desktop.rows(), 2);
        QVERIFY2(pulse.longest() < 1000, qPrintable(QString("%1 ms").arg(pulse.longest())));
        const auto query = test::openQuery(desktop.places.history());
        QVERIFY(!query->find(3)->star);
        locker.release();
        QTRY_VERIFY_WITH_TIMEOUT(query->find(3)->star && query->find(3)->archived, kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(!desktop.says("Your changes are kept"), kPatience);
        desktop.page->undoStack()->undo();
        QTRY_VERIFY_WITH_TIMEOUT(!query->find(3)->archived, kPatience);
    }

    void aReadOnlyHistoryIsReadAndWrittenLater() {
        Desktop desktop;
        makeTrials(desktop, 2);
        fs::permissions(desktop.home.path().toStdString(), fs::perms(0755));
        allow(desktop, false);
        {
            const Ordinary user;
            if (!user.ok()) QSKIP("root, and may not become anyone else: permissions bind nobody here");
            desktop.open();
            QTRY_COMPARE(desktop.rows(), 2);
            desktop.select(0);
            desktop.action("Star").trigger();
            QTRY_VERIFY_WITH_TIMEOUT(desktop.says("history.unwritable") && desktop.says("Your changes are kept"),
                                     kPatience);
            QTest::qWait(700);  // looks again; the change stays in sight
            QCOMPARE(desktop.cell(0, kStarColumn), QString("★"));
        }
        allow(desktop, true);
        QTRY_VERIFY_WITH_TIMEOUT(test::openQuery(desktop.places.history())->find(2)->star, kPatience);
        QTRY_VERIFY_WITH_TIMEOUT(!desktop.says("Your changes are kept"), kPatience);
        makeTrials(desktop, 1);  // and others' are seen again
        QTRY_COMPARE_WITH_TIMEOUT(desktop.rows(), 3, kPatience);
    }

    void aDamagedHistoryIsExplainedAndLeftAlone() {
        Desktop desktop({40, 20, 1});
        const fs::path file = desktop.places.history(), kept = file.string() + ".kept";
        fs::copy_file(file, kept);
        {
            std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
            const auto size = static_cast<std::streamoff>(fs::file_size(file));
            bytes.seekp(4096);
            for (std::streamoff at = 4096; at < size; ++at) bytes.put(static_cast<char>(at * 31 % 251));
        }
        const auto when = fs::last_write_time(file);
        desktop.open();
        QTRY_VERIFY_WITH_TIMEOUT(desktop.says("The history cannot be read") && desktop.says("history.corrupt"),
                                 kPatience);
        QVERIFY(desktop.says("do this"));
        QVERIFY(fs::last_write_time(file) == when);
        fs::rename(kept, file);
        QTRY_VERIFY_WITH_TIMEOUT(desktop.rows() > 20, kPatience);
    }

    void damageWhileThePageIsOpenKeepsItsRows() {
        Desktop desktop;
        makeTrials(desktop, 3);
        desktop.open();
        QTRY_COMPARE(desktop.rows(), 3);
        const fs::path file = desktop.places.history(), kept = file.string() + ".kept";
        fs::rename(file, kept);
        std::ofstream(file) << std::string(8192, 'x');
        QTRY_VERIFY_WITH_TIMEOUT(desktop.says("history.not-a-history"), kPatience);
        QCOMPARE(desktop.rows(), 3);
        fs::rename(kept, file);
        QTRY_VERIFY_WITH_TIMEOUT(!desktop.says("history.not-a-history"), kPatience);
        makeTrials(desktop, 1);
        QTRY_COMPARE_WITH_TIMEOUT(desktop.rows(), 4, kPatience);
    }
};

QTEST_MAIN(TestTrialsFaults)
#include "tst_trials_faults.moc"
