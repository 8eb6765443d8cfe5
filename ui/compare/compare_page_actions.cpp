#include <QClipboard>
#include <QGuiApplication>
#include <QUndoCommand>
#include <utility>

#include "ui/compare/compare_list.h"
#include "ui/compare/compare_page.h"
#include "ui/compare/next_sweep.h"
#include "ui/history/command_text.h"

// From seeing to doing.
namespace lockstep::ui {

namespace {

constexpr int kMoreSeeds = 5;

// Puts trials away, and takes them back.
class ArchiveStep : public QUndoCommand {
public:
    ArchiveStep(HistoryService& history, std::vector<std::int64_t> trials, const QString& words)
        : QUndoCommand(words), m_history(history), m_trials(std::move(trials)) {}
    void redo() override { write(true); }
    void undo() override { write(false); }

private:
    void write(bool isArchived) {
        TrialEdits edits(m_trials.size());
        for (std::size_t i = 0; i < edits.size(); ++i) {
            edits[i].trial = m_trials[i];
            edits[i].field = TrialEdit::Field::Archived;
            edits[i].value.emplace<bool>(isArchived);
        }
        m_history.write(edits);
    }

    HistoryService& m_history;
    const std::vector<std::int64_t> m_trials;
};

}  // namespace

std::optional<std::int64_t> ComparePage::chosenOne() const {
    const auto chosen = m_list ? m_list->chosen() : std::vector<std::int64_t>();
    if (!chosen.empty()) return chosen.size() == 1 ? std::optional(chosen.front()) : std::nullopt;
    if (!m_scene) return std::nullopt;
    for (const auto row : m_scene->ranking)
        if (m_scene->passes[row]) return m_table->trials[row].trial;
    return std::nullopt;
}

void ComparePage::withSpec(std::int64_t trial, const WithSpec& then) {
    m_history.readSpec(trial, [this, then](const Result<TrialSpec>& spec) {
        if (spec.ok()) return then(spec.value());
        showProblem(m_explain(spec.problems().front()).inOneLine());
    });
}

void ComparePage::evaluateChosen() {
    if (const auto trial = chosenOne()) emit evaluateRequested(*trial);
}

void ComparePage::resumeChosen() {
    if (const auto trial = chosenOne()) emit resumeRequested(*trial);
}

void ComparePage::cloneChosen() {
    const auto trial = chosenOne();
    if (!trial) return;
    withSpec(*trial, [this](const TrialSpec& spec) { emit cloneRequested(QString::fromStdString(toJson(spec))); });
}

void ComparePage::copyCommand() {
    const auto trial = chosenOne();
    if (!trial) return;
    withSpec(*trial, [](const TrialSpec& spec) { QGuiApplication::clipboard()->setText(trainCommand(spec)); });
}

void ComparePage::sweepBrushed() {
    const auto scene = m_scene;
    const auto best = std::ranges::find_if(scene->ranking, [&](std::size_t row) { return scene->passes[row]; });
    if (best == scene->ranking.end()) return;
    withSpec(m_table->trials[*best].trial, [this, scene](const TrialSpec& base) {
        const auto sweep = brushedSweep(*scene, m_selection.brushes(), base);
        if (sweep)
            return emit sweepRequested(QString::fromStdString(sweepJson(*sweep)), tr("Sweep of what is brushed"));
        showProblem(tr("The brushes leave one value of each setting: nothing is left to vary."));
    });
}

void ComparePage::trainMoreSeeds() {
    const auto trial = chosenOne();
    const auto row = trial ? m_table->rowOf(*trial) : std::nullopt;
    if (!row) return;
    withSpec(*trial, [this, scene = m_scene, row = *row](const TrialSpec& best) {
        const SweepSpec sweep = moreSeeds(*scene, row, best, kMoreSeeds);
        emit sweepRequested(QString::fromStdString(sweepJson(sweep)),
                            tr("%1 more seeds of %2").arg(kMoreSeeds).arg(scene->table->trials[row].name));
    });
}

void ComparePage::archiveRest() {
    std::vector<std::int64_t> rest;
    for (std::size_t row = 0; row < m_scene->passes.size(); ++row) {
        const ComparedTrial& trial = m_table->trials[row];
        const bool isKept = m_scene->passes[row] || m_selection.placeOf(trial.trial);
        if (!isKept && !trial.isArchived) rest.push_back(trial.trial);
    }
    if (rest.empty()) return;
    const auto count = rest.size();
    m_selection.push(
        new ArchiveStep(m_history, std::move(rest), count == 1 ? tr("archive a trial") : tr("archive trials")));
    tell(count == 1
             ? tr("A trial is put away: Trials shows it under Archive, and Undo brings it back.")
             : tr("%1 trials are put away: Trials shows them under Archive, and Undo brings them back.").arg(count));
}

}  // namespace lockstep::ui
