#include "ui/run/open_runs.h"

#include "engine/history/trial_query.h"
#include "engine/session/lease.h"

namespace lockstep::ui {

namespace {

// None where the history cannot be read: the trials page says why.
std::vector<TrialRow> rowsOf(const Places& places, const TrialFilter& filter) {
    const auto query = TrialQuery::open(places.history());
    if (!query.ok()) return {};
    try {
        return query.value()->list(filter);
    } catch (const ProblemError&) {
        return {};
    }
}

}  // namespace

OpenRuns::OpenRuns(Places places, QObject* parent) : QObject(parent), m_places(std::move(places)) {}

RunFeed* OpenRuns::open(std::int64_t trial) {
    RunFeed*& feed = m_feeds[trial];
    if (feed) return feed;
    feed = new RunFeed(m_places, trial, this);
    RunFeed* const made = feed;
    emit opened(made);
    return made;
}

void OpenRuns::close(std::int64_t trial) {
    const auto found = m_feeds.find(trial);
    if (found == m_feeds.end()) return;
    RunFeed* const feed = found->second;
    m_feeds.erase(found);
    emit closed(trial);
    feed->deleteLater();
}

std::vector<std::int64_t> OpenRuns::trials() const {
    std::vector<std::int64_t> trials;
    for (const auto& [trial, feed] : m_feeds) trials.push_back(trial);
    return trials;
}

std::vector<std::int64_t> OpenRuns::running() const {
    std::vector<std::int64_t> trials;
    for (const auto& [trial, feed] : m_feeds) {
        if (!isFinal(feed->state()) && Lease::isHeld(m_places.lease(trial))) trials.push_back(trial);
    }
    return trials;
}

std::vector<std::int64_t> OpenRuns::findRunning() const {
    std::vector<std::int64_t> trials;
    for (const TrialRow& row : rowsOf(m_places, {.unended = true})) {
        if (Lease::isHeld(m_places.lease(row.id))) trials.push_back(row.id);
    }
    return trials;
}

bool OpenRuns::historyIsEmpty() const { return rowsOf(m_places, {.limit = 1}).empty(); }

}  // namespace lockstep::ui
