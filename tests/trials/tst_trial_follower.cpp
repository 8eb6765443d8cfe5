#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <functional>
#include <thread>

#include "engine/history/trial_store.h"
#include "engine/session/lease.h"
#include "engine/session/session_server.h"
#include "engine/trials/trial_follower.h"

using namespace lockstep;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

struct Home {
    Home() {
        const fs::path base = folder.path().toStdString();
        places = {base, base / "cache", base / "sockets", base / "config"};
        if (!preparePlaces(places).ok()) qFatal("no home");
        store = std::move(TrialStore::open(places.history())).value();
        store->createTrial({}, places.runs());
        fs::create_directories(places.run(1));
    }
    QTemporaryDir folder;
    Places places;
    std::unique_ptr<TrialStore> store;
};

// An engine's outside without an engine: lease, row, socket, history. With `listening`, which is called then, it does
// so before its attempt begins.
class PlayedRun {
public:
    PlayedRun(const Home& home, std::int64_t firstStep, std::int64_t firstNumber,
              const std::function<void()>& listening = {})
        : m_next(firstNumber), m_store(*home.store), m_lease(Lease::tryAcquire(home.places.lease(1))) {
        if (!listening) begin(firstStep);
        const auto applyControl = [this](const ControlCommand& control) -> std::optional<Problem> {
            const std::lock_guard lock(m_mutex);
            m_heard.push_back(control.name);
            if (control.name == "balance") return Problem{"shares", "spec.shares-of-shards", {}};
            return std::nullopt;
        };
        m_server = std::move(SessionServer::listen(home.places.socket(1), 1, {applyControl})).value();
        if (listening) {
            listening();
            begin(firstStep);
        }
        start(firstStep);
    }
    void post(const TrainEvent& event) {
        m_history->post(m_next, event);
        m_server->post(m_next, event);
        ++m_next;
    }
    void postUnrecorded(const TrainEvent& event) { m_server->post(m_next++, event); }
    void changeWorld(std::int64_t step) {
        post(WorldChanged{"scaled", step, step, -1, "", {"cpu:0"}});
        begin(step);
        start(step);
    }
    std::vector<std::string> heard() {
        const std::lock_guard lock(m_mutex);
        return m_heard;
    }
    std::int64_t next() const { return m_next; }

private:
    void begin(std::int64_t step) { m_history = m_store.sinkFor(1, m_attempt = m_store.beginAttempt(1, step)); }
    void start(std::int64_t step) {
        RunStarted started;
        started.attempt = m_attempt;
        started.firstStep = step;
        post(started);
        post(StateChanged{"running", step});
    }

    std::int64_t m_next, m_attempt = 1;
    TrialStore& m_store;
    std::optional<Lease> m_lease;
    std::shared_ptr<EventSink> m_history;
    std::unique_ptr<SessionServer> m_server;
    std::mutex m_mutex;
    std::vector<std::string> m_heard;
};

// Follows on a thread of its own and keeps what it is told.
class Told : public TrialListener {
public:
    explicit Told(const Places& places) : m_follower(places, 1, *this), m_thread([this] { m_follower.follow(); }) {}
    ~Told() override {
        m_follower.stop();
        m_thread.join();
    }
    TrialFollower& follower() { return m_follower; }

    void begin(const TrialBeginning& beginning) override {
        const std::lock_guard lock(m_mutex);
        ++m_begun;
        m_numbers.clear();
        for (const auto& event : beginning.events) m_numbers.push_back(event.number);
    }
    void take(const NumberedEvent& event) override {
        const std::lock_guard lock(m_mutex);
        m_numbers.push_back(event.number);
    }
    void lost(std::int64_t next) override {
        const std::lock_guard lock(m_mutex);
        m_lost = next;
    }
    void see(const TrialSighting& sighting) override {
        const std::lock_guard lock(m_mutex);
        m_seen = sighting;
    }
    void connected(bool connected) override {
        const std::lock_guard lock(m_mutex);
        m_connected = connected;
    }
    void answered(const ControlAnswer& answer) override {
        const std::lock_guard lock(m_mutex);
        m_answers.push_back(answer.refused ? answer.refused->code : answer.agreed);
    }

    template <class Condition>
    bool until(Condition&& holds) {
        return QTest::qWaitFor(
            [&] {
                const std::lock_guard lock(m_mutex);
                return holds(*this);
            },
            20'000);
    }
    bool isAt(std::int64_t last) const { return !m_numbers.empty() && m_numbers.back() == last; }
    bool withoutGaps(std::int64_t first) const {
        for (const auto number : m_numbers) {
            if (number != first++) return false;
        }
        return true;
    }

    int m_begun = 0;
    bool m_connected = false;
    std::int64_t m_lost = 0;
    std::vector<std::int64_t> m_numbers;
    std::vector<std::string> m_answers;
    std::optional<TrialSighting> m_seen;

private:
    std::mutex m_mutex;
    TrialFollower m_follower;
    std::thread m_thread;
};

StepDone step(std::int64_t number) {
    StepDone event;
    event.step = number;
    return event;
}

}  // namespace

class TestTrialFollower : public QObject {
    Q_OBJECT
private slots:
    void aQueuedTrialIsWaitedForAndFollowed() {
        const Home home;
        Told told(home.places);
        QVERIFY(told.until([](const Told& t) { return t.m_seen && t.m_seen->row; }));
        QCOMPARE(told.m_seen->row->state, std::string("queued"));
        PlayedRun run(home, 0, 1);
        for (int i = 1; i <= 100; ++i) run.post(step(i));
        QVERIFY(told.until([&](const Told& t) { return t.m_connected && t.isAt(run.next() - 1); }));
        for (int i = 101; i <= 200; ++i) run.post(step(i));
        QVERIFY(told.until([&](const Told& t) { return t.isAt(run.next() - 1); }));
        QVERIFY(told.withoutGaps(1));
        QCOMPARE(told.m_lost, std::int64_t{0});
    }

    // The server keeps fewer events than these: what it drops is in the history.
    void whatTheRunDropsComesFromTheHistory() {
        const Home home;
        PlayedRun run(home, 0, 1);
        for (int i = 1; i <= 20'000; ++i) run.post(step(i));
        Told told(home.places);
        for (int i = 20'001; i <= 40'000; ++i) run.post(step(i));
        run.post(EvalDone{});
        QVERIFY(told.until([&](const Told& t) { return t.isAt(run.next() - 1); }));
        QVERIFY(told.withoutGaps(1));
        QCOMPARE(told.m_begun, 1);
    }

    // The history goes on without them.
    void whatNobodyHasHoldsNothingUp() {
        const Home home;
        PlayedRun run(home, 0, 1);
        for (int i = 1; i <= 10'000; ++i) run.postUnrecorded(step(i));
        run.post(EvalDone{});
        const auto evaluated = run.next() - 1;
        Told told(home.places);
        QVERIFY(told.until([&](const Told& t) { return t.isAt(evaluated); }));
        run.post(step(10'001));
        QVERIFY(told.until([&](const Told& t) { return t.isAt(evaluated + 1); }));
    }

    void anotherWorldIsNoNewBeginning() {
        const Home home;
        PlayedRun run(home, 0, 1);
        Told told(home.places);
        QVERIFY(told.until([&](const Told& t) { return t.m_connected; }));
        for (int i = 1; i <= 50; ++i) run.post(step(i));
        QVERIFY(told.until([&](const Told& t) { return t.isAt(run.next() - 1); }));
        run.changeWorld(50);
        run.post(step(51));
        QVERIFY(told.until([&](const Told& t) { return t.isAt(run.next() - 1); }));
        QVERIFY(told.withoutGaps(1));
        QCOMPARE(told.m_begun, 1);
    }

    void aCrashIsSeenAndALaterAttemptIsANewBeginning() {
        const Home home;
        std::int64_t next = 0;
        auto first = std::make_unique<PlayedRun>(home, 0, 1);
        Told told(home.places);
        for (int i = 1; i <= 50; ++i) first->post(step(i));
        next = first->next();
        QVERIFY(told.until([&](const Told& t) { return t.m_connected && t.isAt(next - 1); }));
        first.reset();  // without a last word
        QVERIFY(told.until([](const Told& t) { return !t.m_connected && t.m_seen && !t.m_seen->held; }));
        QCOMPARE(told.m_seen->row->state, std::string("running"));

        PlayedRun second(home, 20, next);
        for (int i = 21; i <= 60; ++i) second.post(step(i));
        QVERIFY(told.until([&](const Told& t) { return t.m_begun >= 2 && t.isAt(second.next() - 1); }));
        QVERIFY(told.withoutGaps(next));
    }

    // It gives numbers once more that were told of and never committed; the lease passes on without a gap.
    void anAttemptAfterEventsThatNobodyKeptIsANewBeginning() {
        const Home home;
        const auto lease = Lease::tryAcquire(home.places.lease(1));
        auto first = std::make_unique<PlayedRun>(home, 0, 1);
        Told told(home.places);
        const std::int64_t next = first->next();
        for (int i = 1; i <= 10; ++i) first->postUnrecorded(step(i));
        QVERIFY(told.until([&](const Told& t) { return t.m_connected && t.isAt(next + 9); }));
        first.reset();
        QVERIFY(told.until([](const Told& t) { return !t.m_connected; }));

        bool isHeard = false;
        PlayedRun second(home, 0, next, [&] { isHeard = told.until([](const Told& t) { return t.m_connected; }); });
        QVERIFY(isHeard);
        for (int i = 1; i <= 20; ++i) second.post(step(i));
        QVERIFY(told.until([&](const Told& t) { return t.isAt(second.next() - 1); }));
        QVERIFY(told.withoutGaps(next));
    }

    void controlsWaitForTheRunAndAreAnswered() {
        const Home home;
        Told told(home.places);
        told.follower().send({"pause"});
        QTest::qWait(50);
        PlayedRun run(home, 0, 1);
        QVERIFY(told.until([](const Told& t) { return t.m_answers == std::vector<std::string>{"pause"}; }));
        told.follower().send({"balance"});
        QVERIFY(told.until([](const Told& t) { return t.m_answers.size() == 2; }));
        QCOMPARE(told.m_answers.back(), std::string("spec.shares-of-shards"));
        QCOMPARE(run.heard(), (std::vector<std::string>{"pause", "balance"}));
    }

    void aHistoryThatIsGoneIsSaid() {
        const Home home;
        Places elsewhere = home.places;
        elsewhere.data = home.places.data / "nothing";
        Told told(elsewhere);
        QVERIFY(told.until([](const Told& t) { return t.m_seen && t.m_seen->history; }));
        QCOMPARE(told.m_seen->history->code, std::string("history.absent"));
    }

    void itStopsAtOnceHoweverLongItWouldWait() {
        const Home home;
        QElapsedTimer time;
        auto told = std::make_unique<Told>(home.places);
        QVERIFY(told->until([](const Told& t) { return t.m_seen.has_value(); }));
        time.start();
        told.reset();
        QVERIFY(time.elapsed() < 500);
    }
};

QTEST_GUILESS_MAIN(TestTrialFollower)
#include "tst_trial_follower.moc"
