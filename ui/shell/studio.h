#pragma once
#include <QObject>
#include <QPointer>
#include <map>
#include <memory>
#include <vector>

#include "engine/session/places.h"
#include "ui/history/history_service.h"
#include "ui/history/queue_feed.h"
#include "ui/history/trial_selection.h"
#include "ui/shell/page_entry.h"
#include "ui/style/explanation.h"

class QDockWidget;
class QMessageBox;
class QWidget;

namespace lockstep::ui {

class ComparePage;
class EngineService;
class EvaluatePage;
class OpenRuns;
class QueuePage;
class RunLauncher;
class RunsPage;
class TimelineDock;
class TrainPage;
class TrialWriter;
class TrialsPage;

// What the window shows: the services that pages share, the pages in their order, and the ways from one to another. The
// one place that knows pages by name. Pages that nothing leads to yet are made when they are wanted. GUI thread.
class Studio : public QObject {
    Q_OBJECT
public:
    // `engineProgram`: the path of `lockstep`; `window`, its parent: where pages and questions appear.
    Studio(const QString& engineProgram, Places places, Explain explain, QWidget* window);
    ~Studio() override;  // with its pages and docks, before their services

    std::vector<PageEntry*> pages();
    std::vector<QDockWidget*> docks() const;  // the command that shows one is "dock." and its objectName
    void openRun(std::int64_t trial);         // its page, in front

private:
    std::unique_ptr<ComparePage> makeCompare();
    std::unique_ptr<EvaluatePage> makeEvaluate();
    std::unique_ptr<QueuePage> makeQueue();
    void connectPages();
    void connectCards();
    void askForCard(std::int64_t trial);
    void evaluate(std::int64_t trial);
    void compare(std::int64_t sweep);  // 0: what the list of trials shows
    void clone(const QString& specJson);
    void connectReports();
    void askForReport(std::int64_t sweep);
    void followTimeline();
    void tell(const QString& title, const QString& text, bool isProblem = true);
    void explainProblems(const QString& title, const std::vector<Problem>& problems);
    void askAboutChangedData(qint64 trial, const std::vector<Problem>& problems);

    QWidget* m_window;
    const QString m_program;
    const Places m_places;
    const Explain m_explain;
    EngineService *m_engine, *m_samples;  // of the form; of what models were evaluated on, which takes longer
    RunLauncher* m_launcher;
    TrialWriter *m_cards, *m_reports;
    OpenRuns* m_runs;
    HistoryService m_history;
    QueueFeed m_queue;
    TrialSelection m_selection;
    PageOf<TrainPage> m_train;
    PageOf<RunsPage> m_runsPage;
    PageOf<TrialsPage> m_trials;
    PageOf<ComparePage> m_compare;
    PageOf<EvaluatePage> m_evaluate;
    PageOf<QueuePage> m_queuePage;
    std::unique_ptr<TimelineDock> m_timeline;
    std::int64_t m_lookedAt = 0;                              // the trial whose run was opened last
    std::int64_t m_timelineTrial = 0, m_timelineAttempt = 0;  // what the timeline shows
    std::map<qint64, QPointer<QMessageBox>> m_dataQuestions;  // by trial
};

}  // namespace lockstep::ui
