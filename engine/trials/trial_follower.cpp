#include "engine/trials/trial_follower.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/session/lease.h"
#include "engine/session/local_socket.h"
#include "engine/trials/judged_state.h"

namespace lockstep {

namespace {

using namespace std::chrono_literals;

constexpr auto kRetry = 250ms, kIdle = 1000ms, kForever = -1ms;
constexpr int kGapTries = 40;
constexpr std::int64_t kAhead = 16;    // the history has a state event before the socket has
constexpr int kToleratedFailures = 8;  // a run that prepares, or has just ended, has no socket for a moment

}  // namespace

// Ends a wait from another thread.
struct TrialFollower::Wake {
    Descriptor event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

    void ring() const noexcept {
        const std::uint64_t once = 1;
        [[maybe_unused]] const auto rung = ::write(event.get(), &once, sizeof once);
    }
    void silence() const noexcept {
        std::uint64_t times = 0;
        [[maybe_unused]] const auto heard = ::read(event.get(), &times, sizeof times);
    }
};

TrialFollower::TrialFollower(Places places, std::int64_t trial, TrialListener& listener)
    : m_places(std::move(places)), m_trial(trial), m_listener(listener), m_wake(std::make_shared<Wake>()) {}

void TrialFollower::stop() noexcept {
    m_stopped = true;
    m_wake->ring();
}

void TrialFollower::send(const ControlCommand& control) {
    const std::lock_guard lock(m_mutex);
    m_waiting = control;
    m_wake->ring();
}

void TrialFollower::killEngine() {
    const std::lock_guard lock(m_mutex);
    m_kills = true;
    m_wake->ring();
}

void TrialFollower::follow() {
    while (!m_stopped) {
        TrialSighting sighting = look();
        if (beginsAgain()) m_next = 1;  // the history cannot be read: as far as the run itself tells
        if (sighting.held && !m_stopped) connect(sighting);
        if (m_stopped) return;
        m_listener.see(sighting);
        if (m_client) listen();
        else if (!sighting.held && sighting.row && isFinal(judgedState(*sighting.row, false))) waitForAttempt();
        else wait(sighting.held ? kRetry : kIdle);
    }
}

// A trial that has ended costs a look at its lease now and then: somebody may resume it, and take back a part.
void TrialFollower::waitForAttempt() {
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.reset();
        m_kills = false;
    }
    while (!m_stopped && !Lease::isHeld(m_places.lease(m_trial))) wait(kRetry);
    beginAgain();
}

// The lease first: whoever gives it up has written the row's last state before.
TrialSighting TrialFollower::look() {
    TrialSighting sighting;
    sighting.held = Lease::isHeld(m_places.lease(m_trial));
    try {
        read(sighting);
    } catch (const ProblemError& error) {
        sighting.history = error.problem();
    } catch (const std::exception& error) {
        sighting.history = Problem{m_places.history().string(), "history.unwritable", {error.what()}};
    }
    return sighting;
}

void TrialFollower::read(TrialSighting& sighting) {
    const auto opened = TrialQuery::open(m_places.history());
    if (!opened.ok()) throw ProblemError(opened.problems().front());
    const TrialQuery& query = *opened.value();
    sighting.row = query.find(m_trial);
    if (!sighting.row)
        throw ProblemError({m_places.history().string(), "history.no-such-trial", {std::to_string(m_trial)}});
    m_lastEvent = query.lastEvent(m_trial);
    if (beginsAgain() || sighting.row->attempts > m_attempts) return begin(query, *sighting.row);
    for (const auto& event : query.events(m_trial, m_next)) {
        if (event.number > m_next) m_listener.lost(event.number);
        take(event);
    }
}

void TrialFollower::begin(const TrialQuery& query, const TrialRow& row) {
    beginAgain();
    m_client.reset();
    m_listener.connected(false);
    const auto events = query.events(m_trial, 1);
    const std::int64_t next = events.empty() ? m_lastEvent + 1 : events.back().number + 1;
    m_listener.begin({query, row, events, next});
    m_next = next;
    m_attempts = row.attempts;
    m_awaitsWorld = !events.empty() && std::holds_alternative<WorldChanged>(events.back().event);
}

// A run whose last number is well behind ours is another attempt, after one whose last events were never committed. So
// is one that has told nothing yet, where we have had such events: it gives their numbers once more.
void TrialFollower::connect(TrialSighting& sighting) {
    auto client = SessionClient::connect(m_places.socket(m_trial));
    m_unanswered = client.ok() ? 0 : m_unanswered + 1;
    if (!client.ok()) {
        const Problem& problem = client.problems().front();
        if (problem.code != "session.not-running" || m_unanswered > kToleratedFailures) sighting.session = problem;
        return;
    }
    sighting = look();  // its attempt may have begun in the history since we looked
    const std::int64_t last = client.value()->hello().lastEvent;
    const bool isAnother = last > 0 ? last + kAhead < m_next : m_next > m_lastEvent + 1;
    if (isAnother || beginsAgain()) return beginAgain();
    if (client.value()->send(SubscribeCommand{m_next}).ok()) m_client = std::move(client).value();
}

// Until the connection ends, or another attempt has begun that nobody announced.
void TrialFollower::listen() {
    m_listener.connected(true);
    while (m_client && !m_stopped && !beginsAgain()) {
        sendWaiting();
        const auto line = m_client->readLine(0ms);
        if (!line) wait(kForever, m_client->fileDescriptor());
        else if (line->closed) m_client.reset();
        else onLine(line->text);
    }
    m_client.reset();
    if (!m_stopped) m_listener.connected(false);
}

void TrialFollower::onLine(const std::string& line) {
    if (line.starts_with("{\"n\":")) {
        const auto event = eventFromJsonLine(line);
        if (event.ok()) return onEvent(event.value());
        TrialSighting sighting;
        sighting.session = event.problems().front();
        return m_listener.see(sighting);
    }
    if (const auto dropped = droppedUntil(line)) return fill(*dropped + 1);
    if (const auto answer = controlAnswerFrom(line)) m_listener.answered(*answer);
}

void TrialFollower::onEvent(const NumberedEvent& event) {
    if (event.number == 0) return m_listener.take(event);
    const auto* started = std::get_if<RunStarted>(&event.event);
    const bool isLater = started && started->attempt > std::max<std::int64_t>(1, m_attempts);
    if (isLater && !m_awaitsWorld) return beginAgain();
    if (event.number > m_next && (!started || m_awaitsWorld)) fill(event.number);
    if (m_stopped || !m_client || event.number < m_next) return;
    take(event);
    if (isLater) m_attempts = started->attempt;
}

// What was dropped is in the history once it is committed there. Where the history goes on without it, it is lost.
void TrialFollower::fill(std::int64_t next) {
    for (int tries = 0; m_next < next && !m_stopped; ++tries) {
        const TrialSighting sighting = look();
        if (!m_client || m_next >= next) return;
        if (sighting.history || m_lastEvent >= next || tries >= kGapTries) {
            m_listener.lost(next);
            m_next = next;
            return;
        }
        sendWaiting();
        wait(kRetry);
    }
}

void TrialFollower::take(const NumberedEvent& event) {
    m_next = event.number + 1;
    if (std::holds_alternative<WorldChanged>(event.event)) m_awaitsWorld = true;
    if (std::holds_alternative<RunStarted>(event.event)) m_awaitsWorld = false;
    m_listener.take(event);
}

void TrialFollower::sendWaiting() {
    std::unique_lock lock(m_mutex);
    const auto control = std::exchange(m_waiting, std::nullopt);
    const bool kills = std::exchange(m_kills, false);
    lock.unlock();
    ucred peer{};
    socklen_t size = sizeof peer;
    if (kills && getsockopt(m_client->fileDescriptor(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
        ::kill(peer.pid, SIGKILL);
    if (!control) return;
    const auto sent = m_client->send(*control);
    if (!sent.ok()) m_listener.answered({{}, sent.problems().front()});
}

void TrialFollower::wait(std::chrono::milliseconds most, int alsoFor) {
    if (m_stopped) return;
    std::array<pollfd, 2> files{pollfd{m_wake->event.get(), POLLIN, 0}, pollfd{alsoFor, POLLIN, 0}};
    ::poll(files.data(), files.size(), static_cast<int>(most.count()));
    m_wake->silence();
}

}  // namespace lockstep
