#pragma once
#include <QObject>
#include <QSocketNotifier>
#include <QTimer>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ui/run/run_actions.h"
#include "ui/run/run_snapshot.h"
#include "ui/style/update_pace.h"

namespace lockstep::ui {

// Finds one trial and follows it for as long as this lives: its history, then its socket from the next event on, none
// missing and none doubled. It connects again where a connection breaks, notices a crash by the free lease, and a later
// attempt by the lease that is held again; while a run does not answer it is followed through the history. GUI thread;
// waiting and long reading happen on a thread of the global pool.
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
    bool loading() const { return m_whole; }                      // the history is still being read
    bool connected() const { return m_client != nullptr; }
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
    struct Mailbox;

    void look(bool connect);
    void lookLater(int milliseconds);
    void see(RunSnapshot snapshot);
    void takeSeen(RunSnapshot& snapshot);
    void settleState(const RunSnapshot& snapshot);
    void adopt(std::unique_ptr<SessionClient> client);
    void goOn(bool held);
    void checkLease();
    void endGap(const RunSnapshot& snapshot);
    void hangUp();
    void startOver();
    void readSocket();
    void onLine(const std::string& line);
    void onEvent(const NumberedEvent& event);
    void onReply(const std::string& line);
    void ask(RunAction action);
    void sendAsked();
    void killEngine();
    void noteStep();
    void noteChange();
    void tell();

    const Places m_places;
    const std::int64_t m_trial;
    std::shared_ptr<Mailbox> m_mailbox;
    RunRecord m_record;
    std::optional<TrialRow> m_row;
    std::int64_t m_attempts = 0;  // of the trial when the record was begun
    std::unique_ptr<SessionClient> m_client;
    std::unique_ptr<QSocketNotifier> m_notifier;
    QTimer m_notify, m_next;
    UpdatePace m_pace;
    std::chrono::milliseconds m_interval = UpdatePace::kShortest;
    bool m_whole = true, m_busy = false, m_hasCheckpoint = false;
    std::int64_t m_gapEnd = 0;  // the last number to come from the history; 0: none
    int m_gapTries = 0, m_failures = 0;
    std::optional<RunAction> m_asked;
    int m_askedDevices = 0;  // of Scale
    bool m_askedSent = false, m_isReproducible = false;
    std::optional<Problem> m_historyProblem, m_sessionProblem, m_requestProblem;
};

}  // namespace lockstep::ui
