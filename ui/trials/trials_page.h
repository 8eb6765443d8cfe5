#pragma once
#include <QTimer>
#include <QUndoStack>
#include <optional>
#include <set>
#include <vector>

#include "engine/session/places.h"
#include "ui/history/history_service.h"
#include "ui/history/trial_selection.h"
#include "ui/style/explanation.h"
#include "ui/style/page.h"
#include "ui/trials/disk_feed.h"
#include "ui/trials/trial_filter_proxy.h"
#include "ui/trials/trial_table_model.h"
#include "ui/trials/trials_page_state.h"

class QAction;
class QBoxLayout;
class QComboBox;
class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QToolBar;

namespace lockstep::ui {

class ComparePane;
class EmptyView;
class TrialsTable;

// The history as a page: find, sort, mark, compare, throw away and repeat trials. Looks twice a second, while visible,
// whether the history changed. Remembers columns, order, whether trials are grouped, and splitter in trials.ini of the
// places' config.
class TrialsPage : public Page {
    Q_OBJECT

public:
    // Service and selection outlive the page. What the table shows is listed for other pages.
    TrialsPage(HistoryService* history, TrialSelection* selection, Places places, Explain explain,
               QWidget* parent = nullptr);
    ~TrialsPage() override;

    static PageFace face();
    QList<QAction*> commands() const override;  // as the selection and the shelf allow
    QUndoStack* undoStack() override { return &m_undo; }
    void selectTrial(std::int64_t trial);  // on the current shelf, past a filter that hides it; also one yet to come
    void showSweep(std::int64_t sweep);    // its trials alone, beneath its line; also before they have been read
    void exportCsv(const QString& file);   // the table as it stands

signals:
    void openRequested(qint64 trial);
    void evaluateRequested(qint64 trial);
    void resumeRequested(qint64 trial);
    void cardRequested(qint64 trial);
    void cloneRequested(const QString& specJson);
    void compareRequested(qint64 sweep);  // 0: what the list shows

protected:
    void focusInEvent(QFocusEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    // trials_page.cpp: what is shown; trials_page_groups.cpp: by sweep; trials_page_layout.cpp: its head and notices
    void connectHistory();
    void connectViews();
    void connectGroups();
    QWidget* buildHead();
    void showHints();
    QWidget* buildFoot();
    void weighSoon();
    void showWeight();
    void addNotices(QBoxLayout& layout);
    void restoreLook();
    void saveLook() const;
    void takeRows(const std::vector<TrialRow>& rows);
    void readSettings();
    void takeGroups(const TrialGroups& groups);
    void readSweepsIn(int milliseconds);
    void readSweeps();
    void selectAwaited();
    void showState();
    void showProblem(const Explanation& explanation);
    void selectionChanged();
    void compare();
    void compareSelected();
    void follow(const QString& command);
    TrialsPageState state() const;
    std::vector<const TrialRow*> selected() const;

    // trials_page_bar.cpp: the actions, and where they stand
    void makeActions();
    void buildBar(QToolBar& bar);
    void addUndo(QToolBar& bar);
    QAction* addTrialAction(const QString& id, const QString& button, const QString& text, const QString& tip,
                            const QKeySequence& keys, void (TrialsPage::*slot)());
    void showContextMenu(const QPoint& at);
    void showSweepMenu(std::int64_t sweep, const QPoint& at);
    void renameSelected();
    void writeNote();

    // trials_page_actions.cpp: what they do
    void enableActions();
    void editSelected(TrialEdit::Field field, bool value, const QString& words);
    void offerUndo(const QString& text);
    void openSelected();
    void evaluateSelected();
    void toggleStar();
    void editTags();
    void toggleArchived();
    void toggleGrouped();
    void trashSelected();
    void restoreSelected();
    void emptyTrash();
    void cloneSelected();
    void copyCommand();
    void resumeSelected();
    void saveCard();
    void chooseExport();
    void freeDiskSpace();

    struct Actions {
        QAction *open, *evaluate, *star, *tag, *archive, *trash, *restore, *clone, *command, *resume, *rename, *note,
            *card, *exporting, *emptying, *disk, *group, *find, *compare;
    };

    const Places m_places;
    const Explain m_explain;
    HistoryService& m_history;
    TrialSelection& m_selection;
    TrialTableModel m_model;
    QUndoStack m_undo;  // after the model: its steps speak to it
    TrialFilterProxy m_proxy;
    DiskFeed m_disk;
    QTimer m_compareSoon, m_filterSoon, m_noticeOver, m_prepare, m_weighSoon, m_sweepsSoon;
    std::set<std::int64_t> m_freshSweeps;   // asked for since the history has changed
    std::optional<std::int64_t> m_awaited;  // to be selected once it is there
    std::optional<Explanation> m_unreadable;
    bool m_loaded = false, m_writeWaits = false;
    int m_orphans = 0;
    Actions m_actions{};

    QLabel *m_count = nullptr, *m_hint = nullptr, *m_weight = nullptr, *m_problemText = nullptr,
           *m_noticeText = nullptr;
    QFrame *m_problem = nullptr, *m_notice = nullptr;
    QWidget* m_foot = nullptr;
    EmptyView* m_empty = nullptr;
    QLineEdit* m_filter = nullptr;
    QComboBox* m_shelf = nullptr;
    QStackedWidget* m_stack = nullptr;
    QSplitter* m_splitter = nullptr;
    TrialsTable* m_table = nullptr;
    ComparePane* m_pane = nullptr;
};

}  // namespace lockstep::ui
