#include "engine/trials/trial_service.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>

#include "engine/core/error.h"
#include "engine/trials/control.h"
#include "engine/trials/judged_state.h"

namespace lockstep {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;

template <class T>
T required(Result<T> result) {
    if (!result.ok()) throw ProblemError(result.problems().front());
    return std::move(result).value();
}

RunState stateOf(const TrialRow& row) { return runStateFrom(row.state).value_or(RunState::Queued); }

TrialSeen seenIn(const TrialRow& row) { return {row.id, row.state, row.attempts}; }

}  // namespace

// A history that was moved away must not be read on. A reader without a log beside the file sees it as it was (a folder
// that may not be written to); once a writer has come, it must be opened anew.
TrialService::Identity TrialService::identity() const {
    const auto file = m_places.history();
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    std::error_code none;
    return {status.st_dev, status.st_ino, std::filesystem::exists(file.string() + "-wal", none)};
}

bool TrialService::open() {
    if (m_query && identity() == m_identity) return false;
    m_query.reset();
    auto query = TrialQuery::open(m_places.history());
    if (!query.ok() && query.problems().front().code == "history.older") {
        store();
        query = TrialQuery::open(m_places.history());
    }
    m_query = required(std::move(query));
    m_identity = identity();
    return true;
}

void TrialService::close() {
    m_query.reset();
    m_store.reset();
}

const TrialQuery& TrialService::query() {
    open();
    return *m_query;
}

TrialStore& TrialService::store() {
    if (m_store && identity().isSameFile(m_stored)) return *m_store;
    m_store.reset();
    m_store = required(TrialStore::open(m_places.history()));
    m_stored = identity();
    return *m_store;
}

void TrialService::settleCrashed() {
    TrialStore& writer = store();
    lockstep::settleCrashed(writer, query(), m_places);
}

std::vector<TrialRow> TrialService::list(const TrialFilter& filter) {
    auto rows = query().list(filter);
    judge(rows, *m_query, m_places);
    return rows;
}

TrialRow TrialService::row(std::int64_t trial) {
    const auto found = query().find(trial);
    if (!found) throw ProblemError({"trial", "trial.unknown", {std::to_string(trial), m_places.history().string()}});
    std::vector<TrialRow> one{*found};
    judge(one, *m_query, m_places);
    return one.front();
}

std::int64_t TrialService::create(const TrialSpec& spec) { return store().createTrial(spec, m_places.runs()); }

void TrialService::discard(std::int64_t trial) noexcept {
    try {
        purge(trial);
    } catch (const std::exception&) {
    }
}

TrialService::Controlled TrialService::control(std::int64_t trial, const ControlCommand& control) {
    const auto now = row(trial);
    const RunState state = stateOf(now);
    const bool ends = control.name == "stop" || control.name == "stop-after-epoch";
    if (state == RunState::Queued && ends && cancelQueued(trial)) return Controlled::Cancelled;
    if (!isUnderWay(state) && !Lease::isHeld(m_places.lease(trial)))
        throw ProblemError({"trial", "trial.not-running", {std::to_string(trial), now.state}});
    sendControl(m_places.socket(trial), control);
    return Controlled::Agreed;
}

bool TrialService::goOnInPlace(std::int64_t trial, const std::function<void()>& onWait) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (bool waits = false; Lease::isHeld(m_places.lease(trial)); waits = true) {
        if (letGoOn(trial)) return true;
        if (!waits) onWait();
        if (std::chrono::steady_clock::now() > deadline)
            throw ProblemError({"trial", "run.busy", {std::to_string(trial)}});
        std::this_thread::sleep_for(50ms);
    }
    row(trial);  // or say that there is none
    return false;
}

// Its row follows late: an engine that resumes opens its data first, and what a run was told it does between two steps.
// So it is asked itself. One that cannot be reached has not begun to listen, or does so no longer.
bool TrialService::letGoOn(std::int64_t trial) const {
    constexpr std::array<std::string_view, 3> kEnds{"run.stopping", "session.not-running", "trial.no-answer"};
    try {
        const auto client = SessionClient::connect(m_places.socket(trial));
        if (!client.ok()) throw ProblemError(client.problems().front());
        const auto state = runStateFrom(client.value()->hello().state);
        if (state && (isFinal(*state) || *state == RunState::Stopping)) return false;
        sendControl(*client.value(), {"resume"});
        return true;
    } catch (const ProblemError& error) {
        if (std::ranges::count(kEnds, error.problem().code) > 0) return false;
        throw;
    }
}

bool TrialService::changeState(const TrialRow& seen, RunState state) {
    const auto claim = tryClaim(seen.id);
    return claim && store().changeState(seenIn(seen), state);
}

bool TrialService::fail(const TrialRow& seen, const Problem& why) {
    const auto claim = tryClaim(seen.id);
    return claim && store().failTrial(seenIn(seen), failureFrom(why));
}

bool TrialService::cancelQueued(std::int64_t trial) {
    const auto row = query().find(trial);
    return row && stateOf(*row) == RunState::Queued && changeState(*row, RunState::Cancelled);
}

void TrialService::moveToTrash(std::int64_t trial) { remove(trial, false); }

void TrialService::restore(std::int64_t trial) { store().restoreTrial(row(trial).id); }

// Rows first: files that remain belong to no trial.
std::optional<Problem> TrialService::purge(std::int64_t trial) {
    const Claim claim = remove(trial, true);
    std::error_code failed;
    std::filesystem::remove_all(m_places.run(trial), failed);
    if (failed) return Problem{m_places.run(trial).string(), "trial.files-left", {failed.message()}};
    return std::nullopt;
}

TrialService::Claim TrialService::remove(std::int64_t trial, bool purge) {
    row(trial);  // or say that there is none
    auto claim = tryClaim(trial);
    const auto now = claim ? query().find(trial) : std::nullopt;
    if (!now || !store().deleteTrial(seenIn(*now), purge))
        throw ProblemError({"trial", "trial.running", {std::to_string(trial)}});
    return std::move(*claim);
}

std::optional<TrialService::Claim> TrialService::tryClaim(std::int64_t trial) const {
    try {
        auto lease = Lease::tryAcquire(m_places.lease(trial));
        if (lease) return Claim{std::move(lease)};
        return std::nullopt;
    } catch (const EngineError&) {
        return Claim{};
    }
}

}  // namespace lockstep
