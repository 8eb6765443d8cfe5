#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFrame>
#include <QGuiApplication>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>
#include <algorithm>

#include "ui/history/command_text.h"
#include "ui/trials/disk_dialog.h"
#include "ui/trials/trial_actions.h"
#include "ui/trials/trials_page.h"
#include "ui/trials/trials_table.h"

namespace lockstep::ui {

namespace {

QString trialsText(std::size_t count) {
    return count == 1 ? TrialsPage::tr("1 trial") : TrialsPage::tr("%1 trials").arg(count);
}

// Tags that all of them have: what the dialog shows.
std::vector<std::string> commonTags(const std::vector<const TrialRow*>& rows) {
    std::vector<std::string> common = rows.front()->tags;
    for (const auto* row : rows) {
        std::erase_if(common,
                      [&](const auto& tag) { return !std::binary_search(row->tags.begin(), row->tags.end(), tag); });
    }
    return common;
}

// What a row keeps of its own beside the tags that were common to all and those that are from now on.
std::vector<std::string> exchanged(std::vector<std::string> tags, const std::vector<std::string>& before,
                                   const std::vector<std::string>& after) {
    std::erase_if(tags, [&](const auto& tag) { return std::binary_search(before.begin(), before.end(), tag); });
    tags.insert(tags.end(), after.begin(), after.end());
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    return tags;
}

void name(QAction& action, const QString& button, const QString& whole) {
    action.setText(whole);
    action.setIconText(button);
}

}  // namespace

void TrialsPage::enableActions() {
    const auto rows = selected();
    const auto can = actionsFor(rows);
    auto& a = m_actions;
    a.open->setEnabled(can.open);
    a.evaluate->setEnabled(can.evaluate);
    a.clone->setEnabled(can.clone);
    a.resume->setEnabled(can.resume);
    a.command->setEnabled(can.copyCommand);
    a.card->setEnabled(can.saveCard);
    a.rename->setEnabled(can.open && can.star);
    a.note->setEnabled(can.open && can.star);
    a.star->setEnabled(can.star);
    name(*a.star, can.starred ? tr("Unstar") : tr("Star"),
         can.starred ? tr("Take the star from the trials") : tr("Star the trials"));
    a.tag->setEnabled(can.tag);
    a.archive->setEnabled(can.archive || can.unarchive);
    const bool archive = m_proxy.shelf() == Shelf::Archived;
    name(*a.archive, archive ? tr("Unarchive") : tr("Archive"),
         archive ? tr("Take the trials out of the archive") : tr("Archive the trials"));
    a.trash->setEnabled(can.trash);
    const bool trash = m_proxy.shelf() == Shelf::Trash;
    for (auto* action : {a.star, a.tag, a.archive, a.trash}) action->setVisible(!trash);
    a.restore->setVisible(trash);
    a.restore->setEnabled(can.restore);
    a.emptying->setVisible(trash);
    a.emptying->setEnabled(trash && m_model.trials() > 0);
    a.exporting->setEnabled(m_proxy.rowCount() > 0);
    a.group->setEnabled(m_proxy.isGrouped() || m_model.anyInSweep());
}

void TrialsPage::editSelected(TrialEdit::Field field, bool value, const QString& words) {
    const int place = m_table->currentIndex().row();
    TrialEdits edits;
    for (const auto* row : selected()) {
        if (field == TrialEdit::Field::Deleted && value && isLive(*row)) continue;
        edits.push_back({row->id, field, value});
    }
    m_model.edit(std::move(edits), words);
    if (selected().empty()) m_table->selectNear(std::max(place, 0));
}

void TrialsPage::offerUndo(const QString& text) {
    m_noticeText->setText(text);
    m_notice->show();
    m_noticeOver.start();
}

void TrialsPage::openSelected() {
    const auto rows = selected();
    if (rows.size() == 1) emit openRequested(rows.front()->id);
}

void TrialsPage::evaluateSelected() {
    const auto rows = selected();
    if (rows.size() == 1) emit evaluateRequested(rows.front()->id);
}

void TrialsPage::toggleStar() {
    const auto rows = selected();
    const bool star = !actionsFor(rows).starred;
    editSelected(TrialEdit::Field::Star, star, tr("star of %1").arg(trialsText(rows.size())));
}

void TrialsPage::editTags() {
    const auto rows = selected();
    if (rows.empty()) return;
    const auto before = commonTags(rows);
    bool accepted = false;
    const QString text =
        QInputDialog::getText(this, tr("Tags of %1").arg(trialsText(rows.size())), tr("Tags, separated by commas:"),
                              QLineEdit::Normal, trial_text::tags(before), &accepted);
    if (!accepted) return;
    TrialEdits edits;  // the rows anew: they may have changed meanwhile
    for (const auto* row : selected()) {
        edits.push_back({row->id, TrialEdit::Field::Tags, exchanged(row->tags, before, tagsFrom(text))});
    }
    m_model.edit(std::move(edits), tr("tags of %1").arg(trialsText(edits.size())));
}

void TrialsPage::toggleArchived() {
    const auto count = selected().size();
    const bool archived = !actionsFor(selected()).unarchive;
    editSelected(TrialEdit::Field::Archived, archived, tr("archiving of %1").arg(trialsText(count)));
    offerUndo(archived ? tr("Moved to the archive: %1.").arg(trialsText(count))
                       : tr("Back among the current trials: %1.").arg(trialsText(count)));
}

void TrialsPage::trashSelected() {
    const auto rows = selected();
    const auto live =
        static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](auto* row) { return isLive(*row); }));
    const auto count = rows.size() - live;
    editSelected(TrialEdit::Field::Deleted, true, tr("deletion of %1").arg(trialsText(count)));
    QString text = tr("Moved to the trash: %1.").arg(trialsText(count));
    if (live > 0) text += ' ' + tr("Those that still run stay; stop them first: %1.").arg(trialsText(live));
    offerUndo(text);
}

void TrialsPage::restoreSelected() {
    const auto count = selected().size();
    editSelected(TrialEdit::Field::Deleted, false, tr("restoring of %1").arg(trialsText(count)));
    offerUndo(tr("Taken out of the trash: %1.").arg(trialsText(count)));
}

void TrialsPage::emptyTrash() {
    std::vector<std::int64_t> trials;
    for (int i = 0; i < m_model.trials(); ++i) {
        if (m_model.row(i).deleted) trials.push_back(m_model.row(i).id);
    }
    if (trials.empty()) return;
    QMessageBox box(QMessageBox::Warning, tr("Empty the trash"),
                    tr("Remove %1 for good?").arg(trialsText(trials.size())), QMessageBox::Cancel, this);
    box.setInformativeText(tr("Their curves, notes and checkpoints are removed from the disk. This cannot be undone."));
    auto* remove = box.addButton(tr("Remove for good"), QMessageBox::DestructiveRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    if (box.clickedButton() == remove) m_history.purge(std::move(trials));
}

void TrialsPage::cloneSelected() {
    const auto rows = selected();
    if (rows.size() != 1) return;
    m_history.readSpec(rows.front()->id, [this](const Result<TrialSpec>& spec) {
        if (spec.ok()) emit cloneRequested(QString::fromStdString(toJson(spec.value())));
        else showProblem(m_explain(spec.problems().front()));
    });
}

void TrialsPage::copyCommand() {
    const auto rows = selected();
    if (rows.size() != 1) return;
    m_history.readSpec(rows.front()->id, [this](const Result<TrialSpec>& spec) {
        if (spec.ok()) QGuiApplication::clipboard()->setText(trainCommand(spec.value()));
        else showProblem(m_explain(spec.problems().front()));
    });
}

void TrialsPage::resumeSelected() {
    const auto rows = selected();
    if (rows.size() == 1) emit resumeRequested(rows.front()->id);
}

void TrialsPage::compareSelected() {
    std::vector<std::int64_t> trials;
    for (const auto* row : selected()) trials.push_back(row->id);
    if (trials.size() > 1) m_selection.setPinned(std::move(trials));
    emit compareRequested(0);
}

void TrialsPage::saveCard() {
    const auto rows = selected();
    if (rows.size() == 1) emit cardRequested(rows.front()->id);
}

void TrialsPage::chooseExport() {
    const QString file = QFileDialog::getSaveFileName(this, tr("Export the table"), "trials.csv", tr("CSV (*.csv)"));
    if (!file.isEmpty()) exportCsv(file);
}

void TrialsPage::freeDiskSpace() {
    std::vector<std::int64_t> trials;
    for (const auto* row : selected()) trials.push_back(row->id);
    auto* dialog = new DiskDialog(&m_disk, trials, m_explain, this);
    dialog->open();
}

// What is folded away is in it.
void TrialsPage::exportCsv(const QString& file) {
    QSaveFile out(file);
    TrialFilterProxy all(m_model);
    all.follow(m_proxy);
    const QByteArray text = csvOf(all, m_table->shownColumns()).toUtf8();
    if (out.open(QIODevice::WriteOnly) && out.write(text) == text.size() && out.commit()) return;
    showProblem({tr("The table was not saved to %1: %2").arg(file, out.errorString()),
                 tr("Choose a folder that you may write to and that has room.")});
}

}  // namespace lockstep::ui
