#pragma once
#include <QFrame>

#include "ui/history/queue_reader.h"
#include "ui/queue/queue_steps.h"
#include "ui/style/explanation.h"

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace lockstep::ui {

class PartsBar;
class RungPicture;

// One sweep: how far it has come, what was the best, what it takes, and what a person can do with it.
class SweepCard : public QFrame {
    Q_OBJECT
public:
    explicit SweepCard(Explain explain, QWidget* parent = nullptr);

    void setSweep(const SweepRow& sweep, std::uint64_t available);  // bytes of the disk; 0: unknown

signals:
    void stepWanted(const lockstep::ui::QueueStep& step);
    void extensionWanted(qint64 sweep, qint64 cells);  // so many it has
    void trialWanted(qint64 trial);                    // the best of the best cell
    void trialsWanted(qint64 sweep);                   // all of them
    void compareWanted(qint64 sweep);                  // side by side
    void reportWanted(qint64 sweep);

protected:
    void changeEvent(QEvent* event) override;

private:
    QPushButton* addButton(const QString& name, const QString& text, const QString& tip, QueueStep::Verb verb);
    QHBoxLayout* makeLinks();
    void showRungs(const SweepRow& sweep);
    void showWords(const SweepRow& sweep, std::uint64_t available);
    void showLinks(const SweepRow& sweep);
    void showState();

    const Explain m_explain;
    std::int64_t m_sweep = 0, m_cells = 0, m_bestTrial = 0;
    GroupState m_group = GroupState::Active;
    QLabel *m_title, *m_state, *m_progress, *m_best, *m_cell, *m_disk, *m_problem;
    PartsBar* m_bar;
    RungPicture* m_rungs;
    QPushButton *m_openBest, *m_showTrials, *m_compare, *m_report;
    QPushButton *m_pause, *m_goOn, *m_cancel, *m_retry, *m_extend;
};

}  // namespace lockstep::ui
