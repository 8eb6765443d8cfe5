#pragma once
#include <QMainWindow>
#include <functional>
#include <map>
#include <vector>

#include "engine/session/places.h"
#include "ui/style/explanation.h"

class QListWidget;
class QStackedWidget;
class QTabWidget;
class QUndoGroup;

namespace lockstep::ui {

class EngineService;
class RunPage;
class OpenRuns;
class RunFeed;
class RunLauncher;
class TimelineDock;
class TrainPage;
class TrialsPage;

// Pages, docks and menus, and the way from one to the other; what they show they know themselves.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    // `engineProgram`: the path of `lockstep`.
    MainWindow(const QString& engineProgram, Places places, Explain explain);
    ~MainWindow() override;

    void openRun(std::int64_t trial);  // its page, in front

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    enum Page { kTrain, kRuns, kTrials };

    void buildPages();
    QWidget* buildEmptyRuns();
    void buildNavigation();
    void buildMenus();
    void connectPages();
    void restore();
    void resetLayout();
    void save();
    void restoreRuns();

    void goTo(Page page);
    void addRun(RunFeed* feed);
    void removeRun(std::int64_t trial);
    void markTab(std::int64_t trial);
    void closeRun();
    void stepRun(int by);
    void followTimeline();
    void updateRunTitle(RunFeed* feed);
    void openSpec();
    void showPalette();
    void showShortcuts();
    void showAbout();
    void explainProblems(const QString& title, const std::vector<Problem>& problems);
    bool mayClose();

    QList<QAction*> commands() const;
    QAction* command(QMenu* menu, const QString& title, const QKeySequence& keys, const std::function<void()>& action);

    Places m_places;
    Explain m_explain;
    EngineService* m_engine;
    RunLauncher* m_launcher;
    OpenRuns* m_runs;
    QUndoGroup* m_undo;  // of the page that is shown
    QListWidget* m_navigation = nullptr;
    QStackedWidget* m_pages = nullptr;
    TrainPage* m_trainPage = nullptr;
    QStackedWidget* m_runsPage = nullptr;
    QTabWidget* m_runTabs = nullptr;
    TrialsPage* m_trialsPage = nullptr;
    TimelineDock* m_timeline = nullptr;
    std::int64_t m_timelineTrial = 0, m_timelineAttempt = 0;  // what the timeline shows
    std::map<std::int64_t, RunPage*> m_runPages;
    QList<QAction*> m_commands;
    QByteArray m_firstState;  // of the docks, for "reset layout"
};

}  // namespace lockstep::ui
