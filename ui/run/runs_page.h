#pragma once
#include <map>

#include "ui/run/open_runs.h"
#include "ui/style/explanation.h"
#include "ui/style/page.h"

class QTabWidget;

namespace lockstep::ui {

class RunPage;
class TrialSelection;

// The open runs, each on a tab with its trial's colour. Keeps which they are, and finds those that run.
class RunsPage : public Page {
    Q_OBJECT
public:
    RunsPage(OpenRuns* runs, const TrialSelection* selection, Explain explain, QWidget* parent = nullptr);
    ~RunsPage() override;

    void open(std::int64_t trial);                // its tab, and the page in front
    std::int64_t trial() const;                   // of the tab in front; 0: none
    std::optional<std::int64_t> attempt() const;  // its latest, once it has said so

    static PageFace face();
    QList<QAction*> commands() const override;
    QList<QAction*> windowCommands() const override { return m_commands; }
    std::optional<EmptyState> emptyState() const override;
    void save(QSettings& settings) const override;
    void restore(const QSettings& settings) override;
    bool mayClose() override;

signals:
    void resumeRequested(std::int64_t trial);
    void cardRequested(std::int64_t trial);
    void frontChanged();  // another trial() or attempt()

protected:
    void changeEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    void addRun(RunFeed* feed);
    void removeRun(std::int64_t trial);
    void markTab(std::int64_t trial);
    void markAll();
    void updateTitle(RunFeed* feed);
    void step(int by);
    QAction* command(const QString& id, const QString& text, const QKeySequence& keys, void (RunsPage::*slot)());
    void closeFront();
    void next() { step(1); }
    void previous() { step(-1); }

    OpenRuns& m_runs;
    const TrialSelection& m_selection;
    const Explain m_explain;
    QTabWidget* m_tabs;
    std::map<std::int64_t, RunPage*> m_pages;
    QList<QAction*> m_commands;
};

}  // namespace lockstep::ui
