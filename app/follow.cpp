#include "app/follow.h"

#include <nlohmann/json.hpp>

#include <thread>

namespace lockstep {

namespace {

using namespace std::chrono_literals;

bool isLast(const TrainEvent& event) {
    return std::holds_alternative<RunFinished>(event) || std::holds_alternative<RunFailed>(event);
}

// Hands on events in order of their numbers and remembers where it is.
class Follower {
public:
    Follower(const History& history, std::int64_t trial, const OnEvent& onEvent)
        : m_history(history), m_trial(trial), m_onEvent(onEvent) {}

    void readHistory() {
        for (const auto& event : m_history.query->events(m_trial, m_next)) take(event);
    }

    // Until the run ends its events or the connection closes. False: no connection could be made.
    bool readSocket() {
        const auto client = SessionClient::connect(m_history.places.socket(m_trial));
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

    const History& m_history;
    std::int64_t m_trial;
    const OnEvent& m_onEvent;
    std::int64_t m_next = 1;
    std::optional<TrainEvent> m_last;
};

// "{"ok":"stop"}" is what is waited for; "{"error":{…}}" is what the run objects to.
bool isAnswer(const std::string& line, const std::string& control) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) return false;
    if (json.contains("error")) {
        const auto& error = json["error"];
        const auto text = [&](const char* key) { return error.is_object() ? error.value(key, std::string()) : ""; };
        if (text("code").empty()) throw ProblemError({control, "trial.refused", {control, error.dump()}});
        throw ProblemError({text("field"), text("code"), error.value("args", std::vector<std::string>())});
    }
    return json.value("ok", std::string()) == control;
}

}  // namespace

std::optional<TrainEvent> followTrial(const History& history, std::int64_t trial, const OnEvent& onEvent) {
    Follower follower(history, trial, onEvent);
    // A run that is still preparing has no socket yet; one that has just ended has none any more.
    for (;;) {
        const bool running = isRunning(history, trial);
        follower.readHistory();
        if (follower.last() || !running) return follower.last();
        if (follower.readSocket()) {
            follower.readHistory();
            if (follower.last() || !isRunning(history, trial)) return follower.last();
        }
        std::this_thread::sleep_for(200ms);
    }
}

void sendControl(const History& history, std::int64_t trial, const ControlCommand& control) {
    const auto row = rowOf(history, trial);
    if (!isRunning(history, trial))
        throw ProblemError({"trial", "trial.not-running", {std::to_string(trial), row.state}});
    const auto client = SessionClient::connect(history.places.socket(trial));
    if (!client.ok()) throw ProblemError(client.problems().front());
    const auto sent = client.value()->send(control);
    if (!sent.ok()) throw ProblemError(sent.problems().front());
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < deadline) {
        const auto line = client.value()->readLine(500ms);
        if (!line) continue;
        if (line->closed) break;
        if (isAnswer(line->text, control.name)) return;
    }
    throw ProblemError({"trial", "trial.no-answer", {std::to_string(trial)}});
}

}  // namespace lockstep
