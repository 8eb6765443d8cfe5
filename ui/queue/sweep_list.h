#pragma once
#include <QScrollArea>
#include <map>

#include "ui/history/queue_reader.h"
#include "ui/queue/queue_steps.h"
#include "ui/style/explanation.h"

class QLabel;
class QVBoxLayout;

namespace lockstep::ui {

class SweepCard;

// A card for each sweep, newest first; those that have ended where they are asked for.
class SweepList : public QScrollArea {
    Q_OBJECT
public:
    explicit SweepList(Explain explain, QWidget* parent = nullptr);

    void setSweeps(const std::vector<SweepRow>& sweeps, std::uint64_t available);
    void setShowsEnded(bool shows);
    int ended() const;  // how many there are

signals:
    void stepWanted(const lockstep::ui::QueueStep& step);
    void extensionWanted(qint64 sweep, qint64 cells);
    void trialWanted(qint64 trial);
    void trialsWanted(qint64 sweep);
    void compareWanted(qint64 sweep);
    void reportWanted(qint64 sweep);
    void cardsChanged();  // other ones than before: the tabulator's order is another

private:
    bool isShown(const SweepRow& sweep) const { return m_showsEnded || !sweep.hasEnded(); }
    void refresh();
    SweepCard* cardOf(std::int64_t sweep);

    const Explain m_explain;
    std::vector<SweepRow> m_sweeps;
    std::uint64_t m_available = 0;
    bool m_showsEnded = false;
    std::map<std::int64_t, SweepCard*> m_cards;
    QVBoxLayout* m_column;
    QLabel* m_none;
};

}  // namespace lockstep::ui
