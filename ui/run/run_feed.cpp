#include "ui/run/run_feed.h"

#include <QElapsedTimer>
#include <QMetaObject>
#include <QThreadPool>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/trials/judged_state.h"

namespace lockstep::ui {

namespace {

constexpr int kReadingMs = 4;  // of the GUI thread at a time
constexpr std::size_t kMostWaiting = 8192;

std::string commandOf(RunAction action) {
    switch (action) {
        case RunAction::Pause: return "pause";
        case RunAction::Resume: return "resume";
        case RunAction::FinishEpoch: return "stop-after-epoch";
        case RunAction::Scale: return "scale-to";
        case RunAction::Balance: return "balance";
        default: return "stop";
    }
}

// These change what the run is made of and not its state: they are followed once the run has agreed.
bool isOfTheWorld(RunAction action) { return action == RunAction::Scale || action == RunAction::Balance; }

// Whether the state is where the request wanted to go, or beyond its reach.
bool isFollowed(RunAction action, RunState state) {
    switch (action) {
        case RunAction::Pause: return state == RunState::Paused || isFinal(state) || state == RunState::Stopping;
        case RunAction::Resume: return state != RunState::Paused;
        case RunAction::FinishEpoch:
        case RunAction::StopNow: return isFinal(state) || state == RunState::Stopping;
        default: return isFinal(state);
    }
}

}  // namespace

// Takes what the follower tells to the GUI thread. While that has not taken it, the follower waits, and a run's server
// lets go of steps, which the history has. Outlives its feed until the follower has returned.
class RunFeed::Inbox : public TrialListener {
public:
    Inbox(RunFeed& feed, const Places& places, std::int64_t trial)
        : m_places(places), m_trial(trial), m_follower(places, trial, *this), m_feed(&feed) {}

    TrialFollower& follower() { return m_follower; }
    void close() {
        m_follower.stop();
        const std::lock_guard lock(m_mutex);
        m_feed = nullptr;
        m_room.notify_all();
    }
    std::optional<News> next() {
        const std::lock_guard lock(m_mutex);
        if (m_waiting.empty()) return std::nullopt;
        News news = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_room.notify_all();
        return news;
    }

    void begin(const TrialBeginning& beginning) override {
        put(std::make_shared<RunSnapshot>(readSnapshot(m_places, beginning)));
    }
    void take(const NumberedEvent& event) override { put(event); }
    void lost(std::int64_t next) override { put(Lost{next}); }
    void see(const TrialSighting& sighting) override { put(Seen{sighting, hasCheckpoint(m_places, m_trial)}); }
    void connected(bool connected) override { put(Heard{connected}); }
    void answered(const ControlAnswer& answer) override { put(answer); }

private:
    void put(News news) {
        std::unique_lock lock(m_mutex);
        m_room.wait(lock, [this] { return !m_feed || m_waiting.size() < kMostWaiting; });
        if (!m_feed) return;
        m_waiting.push_back(std::move(news));
        if (m_waiting.size() == 1) QMetaObject::invokeMethod(m_feed, &RunFeed::drain, Qt::QueuedConnection);
    }

    const Places m_places;
    const std::int64_t m_trial;
    TrialFollower m_follower;
    std::mutex m_mutex;
    std::condition_variable m_room;
    RunFeed* m_feed;  // empty: gone
    std::deque<News> m_waiting;
};

RunFeed::RunFeed(Places places, std::int64_t trial, QObject* parent)
    : QObject(parent),
      m_places(std::move(places)),
      m_trial(trial),
      m_inbox(std::make_shared<Inbox>(*this, m_places, trial)),
      m_thread([inbox = m_inbox] { inbox->follower().follow(); }) {
    m_notify.setSingleShot(true);
    connect(&m_notify, &QTimer::timeout, this, &RunFeed::tell);
}

// Its thread may wait for a disk or a run that is slow to answer: the program's end waits for it, the window does not.
RunFeed::~RunFeed() {
    m_inbox->close();
    QThreadPool::globalInstance()->start(
        [thread = std::make_shared<std::thread>(std::move(m_thread))] { thread->join(); });
}

std::vector<Problem> RunFeed::problems() const {
    std::vector<Problem> all;
    for (const auto& each : {m_historyProblem, m_sessionProblem, m_requestProblem}) {
        if (each) all.push_back(*each);
    }
    return all;
}

void RunFeed::drain() {
    QElapsedTimer spent;
    spent.start();
    while (const auto news = m_inbox->next()) {
        std::visit([this](const auto& each) { on(each); }, *news);
        if (spent.elapsed() < kReadingMs) continue;
        QTimer::singleShot(0, this, &RunFeed::drain);
        return;
    }
}

void RunFeed::on(const std::shared_ptr<RunSnapshot>& snapshot) {
    m_record = std::move(snapshot->record);
    m_isReproducible = snapshot->isReproducible;
    m_loading = false;
    noteChange();
}

void RunFeed::on(const NumberedEvent& event) {
    m_record.take(event);
    forgetFollowed();
    if (std::holds_alternative<StepDone>(event.event)) noteStep();
    else noteChange();
}

void RunFeed::on(const Lost& lost) { m_record.giveUpUntil(lost.next); }

// Events say more than the row while they come; the row says what came to pass without one.
void RunFeed::on(const Seen& seen) {
    const auto& [held, row, history, session] = seen.sighting;
    m_historyProblem = history;
    m_sessionProblem = session;
    m_hasCheckpoint = seen.hasCheckpoint;
    if (row) m_row = row;
    if (row || history) m_loading = false;
    if (row && !m_connected) {
        const RunState state = judgedState(*row, held);
        if (!m_record.started() || isFinal(state)) m_record.setState(state);
        forgetFollowed();
    }
    noteChange();
}

void RunFeed::on(const Heard& heard) {
    m_connected = heard.connected;
    noteChange();
}

void RunFeed::on(const ControlAnswer& answer) {
    if (answer.refused) m_requestProblem = answer.refused;
    const bool agreed = m_asked && isOfTheWorld(*m_asked) && answer.agreed == commandOf(*m_asked);
    if (answer.refused || agreed) m_asked.reset();
    noteChange();
}

void RunFeed::forgetFollowed() {
    if (m_asked && isFollowed(*m_asked, state())) m_asked.reset();
}

RunActions RunFeed::actions() const {
    const bool canGoOn = keepsCheckpoint() || m_record.step() == 0;  // without a step it begins again
    return RunActions(state(), canGoOn, devices() > 1 && !m_isReproducible);
}

void RunFeed::scaleTo(int devices) {
    m_askedDevices = devices;
    ask(RunAction::Scale);
}

void RunFeed::ask(RunAction action) {
    if (isFinal(state())) return;
    m_asked = action;
    m_requestProblem.reset();
    if (action == RunAction::Kill) m_inbox->follower().killEngine();
    else m_inbox->follower().send({commandOf(action), m_askedDevices});
    noteChange();
}

// Steps come by the hundred; what else happens, a person waits for.
void RunFeed::noteStep() {
    if (!m_notify.isActive()) m_notify.start(m_interval);
}

void RunFeed::noteChange() {
    if (!m_notify.isActive() || m_notify.remainingTimeAsDuration() > UpdatePace::kShortest)
        m_notify.start(UpdatePace::kShortest);
}

void RunFeed::tell() {
    m_interval = m_pace.next();
    emit changed();
}

}  // namespace lockstep::ui
