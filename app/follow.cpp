#include "app/follow.h"

#include <thread>

#include "engine/session/session_client.h"

namespace lockstep {

namespace {

using namespace std::chrono_literals;

bool isLast(const TrainEvent& event) {
    return std::holds_alternative<RunFinished>(event) || std::holds_alternative<RunFailed>(event);
}

// Hands on events in order of their numbers and remembers where it is.
class Follower {
public:
    Follower(TrialService& trials, std::int64_t trial, const OnEvent& onEvent)
        : m_trials(trials), m_trial(trial), m_onEvent(onEvent) {}

    void readHistory() {
        for (const auto& event : m_trials.query().events(m_trial, m_next)) take(event);
    }

    // Until the run ends its events or the connection closes. False: no connection could be made.
    bool readSocket() {
        const auto client = SessionClient::connect(m_trials.places().socket(m_trial));
        if (!client.ok() || !client.value()->send(SubscribeCommand{m_next}).ok()) return false;
        while (!m_last) {
            const auto line = client.value()->readLine(500ms);
            if (!line) continue;
            if (line->closed) break;
            const auto event = eventFromJsonLine(line->text);  // answers to commands are no events
            if (event.ok() && event.value().number >= m_next) take(event.value());
        }
        return true;
    }

    const std::optional<TrainEvent>& last() const { return m_last; }

private:
    void take(const NumberedEvent& event) {
        m_next = event.number + 1;
        m_onEvent(event);
        if (isLast(event.event)) m_last = event.event;
    }

    TrialService& m_trials;
    std::int64_t m_trial;
    const OnEvent& m_onEvent;
    std::int64_t m_next = 1;
    std::optional<TrainEvent> m_last;
};

bool hasEnded(TrialService& trials, std::int64_t trial) {
    const auto state = runStateFrom(trials.row(trial).state);
    return !state || isFinal(*state);
}

}  // namespace

std::optional<TrainEvent> followTrial(TrialService& trials, std::int64_t trial, const OnEvent& onEvent) {
    Follower follower(trials, trial, onEvent);
    // A run that is still preparing has no socket yet; one that has just ended has none any more.
    for (;;) {
        const bool ended = hasEnded(trials, trial);
        follower.readHistory();
        if (follower.last() || ended) return follower.last();
        if (follower.readSocket()) {
            follower.readHistory();
            if (follower.last() || hasEnded(trials, trial)) return follower.last();
        }
        std::this_thread::sleep_for(200ms);
    }
}

}  // namespace lockstep
