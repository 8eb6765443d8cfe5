#include "ui/evaluate/beside_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "engine/spec/data_known.h"
#include "ui/plot/run_text.h"

namespace lockstep::ui {

BesideCard::BesideCard(HistoryService* history) : m_history(*history), m_hint(new QLabel), m_evaluate(new QPushButton) {
    m_hint->setObjectName("besideHint");
    m_hint->setProperty("role", "muted");
    m_hint->setWordWrap(true);
    m_evaluate->setObjectName("evaluateBeside");
    connect(m_evaluate, &QPushButton::clicked, this, [this] {
        if (m_found && m_found->spec) emit evaluationWanted(*m_found->spec);
    });
    auto* cells = new QGridLayout;
    for (int i = 0; i < 4; ++i) {
        constexpr int kOnlySecond = 2;
        auto* cell = new QPushButton;
        cell->setObjectName(QString("beside%1").arg(i));
        cells->addWidget(cell, i / 2, i % 2);
        m_cells.push_back(cell);
        connect(cell, &QPushButton::clicked, this, [this, i, cell] {
            if (!m_both) return;
            const std::array lists{&m_both->bothRight, &m_both->onlyFirst, &m_both->onlySecond, &m_both->bothWrong};
            emit samplesChosen(cell->text().section('\n', 0, 0), *lists[static_cast<std::size_t>(i)], i == kOnlySecond);
        });
    }
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_hint);
    column->addWidget(m_evaluate, 0, Qt::AlignLeft);
    column->addLayout(cells);
    column->addStretch();
    refresh();
}

void BesideCard::setShown(std::int64_t trial, std::shared_ptr<const Evaluation> shown, DataKnown known) {
    m_trial = trial;
    m_shown = std::move(shown);
    m_known = std::move(known);
    refresh();
}

void BesideCard::setOther(std::int64_t trial) {
    m_other = trial;
    readAgain();
}

void BesideCard::readAgain() {
    m_found.reset();
    m_answers.reset();
    refresh();
    if (m_other == 0) return;
    m_history.readEvaluations(m_other, [this](const TrialEvaluations& found) {
        if (found.trial != m_other) return;
        m_found = found;
        refresh();
    });
}

void BesideCard::setHasChoice(bool on) {
    m_hasChoice = on;
    refresh();
}

void BesideCard::setEvaluable(bool on) { m_evaluate->setEnabled(on); }

void BesideCard::say(const QString& hint) { m_hint->setText(hint); }

// Returns whether it can be evaluated.
bool BesideCard::offerEvaluation() {
    const bool canBe = m_found->hasCheckpoint() && m_found->spec;
    m_evaluate->setText(tr("Evaluate trial #%1").arg(m_other));
    m_evaluate->setVisible(canBe);
    return canBe;
}

// Fingerprints of one folder differ also where it was read at two sizes.
bool BesideCard::hasChanged(const Evaluation& ofOther) const {
    return readAlike(m_known, m_found->known) && m_shown->fingerprint && ofOther.fingerprint &&
           !changedSplits(*m_shown->fingerprint, *ofOther.fingerprint, m_shown->split).empty();
}

// The newest of the other trial's evaluations that was asked about the same samples.
void BesideCard::refresh() {
    m_both.reset();
    for (auto* each : m_cells) each->hide();
    m_evaluate->hide();
    if (!m_hasChoice)
        return say(tr(
            "There is no other trial to compare with. Beside this one stands a trial of the same dataset and the same "
            "classes that runs or has finished and has a checkpoint: train another model on these data."));
    if (m_other == 0)
        return say(
            tr("Choose another trial beside this one, above, to see which samples one gets right and the other "
               "wrong."));
    if (!m_shown)
        return say(
            tr("Samples are compared, and of its training trial #%1 has none. Choose one of its evaluations above, "
               "or evaluate it.")
                .arg(m_trial));
    if (!m_found) return say(tr("Reading…"));
    bool changed = false;
    const auto same = std::ranges::find_if(m_found->evaluations, [this, &changed](const Evaluation& each) {
        const bool isAlike = each.id != m_shown->id && each.data == m_shown->data && each.split == m_shown->split &&
                             each.samples == m_shown->samples;
        const bool isOfOthers = isAlike && hasChanged(each);
        changed = changed || isOfOthers;
        return isAlike && !isOfOthers;
    });
    if (same == m_found->evaluations.end()) {
        const bool canBe = offerEvaluation();
        const QString why =
            changed ? tr("The data have changed between the evaluation that is shown and that of trial #%1: they were "
                         "asked about different samples.")
                          .arg(m_other)
                    : tr("Trial #%1 has not been evaluated on the same data.").arg(m_other);
        return say(why + ' ' +
                   (canBe ? tr("Evaluate it to compare the two.")
                          : tr("It has no checkpoint to evaluate: choose another trial above.")));
    }
    if (!m_answers || m_answers->id != same->id) {
        m_history.readEvaluation(same->id, [this](const auto& evaluation) {
            if (!evaluation || evaluation->trial != m_other) return;
            m_answers = std::make_shared<const Evaluation>(*evaluation);
            refresh();
        });
        return;
    }
    m_both = compareAnswers(*m_shown, *m_answers);
    if (!m_both) {
        offerEvaluation();
        return say(
            tr("The two were asked about different samples: the data have changed in between. Evaluate both again, "
               "trial #%1 by the menu above.")
                .arg(m_trial));
    }
    say(tr("Click to see the samples, with both answers."));
    showCounts(*m_both);
}

void BesideCard::showCounts(const BothAnswers& both) {
    const std::array counts{both.bothRight.size(), both.onlyFirst.size(), both.onlySecond.size(),
                            both.bothWrong.size()};
    const std::array words{tr("Both right"), tr("Only #%1 right").arg(m_trial), tr("Only #%1 right").arg(m_other),
                           tr("Both wrong")};
    for (std::size_t i = 0; i < counts.size(); ++i) {
        m_cells[i]->setText(words[i] + '\n' + runCount(static_cast<double>(counts[i])));
        m_cells[i]->show();
    }
}

}  // namespace lockstep::ui
