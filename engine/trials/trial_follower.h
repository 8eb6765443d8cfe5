#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/session/places.h"
#include "engine/session/session_client.h"
#include "engine/trials/control.h"

namespace lockstep {

// A trial as the history tells it at one moment, to begin with.
struct TrialBeginning {
    const TrialQuery& query;
    const TrialRow& row;
    const std::vector<NumberedEvent>& events;  // of its latest attempt, as far as committed
    std::int64_t next = 1;                     // the number of the event that comes next
};

// What can be told of a trial from outside, at one moment.
struct TrialSighting {
    bool held = false;                        // its lease: somebody runs it
    std::optional<TrialRow> row;              // as read after the lease; the state is not judged
    std::optional<Problem> history, session;  // what stands in the way of reading it, or of its run's answers
};

// Is told of a trial by a TrialFollower, on its thread. May throw ProblemError from begin().
class TrialListener {
public:
    virtual ~TrialListener() = default;
    // Everything from its beginning: first of all, and again where a later attempt may have taken back a part.
    virtual void begin(const TrialBeginning& beginning) = 0;
    // The next event; none is told twice, and none is missing but those that lost() names. Or one outside the
    // numbering, DataProgress with the number 0.
    virtual void take(const NumberedEvent& event) = 0;
    virtual void lost(std::int64_t next) = 0;  // the events before that number will not come
    virtual void see(const TrialSighting& sighting) = 0;
    virtual void connected(bool) {}  // whether the run itself is heard
    virtual void answered(const ControlAnswer&) {}
};

// Follows one trial for as long as it is let: its history, then its run's socket from the next event on. It connects
// again where a connection breaks, notices a crash by the free lease and a later attempt by the lease that is held
// again; while a run does not answer, it is followed through the history.
class TrialFollower {
public:
    TrialFollower(Places places, std::int64_t trial, TrialListener& listener);

    void follow();         // on the listener's thread; returns after stop()
    void stop() noexcept;  // these: any thread
    // As soon as the run can be reached; forgotten when it ends before.
    void send(const ControlCommand& control);
    void killEngine();  // ends the run's process at once (SIGKILL)

private:
    struct Wake;

    TrialSighting look();
    void read(TrialSighting& sighting);
    void begin(const TrialQuery& query, const TrialRow& row);
    void waitForAttempt();
    void connect(TrialSighting& sighting);
    void listen();
    void onLine(const std::string& line);
    void onEvent(const NumberedEvent& event);
    void fill(std::int64_t next);
    void take(const NumberedEvent& event);
    void sendWaiting();
    void wait(std::chrono::milliseconds most, int alsoFor = -1);
    bool beginsAgain() const { return m_next == 0; }
    void beginAgain() { m_next = m_attempts = 0; }

    const Places m_places;
    const std::int64_t m_trial;
    TrialListener& m_listener;
    std::unique_ptr<SessionClient> m_client;
    std::int64_t m_next = 0;       // the number of the event that comes next; 0: everything is read from its beginning
    std::int64_t m_attempts = 0;   // of the trial, as far as told
    std::int64_t m_lastEvent = 0;  // in the history
    bool m_awaitsWorld = false;    // the run goes on with other devices: its next attempt takes back no more
    int m_unanswered = 0;          // connections in a row that came to nothing
    std::atomic<bool> m_stopped = false;
    std::shared_ptr<Wake> m_wake;
    std::mutex m_mutex;
    std::optional<ControlCommand> m_waiting;
    bool m_kills = false;
};

}  // namespace lockstep
