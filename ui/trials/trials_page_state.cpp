#include "ui/trials/trials_page_state.h"

#include <QCoreApplication>
#include <QLocale>

namespace lockstep::ui {

namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(TrialsPageState)
};

QString number(int count) { return QLocale(QLocale::English).toString(count); }

EmptyState lostHistory(int orphans) {
    const QString text =
        orphans == 1
            ? Text::tr(
                  "There is 1 run folder whose trial the history does not know. `lockstep import` in a terminal takes"
                  " it in again: settings, evaluations and checkpoints, all but the curves of single steps.")
            : Text::tr(
                  "There are %1 run folders whose trials the history does not know. `lockstep import` in a terminal"
                  " takes them in again: settings, evaluations and checkpoints, all but the curves of single steps.")
                  .arg(number(orphans));
    return {Text::tr("No trials in the history"), text, {{"page.train", Text::tr("Train something")}}};
}

EmptyState emptyShelf(Shelf shelf, int total) {
    const QVector<EmptyState::Way> back{{kShowCurrent, Text::tr("Show the current trials")}};
    if (shelf == Shelf::Archived) {
        return {
            Text::tr("The archive is empty"),
            Text::tr("Archive trials that you want to keep but not to see every day: select them and choose Archive."),
            back};
    }
    if (shelf == Shelf::Trash) {
        return {Text::tr("The trash is empty"),
                Text::tr("Deleted trials stay here until you empty the trash; so nothing is lost by mistake."), back};
    }
    const QString text =
        total > 0
            ? Text::tr(
                  "All your trials are archived or in the trash; the list beside the filter shows them. New ones appear"
                  " here as soon as they start.")
            : Text::tr(
                  "Every training is kept here with its settings, curves and notes, so that you can compare, repeat and"
                  " resume it. It appears as soon as it starts, wherever it was started.");
    return {total > 0 ? Text::tr("No current trials") : Text::tr("No trials yet"),
            text,
            {{"page.train", Text::tr("Train something")}}};
}

}  // namespace

std::optional<EmptyState> emptyTrials(const TrialsPageState& now) {
    if (now.shown > 0) return std::nullopt;
    if (now.unreadable && now.total == 0) {
        return EmptyState{
            Text::tr("The history cannot be read"), now.unreadable->what + "\n\n" + now.unreadable->remedy, {}};
    }
    if (!now.loaded) return EmptyState{Text::tr("Reading the history…"), {}, {}};
    if (now.total == 0 && now.orphans > 0 && now.shelf == Shelf::Current) return lostHistory(now.orphans);
    if (now.filter.trimmed().isEmpty() || now.total == 0) return emptyShelf(now.shelf, now.total);
    return EmptyState{Text::tr("No trial matches “%1”").arg(now.filter.trimmed()),
                      Text::tr("All words must occur in a trial's row. Fewer words find more."),
                      {{kClearFilter, Text::tr("Clear the filter")}}};
}

QString countText(const TrialsPageState& now) {
    QString text = now.shown == 1 ? Text::tr("1 trial") : Text::tr("%1 trials").arg(number(now.shown));
    if (now.selected > 0) text += Text::tr(", %1 selected").arg(number(now.selected));
    return now.shown > 0 ? text : QString();
}

}  // namespace lockstep::ui
