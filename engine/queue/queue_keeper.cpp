#include "engine/queue/queue_keeper.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "engine/core/error.h"
#include "engine/queue/awaits.h"
#include "engine/queue/failure_cause.h"
#include "engine/queue/queue_problem.h"
#include "engine/trials/judged_state.h"

namespace lockstep {

namespace {

using namespace std::chrono_literals;

constexpr auto kTroublePause = 1s;
constexpr auto kLongestTrouble = 60s;
constexpr auto kLater = 5s;

std::filesystem::path leaseOf(const Places& places) { return places.data / "queue.lease"; }

// What a person mends while trials wait: they are lost to nobody.
bool waitsForDisk(const Problem& problem) { return problem.code == "launch.disk-full" || problem.code == "run.disk"; }

// It waits, and is tried again a little later.
bool isPassing(const Problem& problem) {
    constexpr std::string_view kCodes[] = {"device.busy",       "history.busy",        "history.full",
                                           "launch.unwritable", "engine.cannot-start", "engine.missing"};
    return std::ranges::find(kCodes, problem.code) != std::end(kCodes);
}

// Another engine has it, or has just done with it.
bool isElsewhere(const Problem& problem) {
    constexpr std::string_view kCodes[] = {"run.busy", "run.not-queued", "run.not-resumable", "run.other-attempt",
                                           "run.stopping"};
    return std::ranges::find(kCodes, problem.code) != std::end(kCodes);
}

// The same trial would fail in the same way: its numbers, or what a person must mend.
bool isForGood(const RunFailed& failed) {
    return failed.kind == text(EngineError::Kind::NonFinite) || problemIn(failed).has_value();
}

}  // namespace

QueueKeeper::QueueKeeper(QueueHost host, Lease lease)
    : m_host(std::move(host)),
      m_lease(std::move(lease)),
      m_trials(m_host.places),
      m_sweeps({m_trials, [this](std::int64_t trial) { return isTaken(trial); },
                [this](const std::string& line) { say(line); }}) {}

std::unique_ptr<QueueKeeper> QueueKeeper::claim(QueueHost host) {
    auto lease = Lease::tryAcquire(leaseOf(host.places));
    if (!lease) return nullptr;
    return std::unique_ptr<QueueKeeper>(new QueueKeeper(std::move(host), std::move(*lease)));
}

bool QueueKeeper::isKept(const Places& places) { return Lease::isHeld(leaseOf(places)); }

// A client writes first and looks for a keeper then; this one gives up its lease first and looks for work then: one of
// the two sees the other.
void QueueKeeper::run() {
    using Clock = std::chrono::steady_clock;
    auto busy = Clock::now(), sound = busy;
    for (;; std::this_thread::sleep_for(kPeriod)) {
        try {
            if (!m_lease) m_lease = Lease::tryAcquire(leaseOf(m_host.places));
            if (!m_lease) return;
            if (look()) busy = Clock::now();
            sound = Clock::now();
            if (Clock::now() - busy <= kPatience) continue;
            m_lease.reset();
            if (isUnchanged()) return;
            m_seen = -1;
            busy = Clock::now();
        } catch (const ProblemError& error) {
            if (error.problem().code == "history.absent") return;  // it was moved away: nothing is queued
            const bool isFull = error.problem().code == "history.full";
            say("trouble: " + wordsOf(error.problem()));
            if (!isFull && Clock::now() - sound > kLongestTrouble) throw;
            busy = Clock::now();
            m_seen = -1;  // what was seen is not done
            std::this_thread::sleep_for(kTroublePause);
        }
    }
}

bool QueueKeeper::look() {
    lookAtLaunches();
    if (isUnchanged()) return m_hasWork;
    std::vector<QueuedTrial> queue = readQueue();
    if (m_sweeps.grow(queue)) queue = readQueue();
    const auto reasons = waitReasons(queue, m_sweeps.limits(), roomBesides(queue));
    m_hasWork = needsKeeper(queue, reasons, m_sweeps.limits());
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const std::int64_t trial = queue[i].entry.trial;
        if (queue[i].isRunning) m_held.insert(trial);
        else if (reasons[i] == WaitReason::None && !m_notBefore.contains(trial)) start(queue[i]);
    }
    return m_hasWork;
}

bool QueueKeeper::isUnchanged() {
    const bool newlyOpened = m_trials.open();
    const std::int64_t version = m_trials.query().dataVersion();
    const auto isFree = [this](std::int64_t trial) { return !Lease::isHeld(m_host.places.lease(trial)); };
    const auto now = std::chrono::steady_clock::now();
    const auto mayNow = std::erase_if(m_notBefore, [now](const auto& each) { return each.second <= now; });
    const bool changed =
        newlyOpened || version != m_seen || m_answered || mayNow > 0 || std::ranges::any_of(m_held, isFree);
    m_seen = version;
    m_answered = false;
    if (changed) m_held.clear();
    return !changed;
}

void QueueKeeper::lookAtLaunches() {
    for (auto at = m_launches.begin(); at != m_launches.end();) {
        auto& [trial, launch] = *at;
        const auto outcome = launch.look();
        if (!outcome) {
            ++at;
            continue;
        }
        m_answered = true;
        const std::int64_t which = trial;
        at = m_launches.erase(at);
        if (outcome->problems.empty()) stopUnlessWanted(which);
        else answer(which, *outcome);
    }
}

// Somebody has taken it out, put it into the trash, or cancelled its sweep, when its engine was started and could not
// be told yet.
void QueueKeeper::stopUnlessWanted(std::int64_t trial) {
    const QueueQuery query(m_trials.query());
    const auto entries = query.entries();
    const auto entry = std::ranges::find(entries, trial, &QueueEntry::trial);
    const auto row = m_trials.query().find(trial);
    const bool isOut = entry == entries.end() || !row || row->deleted;
    const auto group = isOut || !entry->place || entry->asked ? std::nullopt : query.group(entry->place->group);
    if (!isOut && !(group && group->state == GroupState::Cancelled)) return;
    try {
        m_trials.control(trial, {"stop"});
    } catch (const ProblemError& error) {
        say("trial " + std::to_string(trial) + " was not stopped: " + wordsOf(error.problem()));
    }
}

void QueueKeeper::answer(std::int64_t trial, const Launch::Outcome& outcome) {
    const Problem& problem = outcome.problems.front();
    say("trial " + std::to_string(trial) + " was not started: " + wordsOf(problem));
    if (isElsewhere(problem)) return;
    if (waitsForDisk(problem)) return;  // see mayBeMended()
    if (isPassing(problem)) {
        m_notBefore[trial] = std::chrono::steady_clock::now() + kLater;
        return;
    }
    const bool mayRetry = outcome.failed || problem.code.starts_with("launch.");
    const auto entries = QueueQuery(m_trials.query()).entries();
    const auto entry = std::ranges::find(entries, trial, &QueueEntry::trial);
    if (entry == entries.end() || (mayRetry && entry->tries <= entry->retries)) return;
    const auto row = m_trials.query().find(trial);
    const bool hadBegun = row && row->attempts > 0;
    fail(trial, hadBegun && Launch::saidNothing(problem)
                    ? noLastWord(trial, row->epoch, std::max(row->attempts, entry->tries))
                    : problem);
}

// A trial that was refused before it began says why, as one does that failed on its way.
void QueueKeeper::fail(std::int64_t trial, const Problem& problem) {
    const auto row = m_trials.query().find(trial);
    if (row && row->state != text(RunState::Finished)) m_trials.fail(*row, problem);
}

std::vector<QueuedTrial> QueueKeeper::readQueue() {
    const TrialQuery& query = m_trials.query();
    const auto entries = QueueQuery(query).entries();
    std::vector<QueuedTrial> queue;
    for (const QueueEntry& each : entries) {
        auto trial = lookAt(each, entries);
        if (trial) queue.push_back(std::move(*trial));
    }
    return queue;
}

// What it failed of passes, or waits for a person: a full disk, who lets the trial go on by releasing it.
bool QueueKeeper::mayBeMended(QueuedTrial& trial) {
    if (trial.state != RunState::Failed) return false;
    const auto failed = m_trials.query().failure(trial.entry.trial);
    const auto problem = failed ? problemIn(*failed) : std::nullopt;
    trial.retries = !failed || !isForGood(*failed);
    if (problem && waitsForDisk(*problem) && trial.entry.asked != trial.attempts && !trial.entry.held) {
        queueStore().setHeld(trial.entry.trial, true);
        trial.entry.held = true;
    }
    return problem && (waitsForDisk(*problem) || isPassing(*problem));
}

// Empty: the queue has done with it, and it is taken out.
std::optional<QueuedTrial> QueueKeeper::lookAt(const QueueEntry& entry, const std::vector<QueueEntry>& entries) {
    const bool isHeld = Lease::isHeld(m_host.places.lease(entry.trial));
    const auto row = m_trials.query().find(entry.trial);
    if (!row) return std::nullopt;
    QueuedTrial trial{.entry = entry, .state = judgedState(*row, isHeld)};
    trial.isRunning = isHeld || m_launches.contains(entry.trial);
    trial.attempts = row->attempts;
    if (entry.place) trial.group = entry.place->group;
    trial.demand = demandOfTrial(row->devices);
    trial.awaitsOther = awaits(entry, entries, m_trials.query(), m_host.places);
    if (trial.isRunning) return trial;
    if (trial.state == RunState::Crashed && hasComeToItsRung(entry)) {
        trial.isRunning = !m_trials.changeState(*row, RunState::Stopped);
        if (trial.isRunning) return trial;  // somebody has just begun to run it
        trial.state = RunState::Stopped;
    }
    const bool mayStart = mayBeMended(trial) || outlookOf(trial) == Outlook::Start;
    if (mayStart && !row->deleted) return trial;
    trial.isRunning = !takeOut(trial, *row);
    return trial.isRunning ? std::optional(trial) : std::nullopt;
}

// Its engine died between the evaluation there and its own end.
bool QueueKeeper::hasComeToItsRung(const QueueEntry& entry) {
    if (!entry.untilEpoch) return false;
    const auto epochs = m_trials.query().bestEpochs(entry.trial);
    return std::ranges::any_of(epochs, [&](std::int64_t each) { return each >= *entry.untilEpoch; });
}

// False: somebody has just begun to run it.
bool QueueKeeper::takeOut(const QueuedTrial& trial, const TrialRow& seen) {
    const bool isUnsaid = trial.state == RunState::Crashed && seen.state != text(RunState::Crashed);
    if (isUnsaid && !m_trials.changeState(seen, RunState::Crashed)) return false;
    queueStore().remove(seen.id);
    say("trial " + std::to_string(seen.id) + " has " + std::string(text(trial.state)));
    return true;
}

Demand QueueKeeper::demandOfTrial(const std::string& devices) {
    const auto known = m_demands.find(devices);
    if (known != m_demands.end()) return known->second;
    return m_demands.emplace(devices, demandOf(devices, m_host.devices)).first->second;
}

// What runs outside the queue: a person started it by hand.
Room QueueKeeper::roomBesides(const std::vector<QueuedTrial>& queue) {
    Room room(wholeMachine(m_host.devices));
    for (const auto& each : QueueQuery(m_trials.query()).underWay()) {
        const bool isOurs =
            std::ranges::any_of(queue, [&](const QueuedTrial& queued) { return queued.entry.trial == each.trial; });
        if (isOurs || !Lease::isHeld(m_host.places.lease(each.trial))) continue;
        m_held.insert(each.trial);
        room.take(demandOfTrial(each.devices));
    }
    return room;
}

void QueueKeeper::start(const QueuedTrial& trial) {
    const std::int64_t which = trial.entry.trial;
    const auto row = m_trials.query().find(which);
    if (!row) return;
    if (!queueStore().countTry(which, row->step)) return;  // it has just been taken out
    // An engine that was killed when it was about to go on leaves its trial queued.
    const bool begins = trial.state == RunState::Queued && row->attempts == 0;
    say("trial " + std::to_string(which) + (begins ? " begins" : " goes on"));
    try {
        // What paused at a rung may have been freed or damaged since: trained anew, a sweep's trials say the same.
        const auto goesOn = trial.entry.place ? Launch::Kind::ResumeOrStartAgain : Launch::Kind::Resume;
        const auto kind = begins ? Launch::Kind::Begin : goesOn;
        // Of a keeper that was killed an engine may be on its way yet: the trial goes on with one of the two.
        m_launches.emplace(
            which, Launch(m_host.program, m_host.places, which, kind, trial.entry.untilEpoch, trial.attempts + 1));
    } catch (const ProblemError& error) {
        answer(which, {{error.problem()}, true});
    }
}

// An engine has it, or one was started for it and has not answered yet.
bool QueueKeeper::isTaken(std::int64_t trial) const {
    return m_launches.contains(trial) || Lease::isHeld(m_host.places.lease(trial));
}

std::string QueueKeeper::wordsOf(const Problem& problem) const {
    return m_host.words ? m_host.words(problem) : problem.code + " " + problem.field;
}

void QueueKeeper::say(const std::string& line) const {
    if (m_host.log) m_host.log(line);
}

}  // namespace lockstep
