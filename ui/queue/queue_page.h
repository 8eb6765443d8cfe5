#pragma once
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ui/history/history_service.h"
#include "ui/history/queue_feed.h"
#include "ui/queue/queue_actions.h"
#include "ui/queue/queue_steps.h"
#include "ui/queue/queue_table_model.h"
#include "ui/style/explanation.h"
#include "ui/style/page.h"

class QAction;
class QFrame;
class QLabel;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QToolBar;

namespace lockstep::ui {

class EmptyView;
class QueueTable;
class SweepList;
class TrialSelection;

// What runs, waits and is held, in an order that a person changes by dragging; and the sweeps that make trials. While
// it is visible, it looks twice a second whether the history changed. Whatever it changes has a command that can be
// copied.
class QueuePage : public Page {
    Q_OBJECT
public:
    // All outlive the page.
    QueuePage(HistoryService* history, TrialSelection* selection, QueueFeed* queue, Explain explain,
              QWidget* parent = nullptr);
    ~QueuePage() override;

    static PageFace face();
    QList<QAction*> commands() const override;
    void save(QSettings& settings) const override;
    void restore(const QSettings& settings) override;

    void showWritten(const QString& file, const QStringList& command);  // of `lockstep`, which wrote it

signals:
    void openRequested(qint64 trial);
    void trialsRequested(qint64 sweep);
    void compareRequested(qint64 sweep);
    void reportRequested(qint64 sweep);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    // queue_page.cpp: what is shown
    void connectAll();
    void takeQueue(const std::shared_ptr<const QueueSnapshot>& queue);
    void showState();
    void lookForStall();
    void change(const QueueSteps& steps);
    void changed(const QueueSteps& steps, const std::optional<Problem>& problem);
    void showNotice(const QString& text, bool isProblem);

    // queue_page_layout.cpp: where it stands
    QWidget* buildHead();
    QFrame* buildNotice();
    QFrame* buildStall();
    QWidget* buildSweeps();

    // queue_page_bar.cpp: what can be done
    QAction* addQueueAction(const QString& id, const QString& button, const QString& text, const QString& tip,
                            const QKeySequence& keys, std::function<void()> slot);
    void makeActions();
    void makeMoves();
    void buildBar(QToolBar& bar);
    void enableActions();
    void showContextMenu(const QPoint& at);
    std::vector<QueueEntry> waiting() const { return waitingOf(m_model.rows()); }
    void openChosen();
    void copyCommand();
    void askForCells(qint64 sweep, qint64 cells);
    void askForOther();

    struct Actions {
        QAction *open, *hold, *release, *up, *down, *first, *last, *raise, *lower, *after, *notAfter, *cancel, *command,
            *start, *ended;
    };

    const Explain m_explain;
    HistoryService& m_history;
    QueueFeed& m_queue;
    QueueTableModel m_model;
    std::shared_ptr<const QueueSnapshot> m_snapshot;  // null: not read yet
    std::optional<Explanation> m_unreadable;
    QueueSteps m_latest;  // what was asked for last: its command is copied
    QString m_written;    // the command that wrote a file since; empty: none
    QTimer m_stall, m_noticeOver;
    bool m_isStalled = false;  // for longer than a start takes
    Actions m_actions{};

    QLabel *m_count = nullptr, *m_noticeText = nullptr;
    QFrame *m_notice = nullptr, *m_stallCard = nullptr;
    QPushButton *m_noticeCopy = nullptr, *m_endedButton = nullptr;
    QWidget* m_sweepPane = nullptr;
    EmptyView *m_empty = nullptr, *m_nothing = nullptr;
    QStackedWidget *m_body = nullptr, *m_tables = nullptr;
    QSplitter* m_splitter = nullptr;
    QueueTable* m_table;
    SweepList* m_sweeps;
};

}  // namespace lockstep::ui
