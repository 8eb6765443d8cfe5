#include <signal.h>
#include <sys/mount.h>

#include <QDataStream>
#include <QListWidget>
#include <QTabWidget>
#include <QTableView>
#include <fstream>

#include "shell_support.h"
#include "ui/plot/plot_view.h"
#include "ui/run/run_page.h"
#include "ui/run/runs_page.h"
#include "ui/shell/command_palette.h"
#include "ui/trials/trials_table.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

namespace fs = std::filesystem;

bool until(const std::function<bool()>& holds) { return QTest::qWaitFor(holds, kPatience); }

RunFeed& feedOf(MainWindow& window, std::int64_t trial) { return *window.findChild<OpenRuns*>()->open(trial); }

// A small disk of its own, where the system lets us have one.
class SmallDisk {
public:
    explicit SmallDisk(const char* size) {
        m_mounted =
            ::mount("tmpfs", path().toUtf8().constData(), "tmpfs", 0, (std::string("size=") + size).c_str()) == 0;
    }
    ~SmallDisk() {
        if (m_mounted) ::umount2(path().toUtf8().constData(), MNT_DETACH);
    }
    bool isThere() const { return m_mounted; }
    QString path() const { return m_folder.path(); }

private:
    QTemporaryDir m_folder;
    bool m_mounted = false;
};

// Images of 4 × 4 pixels in two classes, as IDX files have them.
void writeDigits(const QString& folder, quint32 count) {
    for (const QString part : {"train", "t10k"}) {
        QFile images(folder + '/' + part + "-images-idx3-ubyte"), labels(folder + '/' + part + "-labels-idx1-ubyte");
        if (!images.open(QIODevice::WriteOnly) || !labels.open(QIODevice::WriteOnly)) qFatal("no files");
        QDataStream pixels(&images), classes(&labels);
        pixels << 0x803u << count << 4u << 4u;
        classes << 0x801u << count;
        for (quint32 i = 0; i < count * 16; ++i) pixels << static_cast<quint8>(i * 7);
        for (quint32 i = 0; i < count; ++i) classes << static_cast<quint8>(i % 2);
    }
}

// The windows that appear while this lives.
class WindowsShown : public QObject {
public:
    WindowsShown() { qApp->installEventFilter(this); }
    bool eventFilter(QObject* watched, QEvent* event) override {
        const auto* widget = qobject_cast<QWidget*>(watched);
        if (event->type() == QEvent::Show && widget && widget->isWindow()) names << widget->metaObject()->className();
        return false;
    }
    QStringList names;
};

}  // namespace

// What people live through with the window, with the real engine: closed, killed, crashed, several at once, a full
// disk.
class TestStories : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeChoice::Light); }

    // kill -9 of the window mid-run: the run goes on, and the next window has every step of it once.
    void theWindowIsKilled() {
        Home home;
        home.train(100'000);
        QVERIFY(home.waitForRun(1));
        QProcess& studio = home.start(LOCKSTEP_STUDIO, {"--trial", "1"});
        QTest::qWait(3000);  // it follows the run meanwhile
        QCOMPARE(studio.state(), QProcess::Running);
        ::kill(static_cast<pid_t>(studio.processId()), SIGKILL);
        QVERIFY(studio.waitForFinished());

        const auto window = home.open();
        RunFeed& feed = feedOf(*window, 1);  // found without having been asked for
        QVERIFY(until([&] { return feed.connected() && feed.state() == RunState::Running && stepsOf(feed) > 100; }));
        feed.stop();
        QVERIFY(until([&] { return feed.state() == RunState::Stopped; }));
        QVERIFY(until([&] { return !Lease::isHeld(home.places.lease(1)); }));
        QVERIFY(until([&] { return isWhole(feed, home); }));
    }

    // kill -9 of the engine: the window says so, and its button goes on from the checkpoint.
    void theEngineIsKilled() {
        Home home;
        QProcess& engine = home.train(100'000, 4096);
        QVERIFY(home.waitForRun(1));
        const auto window = home.open();
        window->openRun(1);
        RunFeed& feed = feedOf(*window, 1);
        QVERIFY(until([&] { return !feed.record().checkpoints().empty() && feed.state() == RunState::Running; }));
        ::kill(static_cast<pid_t>(engine.processId()), SIGKILL);
        QVERIFY(until([&] { return feed.state() == RunState::Crashed; }));
        QVERIFY(until([&] { return !textWith(*window, "disappeared without a word").isEmpty(); }));
        QPushButton* resume = nullptr;
        QVERIFY(until(
            [&] { return (resume = buttonWith(*window, "Resume from the last checkpoint")) && resume->isEnabled(); }));
        QTest::mouseClick(resume, Qt::LeftButton);
        QVERIFY(until([&] {
            return feed.record().started() && feed.record().started()->attempt == 2 &&
                   feed.state() == RunState::Running;
        }));
        QVERIFY(until([&] { return textWith(*window, "disappeared without a word").isEmpty(); }));
        feed.stop();
        QVERIFY(until([&] { return feed.state() == RunState::Stopped; }));
        QVERIFY(until([&] { return !Lease::isHeld(home.places.lease(1)); }));
        QVERIFY(until([&] { return isWhole(feed, home); }));
    }

    // Between stop and resume the data lost a sample: the window asks, and a person may go on with what there is.
    void theDataHaveChanged() {
        Home home;
        const QTemporaryDir data;
        writeDigits(data.path(), 256);
        home.start(LOCKSTEP_PROGRAM, {"train", "--dataset", "idx", "--data", data.path(), "--model", "mlp", "--devices",
                                      "cpu:1", "--batch", "32", "--epochs", "100000"});
        QVERIFY(home.waitForRun(1));
        const auto window = home.open();
        window->openRun(1);
        RunFeed& feed = feedOf(*window, 1);
        QVERIFY(until([&] { return !feed.record().checkpoints().empty(); }));
        feed.stop();
        QVERIFY(until([&] { return feed.state() == RunState::Stopped && !Lease::isHeld(home.places.lease(1)); }));
        writeDigits(data.path(), 255);

        const auto answer = [&](const QString& words) {
            QPushButton* resume = nullptr;
            if (!until([&] { return (resume = buttonWith(*window, "Resume from")) && resume->isEnabled(); }))
                return false;
            QTest::mouseClick(resume, Qt::LeftButton);
            QMessageBox* box = nullptr;
            if (!until([&] { return (box = window->findChild<QMessageBox*>()) && box->isVisible(); })) return false;
            if (!box->informativeText().contains("data.other-count")) return false;
            QPushButton* button = buttonWith(*box, words);
            if (!button || !box->text().contains("trial 1")) return false;
            button->click();
            return until([&] { return !window->findChild<QMessageBox*>(); });
        };
        QVERIFY(answer("Cancel"));
        QTest::qWait(500);
        QVERIFY(!Lease::isHeld(home.places.lease(1)));
        QCOMPARE(feed.state(), RunState::Stopped);
        QVERIFY(answer("Resume all the same"));
        QVERIFY(until([&] { return feed.record().started()->attempt == 2 && feed.state() == RunState::Running; }));
        feed.stop();
        QVERIFY(until([&] { return feed.state() == RunState::Stopped; }));
    }

    void severalRunsAtOnce() {
        Home home;
        home.train(100'000);
        QVERIFY(home.waitForRun(1));
        home.train(100'000);
        QVERIFY(home.waitForRun(2));
        const auto window = home.open();
        window->openRun(1);
        QCOMPARE(window->findChild<RunsPage*>()->findChild<QTabWidget*>()->count(), 2);
        RunFeed &first = feedOf(*window, 1), &second = feedOf(*window, 2);
        QVERIFY(until([&] { return stepsOf(first) > 50 && stepsOf(second) > 50; }));
        first.pause();
        QVERIFY(until([&] { return first.state() == RunState::Paused; }));
        const auto firstSteps = stepsOf(first), secondSteps = stepsOf(second);
        QVERIFY(until([&] { return stepsOf(second) > secondSteps + 50; }));
        QCOMPARE(stepsOf(first), firstSteps);
        QCOMPARE(second.state(), RunState::Running);

        QStringList titles;
        for (int i = 0; i < 2; ++i) titles << window->findChild<RunsPage*>()->findChild<QTabWidget*>()->tabText(i);
        QVERIFY2(titles.join(' ').contains("paused") && titles.join(' ').contains("running"),
                 qPrintable(titles.join(' ')));
        answerWith("Stop with checkpoint");
        QVERIFY(window->close());
        for (RunFeed* feed : {&first, &second}) {
            QVERIFY(until([&] { return feed->state() == RunState::Stopped; }));
            QVERIFY(until([&] { return isWhole(*feed, home); }));
        }
    }

    // A widget that is shown before it has its place is a window for a moment, and takes the keyboard away.
    void nothingFlashesUp() {
        Home home;
        home.train(100'000);
        QVERIFY(home.waitForRun(1));
        WindowsShown shown;
        const auto window = home.open();
        window->openRun(1);
        RunFeed& feed = feedOf(*window, 1);
        QVERIFY(until([&] { return feed.state() == RunState::Running && stepsOf(feed) > 20; }));
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        for (const auto key : {Qt::Key_1, Qt::Key_2, Qt::Key_3}) {
            QTest::keyClick(window.get(), key, Qt::ControlModifier);
            QTest::qWait(300);
        }
        QCOMPARE(shown.names, QStringList{"lockstep::ui::MainWindow"});
        feed.kill();
        QVERIFY(until([&] { return isFinal(feed.state()); }));
        QTest::keyClick(window.get(), Qt::Key_2, Qt::ControlModifier);
        QTest::qWait(300);
        QCOMPARE(shown.names, QStringList{"lockstep::ui::MainWindow"});
    }

    // By the keyboard alone: the page, the trial, its commands.
    void theKeyboardSuffices() {
        Home home;
        home.train(100'000);
        QVERIFY(home.waitForRun(1));
        const auto window = home.open();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QTest::keyClick(window.get(), Qt::Key_3, Qt::ControlModifier);
        auto& table = *window->findChild<TrialsTable*>();
        QVERIFY(until([&] { return table.isVisible() && table.model()->rowCount() == 1; }));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        auto* page = window->findChild<RunPage*>();
        QVERIFY(until([&] { return page->isVisible(); }));
        RunFeed& feed = feedOf(*window, 1);
        QVERIFY(until([&] { return feed.state() == RunState::Running; }));
        QTest::keyClick(window.get(), Qt::Key_F8);
        QVERIFY(until([&] { return feed.state() == RunState::Paused; }));
        QVERIFY(until([&] { return buttonWith(*window, "Resume") && buttonWith(*window, "Resume")->isEnabled(); }));
        QTest::keyClick(window.get(), Qt::Key_K, Qt::ControlModifier);
        auto* palette = window->findChild<CommandPalette*>();
        QVERIFY(palette && palette->isVisible());
        QTest::keyClicks(palette->focusWidget(), "resume");
        QTest::keyClick(palette->focusWidget(), Qt::Key_Return);
        QVERIFY(until([&] { return feed.state() == RunState::Running; }));
        window->activateWindow();  // as a window manager does when the palette closes
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QTest::keyClick(window.get(), Qt::Key_Period, Qt::ControlModifier);
        QVERIFY(until([&] { return feed.state() == RunState::Stopped; }));
    }

    void aDiskThatFillsWhileRunning() {
        const SmallDisk disk("32m");
        if (!disk.isThere()) QSKIP("a small disk cannot be mounted here: that takes the rights of an administrator");
        Home home(disk.path());
        home.train(100'000, 4096);
        QVERIFY(home.waitForRun(1));
        const auto window = home.open();
        window->openRun(1);
        RunFeed& feed = feedOf(*window, 1);
        QVERIFY(until([&] { return !feed.record().checkpoints().empty(); }));
        std::ofstream filler(disk.path().toStdString() + "/filler");
        const std::vector<char> block(1 << 12);
        QVERIFY(until([&] {  // also what a checkpoint gives back when it takes the place of another
            filler.clear();
            while (filler.write(block.data(), static_cast<std::streamsize>(block.size())) && filler.flush()) {
            }
            return feed.state() == RunState::Failed;
        }));
        filler.close();
        QVERIFY(until([&] { return !textWith(*window, "No space left on device").isEmpty(); }));
        QVERIFY(feed.record().failed()->where.find("checkpoints") != std::string::npos);

        QVERIFY(fs::remove(disk.path().toStdString() + "/filler"));
        QVERIFY(until([&] { return !Lease::isHeld(home.places.lease(1)); }));
        QPushButton* resume = nullptr;
        QVERIFY(until(
            [&] { return (resume = buttonWith(*window, "Resume from the last checkpoint")) && resume->isEnabled(); }));
        QTest::mouseClick(resume, Qt::LeftButton);
        QVERIFY(until([&] { return feed.record().started()->attempt == 2 && feed.state() == RunState::Running; }));
        feed.stop();
        QVERIFY(until([&] { return feed.state() == RunState::Stopped; }));
    }

    // The window opens, says what is wrong with the history, and lets the file be.
    void aHistoryThatCannotBeRead_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("code");
        QTest::newRow("no history at all")
            << QByteArray("these are my tax returns\n").repeated(200) << "history.not-a-history";
        QTest::newRow("empty") << QByteArray() << "";
    }
    void aHistoryThatCannotBeRead() {
        QFETCH(QByteArray, content);
        QFETCH(QString, code);
        Home home;
        const QString file = QString::fromStdString(home.places.history().string());
        QFile history(file);
        QVERIFY(history.open(QIODevice::WriteOnly));
        history.write(content);
        history.close();
        const auto window = home.open();
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        QTest::keyClick(window.get(), Qt::Key_3, Qt::ControlModifier);
        if (!code.isEmpty()) QVERIFY(until([&] { return !textWith(*window, code).isEmpty(); }));
        QTest::qWait(300);
        QVERIFY(history.open(QIODevice::ReadOnly));
        if (!code.isEmpty()) QCOMPARE(history.readAll(), content);
        QVERIFY(window->isVisible());
    }
};

QTEST_MAIN(TestStories)
#include "tst_stories.moc"
