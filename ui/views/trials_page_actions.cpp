#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFrame>
#include <QGuiApplication>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>
#include <QToolBar>
#include <QToolButton>
#include <algorithm>

#include "ui/models/trial_actions.h"
#include "ui/models/trial_command.h"
#include "ui/views/trials_page.h"
#include "ui/views/trials_table.h"

namespace lockstep::ui {

namespace {

QString trialsText(std::size_t count) {
    return count == 1 ? QObject::tr("1 trial") : QObject::tr("%1 trials").arg(count);
}

// Tags that all of them have: what the dialog shows.
std::vector<std::string> commonTags(const std::vector<const TrialRow*>& rows) {
    std::vector<std::string> common = rows.front()->tags;
    for (const auto* row : rows) {
        std::erase_if(common, [&](const auto& tag) { return !std::binary_search(row->tags.begin(), row->tags.end(), tag); });
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

}  // namespace

QAction* TrialsPage::addTrialAction(const QString& text, const QString& tip, const QKeySequence& keys,
                                    void (TrialsPage::*slot)()) {
    auto* action = new QAction(text, this);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    action->setToolTip(keys.isEmpty() ? tip : tip + " (" + keys.toString(QKeySequence::NativeText) + ")");
    connect(action, &QAction::triggered, this, slot);
    m_table->addAction(action);
    return action;
}

void TrialsPage::buildActions(QToolBar& bar) {
    auto& a = m_actions;
    a.open = addTrialAction(tr("Open"), tr("Show the trial on its live page"), Qt::Key_Return, &TrialsPage::openSelected);
    a.open->setShortcuts({QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)});
    a.star = addTrialAction(tr("Star"), tr("Mark what you want to find again"), QKeySequence("Ctrl+D"), &TrialsPage::toggleStar);
    a.tag = addTrialAction(tr("Tags…"), tr("Words of your own"), QKeySequence("Ctrl+T"), &TrialsPage::editTags);
    a.archive = addTrialAction(tr("Archive"), tr("Keep, but out of the way"), QKeySequence("Ctrl+Shift+A"),
                               &TrialsPage::toggleArchived);
    a.trash = addTrialAction(tr("Delete"), tr("Move to the trash"), QKeySequence::Delete, &TrialsPage::trashSelected);
    a.restore = addTrialAction(tr("Restore"), tr("Take out of the trash"), {}, &TrialsPage::restoreSelected);
    a.clone = addTrialAction(tr("Clone"), tr("Put these settings into the form of a new trial"), QKeySequence("Ctrl+Shift+D"),
                             &TrialsPage::cloneSelected);
    a.resume = addTrialAction(tr("Resume"), tr("Go on from the last checkpoint"), QKeySequence("Ctrl+Shift+R"),
                              &TrialsPage::resumeSelected);
    a.command = addTrialAction(tr("Copy command"), tr("Copy the command line that trains the same"), QKeySequence::Copy,
                               &TrialsPage::copyCommand);
    a.exporting = addTrialAction(tr("Export…"), tr("Save the table as it stands, as CSV"), {}, &TrialsPage::chooseExport);
    a.emptying = addTrialAction(tr("Empty trash…"), tr("Remove the trash's trials for good, with their checkpoints"), {},
                                &TrialsPage::emptyTrash);
    auto *undo = m_undo.createUndoAction(this, tr("Undo")), *redo = m_undo.createRedoAction(this, tr("Redo"));
    bar.addActions({a.open, a.clone, a.resume, a.command});
    bar.addSeparator();
    bar.addActions({a.star, a.tag, a.archive, a.trash, a.restore, a.emptying});
    bar.addSeparator();
    bar.addActions({undo, redo});
    bar.addSeparator();
    bar.addAction(a.exporting);
    auto* columns = new QToolButton;
    columns->setText(tr("Columns"));
    columns->setToolTip(tr("Choose the table's columns"));
    columns->setMenu(m_table->columnsMenu());
    columns->setPopupMode(QToolButton::InstantPopup);
    bar.addWidget(columns);
    for (auto* button : bar.findChildren<QToolButton*>()) button->setFocusPolicy(Qt::TabFocus);
    for (auto* step : {undo, redo}) {                  // their texts grow with the step's name; the bar must stand still
        if (auto* button = qobject_cast<QToolButton*>(bar.widgetForAction(step))) {
            const QString word = step == undo ? tr("Undo") : tr("Redo");
            const auto name = [=] { button->setText(word), button->setToolTip(step->text()); };
            connect(step, &QAction::changed, button, name);
            name();
        }
    }
    auto* find = new QAction(tr("Find"), this);
    find->setShortcut(QKeySequence::Find);
    find->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QAction::triggered, m_filter, [this] { m_filter->setFocus(), m_filter->selectAll(); });
    addAction(find);
}

void TrialsPage::enableActions() {
    const auto rows = selected();
    const auto can = actionsFor(rows);
    auto& a = m_actions;
    a.open->setEnabled(can.open);
    a.clone->setEnabled(can.clone);
    a.resume->setEnabled(can.resume);
    a.command->setEnabled(can.copyCommand);
    a.star->setEnabled(can.star);
    a.star->setText(can.starred ? tr("Unstar") : tr("Star"));
    a.tag->setEnabled(can.tag);
    a.archive->setEnabled(can.archive || can.unarchive);
    a.archive->setText(m_proxy.shelf() == Shelf::Archived ? tr("Unarchive") : tr("Archive"));
    a.trash->setEnabled(can.trash);
    const bool trash = m_proxy.shelf() == Shelf::Trash;
    for (auto* action : {a.star, a.tag, a.archive, a.trash}) action->setVisible(!trash);
    a.restore->setVisible(trash);
    a.restore->setEnabled(can.restore);
    a.emptying->setVisible(trash);
    a.emptying->setEnabled(trash && m_model.rowCount() > 0);
    a.exporting->setEnabled(m_proxy.rowCount() > 0);
}

void TrialsPage::showContextMenu(const QPoint& at) {
    auto& a = m_actions;
    QMenu menu(this);
    menu.addActions({a.open, a.clone, a.resume, a.command});
    menu.addSeparator();
    menu.addActions({a.star, a.tag, a.archive, a.trash, a.restore});
    menu.addSeparator();
    menu.addMenu(m_table->columnsMenu());
    menu.exec(m_table->viewport()->mapToGlobal(at));
}

void TrialsPage::editSelected(TrialEdit::Field field, bool value, const QString& words) {
    const int place = m_table->currentIndex().row();
    TrialEdits edits;
    for (const auto* row : selected()) {
        if (field == TrialEdit::Field::Deleted && value && isLive(*row)) continue;
        edits.push_back({row->id, field, value});
    }
    m_model.edit(std::move(edits), words);
    if (selected().empty() && m_proxy.rowCount() > 0) m_table->selectRow(std::clamp(place, 0, m_proxy.rowCount() - 1));
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
    const QString text = QInputDialog::getText(this, tr("Tags of %1").arg(trialsText(rows.size())),
                                               tr("Tags, separated by commas:"), QLineEdit::Normal, trial_text::tags(before),
                                               &accepted);
    if (!accepted) return;
    TrialEdits edits;                                  // the rows anew: they may have changed meanwhile
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
    const auto live = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](auto* row) { return isLive(*row); }));
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
    for (int i = 0; i < m_model.rowCount(); ++i) {
        if (m_model.row(i).deleted) trials.push_back(m_model.row(i).id);
    }
    if (trials.empty()) return;
    QMessageBox box(QMessageBox::Warning, tr("Empty the trash"), tr("Remove %1 for good?").arg(trialsText(trials.size())),
                    QMessageBox::Cancel, this);
    box.setInformativeText(tr("Their curves, notes and checkpoints are removed from the disk. This cannot be undone."));
    auto* remove = box.addButton(tr("Remove for good"), QMessageBox::DestructiveRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    if (box.clickedButton() == remove) m_desk.purge(std::move(trials));
}

void TrialsPage::cloneSelected() {
    const auto rows = selected();
    if (rows.size() != 1) return;
    m_desk.readSpec(rows.front()->id, [this](const Result<TrialSpec>& spec) {
        if (spec.ok()) emit cloneRequested(QString::fromStdString(toJson(spec.value())));
        else showProblem(m_explain(spec.problems().front()));
    });
}

void TrialsPage::copyCommand() {
    const auto rows = selected();
    if (rows.size() != 1) return;
    m_desk.readSpec(rows.front()->id, [this](const Result<TrialSpec>& spec) {
        if (spec.ok()) QGuiApplication::clipboard()->setText(trainCommandOf(spec.value()));
        else showProblem(m_explain(spec.problems().front()));
    });
}

void TrialsPage::resumeSelected() {
    const auto rows = selected();
    if (rows.size() == 1) emit resumeRequested(rows.front()->id);
}

void TrialsPage::chooseExport() {
    const QString file = QFileDialog::getSaveFileName(this, tr("Export the table"), "trials.csv", tr("CSV (*.csv)"));
    if (!file.isEmpty()) exportCsv(file);
}

void TrialsPage::exportCsv(const QString& file) {
    QSaveFile out(file);
    const QByteArray text = csvOf(m_proxy, m_table->shownColumns()).toUtf8();
    if (out.open(QIODevice::WriteOnly) && out.write(text) == text.size() && out.commit()) return;
    showProblem({tr("The table was not saved to %1: %2").arg(file, out.errorString()),
                 tr("Choose a folder that you may write to and that has room.")});
}

}  // namespace lockstep::ui
