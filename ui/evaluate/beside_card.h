#pragma once
#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/spec/evaluation.h"
#include "ui/evaluate/sample_lists.h"
#include "ui/history/history_service.h"

class QLabel;
class QPushButton;

namespace lockstep::ui {

// Another trial beside the one that is shown, asked about the same samples: how many each gets right, and which.
class BesideCard : public QWidget {
    Q_OBJECT
public:
    explicit BesideCard(HistoryService* history);  // outlives it

    // The trial that is shown and what it was asked; null: nothing with samples. `known`: of the trial's data.
    void setShown(std::int64_t trial, std::shared_ptr<const Evaluation> shown, DataKnown known = {});
    void setOther(std::int64_t trial);  // 0: none
    void setHasChoice(bool on);         // there are trials that could be shown beside this one
    void setEvaluable(bool on);         // the engine is free to evaluate the other
    void readAgain();                   // the other has just been evaluated
    std::int64_t other() const { return m_other; }
    std::shared_ptr<const Evaluation> otherAnswers() const { return m_answers; }

signals:
    // The surest first: in the order of the other's answers, or of those of the trial that is shown.
    void samplesChosen(const QString& title, const lockstep::ui::SampleList& samples, bool othersFirst);
    void evaluationWanted(const lockstep::TrialSpec& ofOther);  // on what is shown

private:
    void refresh();
    bool offerEvaluation();
    bool hasChanged(const Evaluation& ofOther) const;  // the data, in between
    void showCounts(const BothAnswers& both);
    void say(const QString& hint);

    HistoryService& m_history;
    std::int64_t m_trial = 0, m_other = 0;
    bool m_hasChoice = true;
    std::shared_ptr<const Evaluation> m_shown, m_answers;
    DataKnown m_known;
    std::optional<TrialEvaluations> m_found;  // of the other
    std::optional<BothAnswers> m_both;
    QLabel* m_hint;
    QPushButton* m_evaluate;
    std::vector<QPushButton*> m_cells;  // both right, only the first, only the second, neither
};

}  // namespace lockstep::ui
