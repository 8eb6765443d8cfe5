#include "ui/run/run_feed.h"

#include <signal.h>
#include <sys/socket.h>

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMetaObject>
#include <QThreadPool>
#include <mutex>

#include "engine/session/lease.h"

namespace lockstep::ui {

namespace {

constexpr int kRetryMs = 250, kIdleMs = 1000;
constexpr int kReadingMs = 4;  // of the GUI thread at a time
constexpr int kGapTries = 40;
constexpr std::int64_t kAhead = 16;    // the history has a state event before the socket has
constexpr int kToleratedFailures = 8;  // a run that prepares, or has just ended, has no socket for a moment

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

// Lets a thread of the pool answer a feed that may be gone by then.
struct RunFeed::Mailbox {
    std::mutex mutex;
    RunFeed* feed = nullptr;

    void deliver(std::shared_ptr<RunSnapshot> snapshot) {
        const std::lock_guard lock(mutex);
        if (!feed) return;
        QMetaObject::invokeMethod(
            feed, [to = feed, snapshot] { to->see(std::move(*snapshot)); }, Qt::QueuedConnection);
    }
};

RunFeed::RunFeed(Places places, std::int64_t trial, QObject* parent)
    : QObject(parent), m_places(std::move(places)), m_trial(trial), m_mailbox(std::make_shared<Mailbox>()) {
    m_mailbox->feed = this;
    m_notify.setSingleShot(true);
    m_next.setSingleShot(true);
    connect(&m_notify, &QTimer::timeout, this, &RunFeed::tell);
    connect(&m_next, &QTimer::timeout, this, &RunFeed::checkLease);
    look(true);
}

RunFeed::~RunFeed() {
    const std::lock_guard lock(m_mailbox->mutex);
    m_mailbox->feed = nullptr;
}

std::vector<Problem> RunFeed::problems() const {
    std::vector<Problem> all;
    for (const auto& each : {m_historyProblem, m_sessionProblem, m_requestProblem}) {
        if (each) all.push_back(*each);
    }
    return all;
}

void RunFeed::look(bool connect) {
    if (m_busy) return;
    m_busy = true;
    const SnapshotRequest request{m_trial, m_whole ? std::nullopt : std::optional(m_record.next()), connect};
    QThreadPool::globalInstance()->start([mailbox = m_mailbox, places = m_places, request] {
        mailbox->deliver(std::make_shared<RunSnapshot>(readSnapshot(places, request)));
    });
}

void RunFeed::lookLater(int milliseconds) { m_next.start(milliseconds); }

// A trial that has ended costs a look at its lease now and then: somebody may resume it.
void RunFeed::checkLease() {
    if (m_gapEnd > 0) return look(false);
    const bool over = m_row && isFinal(state());
    if (over && !Lease::isHeld(m_places.lease(m_trial))) return lookLater(kIdleMs);
    if (over) m_whole = true;  // a later attempt takes back a part of this one
    look(true);
}

void RunFeed::see(RunSnapshot snapshot) {
    m_busy = false;
    m_historyProblem = snapshot.history;
    m_hasCheckpoint = snapshot.hasCheckpoint;
    if (!m_whole && snapshot.row && snapshot.row->attempts > m_attempts) return startOver();
    if (snapshot.row) m_row = snapshot.row;
    takeSeen(snapshot);
    settleState(snapshot);
    if (m_gapEnd > 0) endGap(snapshot);
    m_failures = snapshot.session ? m_failures + 1 : 0;
    m_sessionProblem.reset();
    if (snapshot.session && (snapshot.session->code != "session.not-running" || m_failures > kToleratedFailures)) {
        m_sessionProblem = snapshot.session;
    }
    if (snapshot.client) adopt(std::move(snapshot.client));
    if (!m_client || m_gapEnd > 0) goOn(snapshot.held);
    noteChange();
}

void RunFeed::takeSeen(RunSnapshot& snapshot) {
    if (snapshot.record) {
        m_record = std::move(*snapshot.record);
        m_attempts = snapshot.row->attempts;
        m_isReproducible = snapshot.spec && snapshot.spec->reproducible();
    }
    if (snapshot.record || snapshot.history) m_whole = false;
    for (const auto& event : snapshot.events) {
        if (m_record.take(event) != RunRecord::Taken::Gap) continue;
        m_record.giveUpUntil(event.number);
        m_record.take(event);
    }
}

// Events say more than the row while they come; the row says what came to pass without one.
void RunFeed::settleState(const RunSnapshot& snapshot) {
    if (!snapshot.row) return;
    const RunState seen = stateSeen(*snapshot.row, snapshot.held);
    const bool told = m_record.started() && !isFinal(seen);
    if (!told && !m_client) m_record.setState(seen);
    if (m_asked && isFollowed(*m_asked, state())) m_asked.reset();
}

void RunFeed::goOn(bool held) {
    const bool over = isFinal(state()) && !held;
    lookLater(over || !held ? kIdleMs : kRetryMs);
}

void RunFeed::startOver() {
    hangUp();
    m_whole = true;
    m_gapEnd = 0;
    look(true);
}

void RunFeed::hangUp() {
    m_notifier.reset();
    m_client.reset();
}

// A run whose last number is well behind ours is another attempt, after one whose last steps were never committed.
void RunFeed::adopt(std::unique_ptr<SessionClient> client) {
    if (client->hello().lastEvent > 0 && client->hello().lastEvent + kAhead < m_record.next()) return startOver();
    m_client = std::move(client);
    if (const auto sent = m_client->send(SubscribeCommand{m_record.next()}); !sent.ok()) return hangUp();
    m_notifier = std::make_unique<QSocketNotifier>(m_client->fileDescriptor(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &RunFeed::readSocket);
    if (m_asked && !m_askedSent) sendAsked();
}

// The notifier tells of bytes that have come, not of lines that the client already holds: read it dry, or again soon.
void RunFeed::readSocket() {
    if (!m_client || m_gapEnd > 0) return;
    m_notifier->setEnabled(false);
    QElapsedTimer spent;
    spent.start();
    while (m_client && m_gapEnd == 0) {
        if (spent.elapsed() >= kReadingMs) {
            QTimer::singleShot(0, this, &RunFeed::readSocket);
            return;
        }
        const auto line = m_client->readLine(std::chrono::milliseconds(0));
        if (!line) {
            m_notifier->setEnabled(true);
            return;
        }
        if (line->closed) {
            hangUp();
            look(true);
            return;
        }
        onLine(line->text);
    }
}

void RunFeed::onLine(const std::string& line) {
    if (!line.starts_with("{\"n\":")) return onReply(line);
    const auto event = eventFromJsonLine(line);
    if (event.ok()) onEvent(event.value());
    else m_sessionProblem = event.problems().front();
}

void RunFeed::onEvent(const NumberedEvent& event) {
    const auto* started = std::get_if<RunStarted>(&event.event);
    const bool isLater = started && started->attempt > std::max<std::int64_t>(1, m_attempts);
    if (isLater && !m_record.awaitsWorld()) return startOver();
    const auto taken = m_record.take(event);
    if (isLater && taken == RunRecord::Taken::Added) m_attempts = started->attempt;
    if (taken == RunRecord::Taken::Gap) {
        m_gapEnd = event.number;  // the history has this one, too, or will
        m_gapTries = 0;
        look(false);
    }
    if (m_asked && isFollowed(*m_asked, state())) m_asked.reset();
    if (std::holds_alternative<StepDone>(event.event)) noteStep();
    else noteChange();
}

void RunFeed::onReply(const std::string& line) {
    const QJsonObject reply = QJsonDocument::fromJson(QByteArray::fromStdString(line)).object();
    if (const QJsonObject dropped = reply["dropped"].toObject(); !dropped.isEmpty()) {
        const auto to = static_cast<std::int64_t>(dropped["to"].toDouble());
        if (to < m_record.next()) return;
        m_gapEnd = to;
        m_gapTries = 0;
        look(false);
    }
    if (const QJsonObject error = reply["error"].toObject(); !error.isEmpty()) {
        Problem problem{error["field"].toString().toStdString(), error["code"].toString().toStdString(), {}};
        for (const auto& arg : error["args"].toArray()) problem.args.push_back(arg.toString().toStdString());
        m_requestProblem = std::move(problem);
        m_asked.reset();
        noteChange();
    }
    if (m_asked && isOfTheWorld(*m_asked) && reply["ok"].toString().toStdString() == commandOf(*m_asked)) {
        m_asked.reset();
        noteChange();
    }
}

// What was dropped is in the history once it is committed there. Where the history goes on without it, it is lost.
void RunFeed::endGap(const RunSnapshot& snapshot) {
    const bool hopeless = snapshot.history || snapshot.lastEvent > m_gapEnd || ++m_gapTries > kGapTries || !m_client;
    if (m_record.next() <= m_gapEnd) {
        if (!hopeless) return;
        m_record.giveUpUntil(m_gapEnd + 1);
    }
    m_gapEnd = 0;
    if (m_client) QTimer::singleShot(0, this, &RunFeed::readSocket);
}

RunActions RunFeed::actions() const {
    return RunActions(state(), m_hasCheckpoint || !m_record.checkpoints().empty(), devices() > 1 && !m_isReproducible);
}

void RunFeed::scaleTo(int devices) {
    m_askedDevices = devices;
    ask(RunAction::Scale);
}

void RunFeed::ask(RunAction action) {
    if (isFinal(state())) return;
    m_asked = action;
    m_askedSent = false;
    m_requestProblem.reset();
    if (m_client) sendAsked();
    noteChange();
}

void RunFeed::sendAsked() {
    m_askedSent = true;
    if (*m_asked == RunAction::Kill) return killEngine();
    const auto sent = m_client->send(ControlCommand{commandOf(*m_asked), m_askedDevices});
    if (sent.ok()) return;
    m_requestProblem = sent.problems().front();
    m_asked.reset();
}

void RunFeed::killEngine() {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(m_client->fileDescriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0) {
        ::kill(peer.pid, SIGKILL);
    }
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
