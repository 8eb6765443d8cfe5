#include <signal.h>

#include <QAbstractScrollArea>
#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QInputDialog>
#include <QLabel>
#include <QListWidget>
#include <QLocalServer>
#include <QLocalSocket>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QtTest>
#include <filesystem>

#include "engine/history/trial_store.h"
#include "engine/session/lease.h"
#include "engine/session/run_log.h"
#include "engine/session/session_server.h"
#include "tests/ui/run_home.h"
#include "ui/run/run_page.h"
#include "ui/run/text_card.h"

using namespace lockstep;
using namespace lockstep::ui;

namespace {

namespace fs = std::filesystem;

const Explain kExplain = [](const Problem& problem) {
    return Explanation{QString::fromStdString(problem.code), "try again"};
};

// An engine's outside without an engine: lease, row, socket, history.
class PlayedRun {
public:
    explicit PlayedRun(const Places& places, std::string task = "image-classes")
        : m_task(std::move(task)),
          m_store(std::move(TrialStore::open(preparePlaces(places).value().history())).value()) {
        m_store->createTrial({}, places.runs());
        fs::create_directories(places.run(1));
        m_lease = Lease::tryAcquire(places.lease(1));
        m_history = m_store->sinkFor(1, m_store->beginAttempt(1, 0));
        m_server = std::move(SessionServer::listen(places.socket(1), 1, {})).value();
        m_log = std::make_unique<RunLog>(places.run(1) / "run.log");
        start({"cpu:0", "cpu:1", "cpu:2", "cpu:3"});
    }
    // As a run does that goes on without the last of its devices.
    void loseADevice(int goesOn, int reached) {
        const std::vector<std::string> remain{"cpu:0", "cpu:1", "cpu:2"};
        post(WorldChanged{"lost-device", goesOn, reached, 3, "it does not answer", remain});
        m_history = m_store->sinkFor(1, m_attempt = m_store->beginAttempt(1, goesOn));
        start(remain, goesOn);
    }
    void post(const TrainEvent& event) {
        m_history->post(m_next, event);
        m_server->post(m_next, event);
        m_log->post(m_next, event);
        ++m_next;
    }

private:
    void start(const std::vector<std::string>& devices, int firstStep = 0) {
        RunStarted started;
        started.attempt = m_attempt;
        started.deviceText = "cpu:4";
        started.devices = devices;
        started.virtualDevices = true;
        started.stepsPerEpoch = 100;
        started.epochs = 400;
        started.firstStep = firstStep;
        started.linkBandwidth = 100;
        started.task = m_task;
        post(started);
        post(StateChanged{"running", firstStep});
    }

    const std::string m_task;
    std::optional<Lease> m_lease;
    std::unique_ptr<TrialStore> m_store;
    std::shared_ptr<EventSink> m_history;
    std::unique_ptr<SessionServer> m_server;
    std::unique_ptr<RunLog> m_log;
    std::int64_t m_next = 1, m_attempt = 1;
};

bool isInOrder(const RunFeed& feed) {
    const Curve& loss = *feed.record().curve("loss");
    for (std::size_t i = 0; i < loss.size(); ++i) {
        const bool onward = i == 0 || loss.x(CurveAxis::Seconds, i) >= loss.x(CurveAxis::Seconds, i - 1);
        if (loss.x(CurveAxis::Step, i) != static_cast<double>(i + 1) || !onward) return false;
    }
    return feed.record().missing() == 0;
}

QStringList notesOf(const RunPage& page) {
    QStringList out;
    const auto* list = page.findChild<QListWidget*>();
    for (int i = 0; i < list->count(); ++i) out << list->item(i)->text();
    return out;
}

QAction* actionOf(const RunPage& page, const QString& words) {
    for (auto* action : page.commands()) {
        if (action->text().contains(words)) return action;
    }
    return nullptr;
}

StepDone stepDone(int step, int ranks = 4) {
    StepDone event;
    event.step = step;
    event.epoch = (step - 1) / 100 + 1;
    event.loss = 2.3 / (1 + step * 0.01) + 0.1 * ((step * 7919) % 13) / 13;
    event.accuracy = 1 - event.loss / 2.6;
    event.learningRate = 0.1;
    event.samplesPerSecond = 900 + (step * 31) % 60;
    event.seconds = step * 0.02;
    for (int rank = 0; rank < ranks; ++rank) {
        event.compute.push_back(0.01F + 0.001F * static_cast<float>(rank));
        event.reduce.push_back(0.005F - 0.001F * static_cast<float>(rank));
        event.wait.push_back(0.002F);
    }
    return event;
}

bool until(const std::function<bool()>& holds, int milliseconds = 30'000) {
    return QTest::qWaitFor(holds, milliseconds);
}

void shoot(QWidget& page, const char* name) {
    const QByteArray folder = qgetenv("LOCKSTEP_SHOTS");
    if (folder.isEmpty()) return;
    for (const auto choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
        applyTheme(*static_cast<QApplication*>(QCoreApplication::instance()), choice);
        QTest::qWait(100);
        page.grab().save(QString("%1/%2-%3.png").arg(folder, name, choice == ThemeChoice::Dark ? "dark" : "light"));
    }
}

}  // namespace

class TestRunFeed : public QObject {
    Q_OBJECT
private slots:
    void aRunIsFollowedToItsEnd() {
        RunHome home;
        QProcess& engine = home.train(30);
        QVERIFY(home.waitForRun(1));
        RunFeed feed(home.places, 1);
        QSignalSpy changes(&feed, &RunFeed::changed);
        QElapsedTimer time;
        time.start();
        QVERIFY(until([&] { return feed.state() == RunState::Finished; }));
        QVERIFY(changes.count() <= 2 + time.elapsed() * 30 / 1000);
        QVERIFY(until([&] { return engine.state() == QProcess::NotRunning; }));
        QVERIFY(isWhole(feed, home));
        QCOMPARE(feed.record().evaluations().size(), std::size_t{30});
        QVERIFY(feed.problems().empty());
        QVERIFY(feed.record().finished());

        RunFeed later(home.places, 1);  // long ended: only the history speaks
        QVERIFY(until([&] { return !later.loading(); }));
        QCOMPARE(later.state(), RunState::Finished);
        QVERIFY(isWhole(later, home));
        QVERIFY(!later.connected());
    }

    void pauseResumeAndStop() {
        RunHome home;
        home.train(100'000);
        QVERIFY(home.waitForRun(1));
        RunFeed feed(home.places, 1);
        QVERIFY(until([&] { return feed.state() == RunState::Running && stepsOf(feed) > 10; }));
        feed.pause();
        QVERIFY(until([&] { return feed.state() == RunState::Paused; }));
        QVERIFY(!feed.asked());
        QVERIFY(!feed.actions().enabled(RunAction::Pause) && feed.actions().enabled(RunAction::Resume));
        feed.resume();
        QVERIFY(until([&] { return feed.state() == RunState::Running; }));
        feed.stopAfterEpoch();
        QVERIFY(until([&] { return feed.state() == RunState::Stopped; }));
        QCOMPARE(feed.record().step() % feed.record().started()->stepsPerEpoch, std::int64_t{0});
        QVERIFY(until([&] { return !Lease::isHeld(home.places.lease(1)); }));
        QVERIFY(isWhole(feed, home));
        QVERIFY(feed.actions().enabled(RunAction::ResumeFromCheckpoint));
    }

    // The window dies and comes back: what it missed is in the history.
    void aSecondFeedFindsEverything() {
        RunHome home;
        home.train(100'000);
        QVERIFY(home.waitForRun(1));
        {
            RunFeed first(home.places, 1);
            QVERIFY(until([&] { return stepsOf(first) > 50; }));
        }
        QTest::qWait(700);
        RunFeed second(home.places, 1);
        QVERIFY(until([&] { return second.connected() && stepsOf(second) > 100; }));
        second.stop();
        QVERIFY(until([&] { return second.state() == RunState::Stopped; }));
        QVERIFY(until([&] { return !Lease::isHeld(home.places.lease(1)); }));
        QVERIFY(isWhole(second, home));
    }

    // A feed that sleeps while thousands of steps pass gets them from the history: the server keeps fewer.
    void whatASlowReaderLostIsFilledIn() {
        constexpr int kSteps = 20'000;
        RunHome home;
        PlayedRun run(home.places);
        RunFeed feed(home.places, 1);
        QVERIFY(until([&] { return feed.connected() && feed.record().started(); }));
        for (int i = 1; i <= kSteps; ++i) run.post(stepDone(i));
        run.post(EvalDone{});
        QVERIFY(until([&] { return stepsOf(feed) == kSteps && feed.record().evaluations().size() == 1; }));
        run.post(stepDone(kSteps + 1));
        QVERIFY(until([&] { return stepsOf(feed) == kSteps + 1; }));
        QVERIFY(until([&] { return home.query()->series(1, "loss").size() == kSteps + 1; }));  // the last is committed
        QVERIFY(isWhole(feed, home));
        QVERIFY(feed.connected() && feed.problems().empty());
    }

    // Virtual devices, a message, and a failure that a person can repair.
    void aFailureIsExplained() {
        RunHome home;
        PlayedRun run(home.places);
        RunFeed feed(home.places, 1);
        RunPage page(&feed, kExplain);
        page.resize(1280, 800);
        page.show();
        for (int i = 1; i <= 300; ++i) run.post(stepDone(i));
        run.post(Message{"warning", {"", "trace.unwritable", {}}});
        run.post(failureFrom({"train-images.gz", "idx.truncated", {"60000"}}));
        QVERIFY(until([&] { return feed.state() == RunState::Failed; }));
        QTest::qWait(100);
        bool explained = false, isVirtual = false;
        for (const auto* label : page.findChildren<QLabel*>()) {
            explained = explained || label->text().contains("idx.truncated");
            isVirtual = isVirtual || label->text() == "virtual";
        }
        QVERIFY(explained && isVirtual);
        shoot(page, "failed");
        applyTheme(*static_cast<QApplication*>(QCoreApplication::instance()), ThemeChoice::Light);
    }

    void aStoppedRunWithoutACheckpoint_data() {
        QTest::addColumn<int>("steps");
        QTest::newRow("made no step, and begins again") << 0;
        QTest::newRow("lost what it had, and does not") << 1;
    }

    void aStoppedRunWithoutACheckpoint() {
        QFETCH(int, steps);
        RunHome home;
        PlayedRun run(home.places);
        RunFeed feed(home.places, 1);
        RunPage page(&feed, kExplain);
        page.show();
        for (int i = 1; i <= steps; ++i) run.post(stepDone(i));
        run.post(RunFinished{.outcome = "stopped", .trial = 1, .step = steps});
        QVERIFY(until([&] { return feed.state() == RunState::Stopped && feed.record().step() == steps; }));
        const auto buttons = page.findChildren<QPushButton*>();
        const auto card =
            std::ranges::find_if(buttons, [](const auto* each) { return each->text().startsWith("Save model card"); });
        QVERIFY(until([&] { return (*card)->isVisible(); }));  // as of one that has ended
        QCOMPARE(actionOf(page, "Begin again") != nullptr, steps == 0);
        QSignalSpy asked(&page, &RunPage::resumeRequested);
        actionOf(page, steps == 0 ? "Begin again" : "Resume from the last checkpoint")->trigger();
        QCOMPARE(asked.size(), qsizetype{steps == 0 ? 1 : 0});
    }

    // What a language model wrote is on its page, also on one that is opened later; its accuracy is not.
    void aLanguageModelShowsItsText() {
        RunHome home;
        PlayedRun run(home.places, "next-tokens");
        RunFeed feed(home.places, 1);
        RunPage page(&feed, kExplain);
        page.resize(1280, 1000);
        page.show();
        const auto* card = page.findChild<TextCard*>();
        QVERIFY(until([&] { return feed.connected() && feed.record().ranks() == 4; }));
        QVERIFY(until([&] { return card->isVisible(); }));
        for (int i = 1; i <= 100; ++i) run.post(stepDone(i));
        run.post(EvalDone{100, 1, 50, 1.5, 0.5});
        run.post(TextSample{100, 1, "To be", " or not to\n\uFFFDbe"});
        const auto textOf = [](const RunPage& each) {
            return each.findChild<QPlainTextEdit*>("writtenText")->toPlainText();
        };
        QVERIFY(until([&] { return textOf(page) == QString("To be or not to\n\uFFFDbe"); }));
        QStringList titles;
        for (const auto* label : page.findChildren<QLabel*>()) titles << label->text();
        QVERIFY(titles.contains("Perplexity") && !titles.contains("Accuracy"));
        shoot(page, "text");

        RunFeed second(home.places, 1);
        RunPage later(&second, kExplain);
        later.show();
        QVERIFY(until([&] { return textOf(later) == textOf(page); }));
    }

    // A device is lost while the page watches: it goes on from the snapshot, without a look at the history.
    void aLostDeviceIsSeen() {
        RunHome home;
        PlayedRun run(home.places);
        RunFeed feed(home.places, 1);
        RunPage page(&feed, kExplain);
        page.resize(1280, 900);
        page.show();
        QVERIFY(until([&] { return feed.connected() && feed.record().ranks() == 4; }));
        for (int i = 1; i <= 250; ++i) run.post(stepDone(i));
        QVERIFY(until([&] { return stepsOf(feed) == 250; }));
        bool loaded = false;
        connect(&feed, &RunFeed::changed, this, [&] { loaded = loaded || feed.loading(); });
        run.loseADevice(200, 250);
        for (int i = 201; i <= 300; ++i) run.post(stepDone(i, 3));
        run.post(StragglerFound{300, 1, "compute", 0.012, 0.2});
        QVERIFY(until([&] { return stepsOf(feed) == 300 && feed.record().notes().size() == 2; }));
        QVERIFY(!loaded);
        QVERIFY(isInOrder(feed));
        QCOMPARE(feed.record().ranks(), std::size_t{3});
        QCOMPARE(feed.record().started()->attempt, std::int64_t{2});
        QVERIFY(until([&] { return notesOf(page).size() == 2; }));
        const QStringList seen = notesOf(page);
        QVERIFY2(seen[0].contains("Device 3 was lost at step 250; going on after step 200 with 3 devices"),
                 qPrintable(seen[0]));
        QTest::qWait(100);
        shoot(page, "lost-device");
        page.resize(740, 560);  // a small window's: nothing lies beside it
        const auto* beside = page.findChild<QScrollArea*>()->horizontalScrollBar();
        QVERIFY(until([&] { return beside->maximum() == 0; }, 2000));
        shoot(page, "lost-device-small");

        QVERIFY(until([&] { return home.query()->series(1, "loss").size() == 300; }));
        RunFeed later(home.places, 1);  // reattached: the same
        RunPage again(&later, kExplain);
        again.show();
        QVERIFY(until([&] { return stepsOf(later) == 300; }));
        QVERIFY(isInOrder(later));
        QVERIFY(until([&] { return notesOf(again) == seen; }));
        const auto secondsOf = [](const RunFeed& each) {
            const Curve& loss = *each.record().curve("loss");
            return loss.x(CurveAxis::Seconds, loss.size() - 1);
        };
        QCOMPARE(secondsOf(later), secondsOf(feed));
        for (const std::size_t i : {0u, 199u, 200u, 299u}) {
            const auto rate = [i](const RunFeed& each) { return each.record().curve(kRatePerDevice)->value(i); };
            QCOMPARE(rate(later), rate(feed));
        }
        applyTheme(*static_cast<QApplication*>(QCoreApplication::instance()), ThemeChoice::Light);
    }

    // On two devices, then on one by the page's control: every step once, to the end.
    void aRunGoesOnOnFewerDevices() {
        RunHome home;
        QProcess& engine = home.train(200);
        QVERIFY(home.waitForRun(1));
        RunFeed feed(home.places, 1);
        RunPage page(&feed, kExplain);
        page.resize(1280, 800);
        page.show();
        QVERIFY(until([&] { return feed.connected() && feed.state() == RunState::Running && stepsOf(feed) > 10; }));
        QVERIFY(until([&] {
            return actionOf(page, "Change the number")->isEnabled() && actionOf(page, "Balance")->isEnabled();
        }));
        actionOf(page, "Change the number")->trigger();
        auto* box = page.findChild<QInputDialog*>();
        QVERIFY(box && box->intValue() == 2);
        box->setIntValue(1);
        box->accept();
        QVERIFY(until([&] { return feed.record().ranks() == 1; }));
        QVERIFY(until([&] { return !feed.asked(); }));
        QCOMPARE(feed.record().started()->attempt, std::int64_t{2});
        QVERIFY(feed.problems().empty());
        QVERIFY(until([&] { return feed.state() == RunState::Finished; }, 120'000));
        QVERIFY(until([&] { return engine.state() == QProcess::NotRunning; }));
        QVERIFY(isWhole(feed, home) && isInOrder(feed));
        QCOMPARE(feed.record().step(), feed.record().totalSteps());
        QVERIFY(until([&] {
            return !actionOf(page, "Change the number")->isEnabled() && !actionOf(page, "Balance")->isEnabled();
        }));
        QVERIFY2(notesOf(page).value(0).contains("with 1 device"), qPrintable(notesOf(page).join('|')));

        RunFeed later(home.places, 1);
        RunPage again(&later, kExplain);
        again.show();
        QVERIFY(until([&] { return !later.loading(); }));
        QVERIFY(isWhole(later, home) && isInOrder(later));
        QVERIFY(until([&] { return notesOf(again) == notesOf(page); }));
    }

    // The engine says no: what and why, and the run goes on.
    void whatTheEngineRefusesIsTold() {
        RunHome home;
        home.start(LOCKSTEP_PROGRAM, {"train", "--dataset", "synthetic", "--model", "mlp", "--devices", "cpu:2",
                                      "--batch", "32", "--epochs", "100000", "--mode", "reproducible"});
        QVERIFY(home.waitForRun(1));
        RunFeed feed(home.places, 1);
        RunPage page(&feed, kExplain);
        page.resize(1280, 800);
        page.show();
        QVERIFY(until([&] { return feed.state() == RunState::Running && stepsOf(feed) > 10; }));
        QVERIFY(until([&] { return actionOf(page, "Change the number")->isEnabled(); }));
        QVERIFY(!actionOf(page, "Balance")->isEnabled());  // shards are equal
        feed.scaleTo(3);                                   // divides no 8 shards
        QVERIFY(until([&] { return !feed.problems().empty(); }));
        QVERIFY(!feed.asked());
        QCOMPARE(feed.record().ranks(), std::size_t{2});
        bool told = false;
        QVERIFY(until([&] {
            for (const auto* label : page.findChildren<QLabel*>())
                told = told || label->text().contains(QString::fromStdString(feed.problems().front().code));
            return told;
        }));
        const auto before = stepsOf(feed);
        QVERIFY(until([&] { return stepsOf(feed) > before; }));
        feed.stop();
        QVERIFY(until([&] { return feed.state() == RunState::Stopped; }));
    }

    void anotherVersionIsTold() {
        RunHome home;
        QVERIFY(preparePlaces(home.places).ok());
        fs::create_directories(home.places.run(1));
        const auto lease = Lease::tryAcquire(home.places.lease(1));
        QLocalServer server;
        QVERIFY(server.listen(QString::fromStdString(home.places.socket(1).string())));
        connect(&server, &QLocalServer::newConnection, &server, [&] {
            server.nextPendingConnection()->write(QByteArray::fromStdString(toLine(Hello{9, 1, 1, 0, "running"})) +
                                                  "\n");
        });
        RunFeed feed(home.places, 1);
        QVERIFY(until([&] { return feed.problems().size() == 2; }));
        QCOMPARE(feed.problems().back().code, std::string("session.version"));
    }

    void aKilledEngineHasCrashedAndCanBeResumed() {
        RunHome home;
        home.train(60, 4096);
        QVERIFY(home.waitForRun(1));
        RunFeed feed(home.places, 1);
        RunPage page(&feed, kExplain);
        page.resize(1280, 800);
        page.show();
        QVERIFY(until([&] { return feed.record().evaluations().size() > 1 && !feed.record().checkpoints().empty(); }));
        QTest::qWait(1500);
        shoot(page, "running");
        feed.kill();
        QVERIFY(until([&] { return feed.state() == RunState::Crashed; }, 5000));
        const auto stepsThen = stepsOf(feed);
        const auto resumeButton = [&]() -> QPushButton* {
            for (auto* button : page.findChildren<QPushButton*>()) {
                if (button->isVisible() && button->text().startsWith("Resume from")) return button;
            }
            return nullptr;
        };
        QVERIFY(until([&] { return resumeButton(); }));
        shoot(page, "crashed");
        QSignalSpy wanted(&page, &RunPage::resumeRequested);
        QTest::mouseClick(resumeButton(), Qt::LeftButton);
        QCOMPARE(wanted.count(), 1);
        QCOMPARE(wanted[0][0].toLongLong(), 1LL);

        home.start(LOCKSTEP_PROGRAM, {"resume", "1"});
        QVERIFY(until([&] {
            return feed.record().started() && feed.record().started()->attempt == 2 &&
                   feed.state() == RunState::Running;
        }));
        QVERIFY(stepsOf(feed) > 0 && stepsThen > 0);
        feed.stop();
        QVERIFY(until([&] { return feed.state() == RunState::Stopped; }));
        QVERIFY(until([&] { return !Lease::isHeld(home.places.lease(1)); }));
        QVERIFY(isWhole(feed, home));
        shoot(page, "stopped");
        applyTheme(*static_cast<QApplication*>(QCoreApplication::instance()), ThemeChoice::Light);
    }

    void whatIsNotThereIsToldInWords() {
        RunHome home;
        RunFeed feed(home.places, 5);
        QVERIFY(until([&] { return !feed.problems().empty(); }));
        QCOMPARE(feed.problems().front().code, std::string("history.absent"));
        RunPage page(&feed, kExplain);
        page.resize(1280, 800);
        page.show();
        QTest::qWait(100);
        shoot(page, "absent");
    }

    // The run is alive, its socket is not: it is followed through the history.
    void aSocketThatIsGoneIsTold() {
        RunHome home;
        home.train(100'000);
        QVERIFY(home.waitForRun(1));
        QVERIFY(until([&] { return home.query()->lastEvent(1) > 20; }));
        fs::remove(home.places.socket(1));
        RunFeed feed(home.places, 1);
        QVERIFY(until([&] { return stepsOf(feed) > 20; }));
        const auto before = stepsOf(feed);
        QVERIFY(until([&] { return stepsOf(feed) > before; }));
        QVERIFY(until([&] { return !feed.problems().empty(); }));
        QCOMPARE(feed.problems().front().code, std::string("session.not-running"));
        QCOMPARE(feed.state(), RunState::Running);
    }

    void everyControlHasAName() {
        RunHome home;
        RunFeed feed(home.places, 1);
        RunPage page(&feed, kExplain);
        for (auto* widget : page.findChildren<QWidget*>()) {
            if (widget->focusPolicy() == Qt::NoFocus || qobject_cast<QAbstractScrollArea*>(widget)) continue;
            auto* heard = QAccessible::queryAccessibleInterface(widget);
            QVERIFY(heard);
            const bool isEmptyLabel = qobject_cast<QLabel*>(widget) && static_cast<QLabel*>(widget)->text().isEmpty();
            QVERIFY2(isEmptyLabel || !heard->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
        }
    }
};

QTEST_MAIN(TestRunFeed)
#include "tst_run_feed.moc"
