#include "app/follow.h"

#include "engine/trials/judged_state.h"
#include "engine/trials/trial_follower.h"

namespace lockstep {

namespace {

bool isLast(const TrainEvent& event) {
    return std::holds_alternative<RunFinished>(event) || std::holds_alternative<RunFailed>(event);
}

// Hands on each event once, also where a later attempt is told from its beginning.
class ToTheEnd : public TrialListener {
public:
    ToTheEnd(const Places& places, std::int64_t trial, const OnEvent& onEvent)
        : m_onEvent(onEvent), m_follower(places, trial, *this) {}

    std::optional<TrainEvent> follow() {
        m_follower.follow();
        if (m_problem) throw ProblemError(*m_problem);
        return m_last;
    }

    void begin(const TrialBeginning& beginning) override {
        for (const auto& event : beginning.events) take(event);
    }
    void take(const NumberedEvent& event) override {
        if (event.number == 0) return m_onEvent(event);
        if (event.number < m_next || m_last) return;
        m_next = event.number + 1;
        m_onEvent(event);
        if (!isLast(event.event)) return;
        m_last = event.event;
        m_follower.stop();
    }
    void lost(std::int64_t) override {}
    void see(const TrialSighting& sighting) override {
        m_problem = sighting.history;
        const bool ended = sighting.row && isFinal(judgedState(*sighting.row, sighting.held));
        if (m_problem || ended) m_follower.stop();
    }

private:
    const OnEvent& m_onEvent;
    TrialFollower m_follower;
    std::int64_t m_next = 1;
    std::optional<TrainEvent> m_last;
    std::optional<Problem> m_problem;
};

}  // namespace

std::optional<TrainEvent> followTrial(const Places& places, std::int64_t trial, const OnEvent& onEvent) {
    return ToTheEnd(places, trial, onEvent).follow();
}

}  // namespace lockstep
