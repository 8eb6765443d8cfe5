#pragma once
#include <QObject>
#include <map>
#include <memory>
#include <vector>

#include "engine/session/places.h"
#include "ui/run/run_feed.h"

namespace lockstep::ui {

// The runs that the window has open, each with its feed. GUI thread.
class OpenRuns : public QObject {
    Q_OBJECT
public:
    explicit OpenRuns(Places places, QObject* parent = nullptr);

    RunFeed* open(std::int64_t trial);  // the one there is, or a new one
    void close(std::int64_t trial);     // lets go of it; the run goes on
    std::vector<std::int64_t> trials() const;
    std::vector<std::int64_t> running() const;  // of the open ones
    // Runs that go on without the window: not final in the history, and their lease is held. Empty without a history.
    std::vector<std::int64_t> findRunning() const;

    bool historyIsEmpty() const;  // also where there is none

signals:
    void opened(lockstep::ui::RunFeed* feed);
    void closed(std::int64_t trial);

private:
    Places m_places;
    std::map<std::int64_t, RunFeed*> m_feeds;
};

}  // namespace lockstep::ui
