#include "engine/queue/queue_service.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <thread>
#include <utility>

#include "engine/queue/awaits.h"
#include "engine/queue/queue_keeper.h"
#include "engine/trials/detached_process.h"
#include "engine/trials/judged_state.h"

namespace lockstep {

namespace {

constexpr auto kStopPatience = std::chrono::seconds(10);
constexpr auto kStartPatience = std::chrono::seconds(3);
constexpr auto kPause = std::chrono::milliseconds(30);

// One that has grown is put aside, in place of the one before.
void keepSmall(const std::filesystem::path& log) {
    constexpr std::uintmax_t kLongestLog = 1 << 20;
    std::error_code none;
    const auto size = std::filesystem::file_size(log, none);
    if (!none && size > kLongestLog) std::filesystem::rename(log, log.string() + ".1", none);
}

// Whoever follows `after` from trial to trial comes back to where he began.
bool leadsBack(const std::vector<QueueEntry>& entries, std::int64_t trial, std::int64_t after) {
    std::set<std::int64_t> seen{trial};
    for (std::int64_t at = after;;) {
        if (!seen.insert(at).second) return true;
        const auto entry = std::ranges::find(entries, at, &QueueEntry::trial);
        if (entry == entries.end() || !entry->after) return false;
        at = *entry->after;
    }
}

}  // namespace

QueueService::QueueService(TrialService& trials, std::filesystem::path program)
    : m_trials(trials), m_program(std::move(program)) {}

bool QueueService::isKept() const { return QueueKeeper::isKept(m_trials.places()); }

void QueueService::startKeeper() {
    if (isKept()) return;
    const std::filesystem::path log = m_trials.places().data / "queue.log";
    keepSmall(log);
    startDetached({m_program, {"queue", "keep"}, log});
}

// Whoever is told that it did not start must not find it started later.
void QueueService::startOrElse(const std::function<void()>& takeBack) {
    try {
        startKeeper();
    } catch (const ProblemError&) {
        takeBack();
        throw;
    }
}

bool QueueService::keepGoing() {
    if (isKept() || !hasWork()) return false;
    startKeeper();
    return true;
}

// What the queue has done with is taken out of it, held or not.
bool QueueService::hasWork() {
    const auto groups = openSweeps();
    const Reading now = read(groups);
    const auto isOver = [](const QueuedTrial& each) { return !each.isRunning && outlookOf(each) == Outlook::Ended; };
    return needsKeeper(now.queue, now.reasons, groups) || std::ranges::any_of(now.queue, isOver);
}

// How many may run at once, and which of them the machine has room for, the keeper knows.
std::map<std::int64_t, GroupLimit> QueueService::openSweeps() {
    std::map<std::int64_t, GroupLimit> groups;
    for (const TrialGroup& each : query().groups(true)) {
        if (each.kind != "sweep") continue;
        const bool isPaused = each.state == GroupState::Paused;
        if (isPaused || each.state == GroupState::Active)
            groups[each.id] = {std::numeric_limits<std::int64_t>::max(), isPaused};
    }
    return groups;
}

std::vector<QueueLine> QueueService::list() {
    Reading now = read(openSweeps());
    for (std::size_t i = 0; i < now.lines.size(); ++i) now.lines[i].reason = now.reasons[i];
    return std::move(now.lines);
}

QueueService::Reading QueueService::read(const std::map<std::int64_t, GroupLimit>& groups) {
    Reading now;
    const auto entries = query().entries();
    for (const QueueEntry& entry : entries) {
        auto row = m_trials.query().find(entry.trial);
        if (!row || row->deleted) continue;
        const bool isHeld = Lease::isHeld(m_trials.places().lease(entry.trial));
        const RunState state = judgedState(*row, isHeld);
        row->state = text(state);
        QueuedTrial trial{.entry = entry, .state = state, .isRunning = isHeld, .attempts = row->attempts};
        if (entry.place) trial.group = entry.place->group;
        trial.awaitsOther = awaits(entry, entries, m_trials.query(), m_trials.places());
        now.queue.push_back(trial);
        now.lines.push_back({entry, std::move(*row), isHeld});
    }
    now.reasons = waitReasons(now.queue, groups, Room(Demand()));
    return now;
}

std::int64_t QueueService::addTrial(const TrialSpec& spec, const QueueEntry& how) {
    const std::int64_t trial = store().createTrial(spec, m_trials.places().runs(), how, std::nullopt);
    startOrElse([&] { m_trials.discard(trial); });
    return trial;
}

void QueueService::add(std::int64_t trial, const QueueEntry& how) {
    const TrialRow row = m_trials.row(trial);
    if (row.deleted) throw ProblemError({"trial", "queue.in-trash", {std::to_string(trial)}});
    if (row.state == text(RunState::Finished)) throw ProblemError({"trial", "queue.finished", {std::to_string(trial)}});
    QueueEntry entry = how;
    entry.trial = trial;
    entry.step = row.step;
    if (const auto state = runStateFrom(row.state); state && isFinal(*state)) entry.asked = row.attempts;
    store().add(entry);
    startKeeper();
}

void QueueService::moveBefore(std::int64_t trial, std::int64_t other) {
    requireWaiting(trial);
    store().moveBefore(trial, other);
    startKeeper();
}

// Before all that wait, whatever their priority.
void QueueService::moveFirst(std::int64_t trial) {
    requireWaiting(trial);
    for (const QueueLine& each : list()) {
        if (each.entry.trial == trial) break;
        if (!each.isRunning) return moveBefore(trial, each.entry.trial);
    }
    moveBefore(trial, trial);  // or say that it is not there
}

void QueueService::setPriority(std::int64_t trial, std::int64_t priority) {
    store().setPriority(trial, priority);
    startKeeper();
}

void QueueService::setHeld(std::int64_t trial, bool held) {
    if (held) requireWaiting(trial);
    store().setHeld(trial, held);
    startKeeper();
}

void QueueService::setAfter(std::int64_t trial, std::optional<std::int64_t> other) {
    if (other) {
        requireWaiting(trial);
        m_trials.row(*other);  // or say that there is none
        if (leadsBack(query().entries(), trial, *other))
            throw ProblemError({"after", "queue.circle", {std::to_string(trial), std::to_string(*other)}});
    }
    store().setAfter(trial, other);
    startKeeper();
}

bool QueueService::runs(std::int64_t trial) const { return Lease::isHeld(m_trials.places().lease(trial)); }

void QueueService::requireWaiting(std::int64_t trial) const {
    if (runs(trial)) throw ProblemError({"trial", "queue.runs", {std::to_string(trial)}});
}

// The keeper counts a try before it starts an engine, and none of what is held.
bool QueueService::hasBegunYet(std::int64_t trial) {
    const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
    while (!runs(trial)) {
        const auto entries = query().entries();
        const auto entry = std::ranges::find(entries, trial, &QueueEntry::trial);
        if (entry == entries.end() || entry->tries <= 0) return false;
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(kPause);
    }
    return true;
}

// A trial that has begun meanwhile is asked to stop; so it is taken out first, or the keeper would start it again.
void QueueService::cancel(std::int64_t trial) {
    m_trials.row(trial);
    store().remove(trial);
    cancelQuietly(trial);
}

// An engine that has just begun does not listen yet, and one that is about to end does no longer.
void QueueService::cancelQuietly(std::int64_t trial) {
    const auto deadline = std::chrono::steady_clock::now() + kStopPatience;
    for (;;) {
        try {
            m_trials.control(trial, {"stop"});
            return;
        } catch (const ProblemError& error) {
            const std::string& code = error.problem().code;
            if (code == "trial.not-running") return;
            const bool begins = code == "session.not-running" || code == "trial.running";
            if (!begins || std::chrono::steady_clock::now() > deadline) throw;
        }
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace lockstep
