#include "ui/controllers/open_runs.h"

#include "engine/history/trial_query.h"
#include "engine/session/lease.h"

namespace lockstep::ui {

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
    const auto query = TrialQuery::open(m_places.history());
    if (!query.ok()) return trials;
    for (const TrialRow& row : query.value()->list({})) {
        const auto state = runStateFrom(row.state);
        if (state && !isFinal(*state) && Lease::isHeld(m_places.lease(row.id))) trials.push_back(row.id);
    }
    return trials;
}

bool OpenRuns::historyIsEmpty() const {
    const auto query = TrialQuery::open(m_places.history());
    return !query.ok() || query.value()->list({.text = {}, .deleted = false, .limit = 1}).empty();
}

}  // namespace lockstep::ui
