#pragma once
#include <QObject>
#include <QTimer>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "ui/run/run_actions.h"
#include "ui/run/run_snapshot.h"
#include "ui/style/update_pace.h"

namespace lockstep::ui {

// One trial as it is followed for as long as this lives (TrialFollower, on a thread of its own), gathered into a
// record. GUI thread.
class RunFeed : public QObject {
    Q_OBJECT

public:
    RunFeed(Places places, std::int64_t trial, QObject* parent = nullptr);
    ~RunFeed() override;

    std::int64_t trial() const { return m_trial; }
    const Places& places() const { return m_places; }
    const RunRecord& record() const { return m_record; }
    RunState state() const { return m_record.state(); }
    const std::optional<TrialRow>& row() const { return m_row; }  // as last read; empty: not read yet
    bool loading() const { return m_loading; }                    // the history is still being read
    bool connected() const { return m_connected; }
    bool keepsCheckpoint() const { return m_hasCheckpoint || !m_record.checkpoints().empty(); }
    RunActions actions() const;
    std::int64_t devices() const { return static_cast<std::int64_t>(m_record.ranks()); }  // 0: not known yet
    std::optional<RunAction> asked() const { return m_asked; }  // a request that the run has not yet followed
    // What stands in the way now: of the history, of the session, of the last request.
    std::vector<Problem> problems() const;

    // Requests; sent as soon as the run can be reached. kill ends the engine's process at once (SIGKILL).
    void pause() { ask(RunAction::Pause); }
    void resume() { ask(RunAction::Resume); }
    void stop() { ask(RunAction::StopNow); }
    void stopAfterEpoch() { ask(RunAction::FinishEpoch); }
    void kill() { ask(RunAction::Kill); }
    void scaleTo(int devices);                   // go on with so many
    void balance() { ask(RunAction::Balance); }  // go on with parts of the batch by measured step times

signals:
    void changed();  // anything above; as often as UpdatePace allows

private:
    class Inbox;
    struct Lost {
        std::int64_t next;
    };
    struct Seen {
        TrialSighting sighting;
        bool hasCheckpoint;
    };
    struct Heard {
        bool connected;
    };
    // What the follower's thread tells, in its order.
    using News = std::variant<std::shared_ptr<RunSnapshot>, NumberedEvent, Lost, Seen, Heard, ControlAnswer>;

    void drain();
    void on(const std::shared_ptr<RunSnapshot>& snapshot);
    void on(const NumberedEvent& event);
    void on(const Lost& lost);
    void on(const Seen& seen);
    void on(const Heard& heard);
    void on(const ControlAnswer& answer);
    void forgetFollowed();
    void ask(RunAction action);
    void noteStep();
    void noteChange();
    void tell();

    const Places m_places;
    const std::int64_t m_trial;
    std::shared_ptr<Inbox> m_inbox;
    std::thread m_thread;
    RunRecord m_record;
    std::optional<TrialRow> m_row;
    QTimer m_notify;
    UpdatePace m_pace;
    std::chrono::milliseconds m_interval = UpdatePace::kShortest;
    bool m_loading = true, m_connected = false, m_hasCheckpoint = false, m_isReproducible = false;
    std::optional<RunAction> m_asked;
    int m_askedDevices = 0;  // of Scale
    std::optional<Problem> m_historyProblem, m_sessionProblem, m_requestProblem;
};

}  // namespace lockstep::ui
