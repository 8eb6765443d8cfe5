#include "ui/trials/trials_page_state.h"

#include <QCoreApplication>
#include <QLocale>

namespace lockstep::ui {

namespace {

struct TrialsPageStateText {
    Q_DECLARE_TR_FUNCTIONS(TrialsPageStateText)
};

QString number(int count) { return QLocale(QLocale::English).toString(count); }

EmptyState lostHistory(int orphans) {
    const QString text =
        orphans == 1
            ? TrialsPageStateText::tr(
                  "There is 1 run folder whose trial the history does not know. `lockstep import` in a terminal takes"
                  " it in again: settings, evaluations and checkpoints, all but the curves of single steps.")
            : TrialsPageStateText::tr(
                  "There are %1 run folders whose trials the history does not know. `lockstep import` in a terminal"
                  " takes them in again: settings, evaluations and checkpoints, all but the curves of single steps.")
                  .arg(number(orphans));
    return {TrialsPageStateText::tr("No trials in the history"),
            text,
            {{"page.train", TrialsPageStateText::tr("Train something")}}};
}

EmptyState emptyShelf(Shelf shelf, int total) {
    const QVector<EmptyState::Way> back{{kShowCurrent, TrialsPageStateText::tr("Show the current trials")}};
    if (shelf == Shelf::Archived) {
        return {TrialsPageStateText::tr("The archive is empty"),
                TrialsPageStateText::tr(
                    "Archive trials that you want to keep but not to see every day: select them and choose Archive."),
                back};
    }
    if (shelf == Shelf::Trash) {
        return {TrialsPageStateText::tr("The trash is empty"),
                TrialsPageStateText::tr(
                    "Deleted trials stay here until you empty the trash; so nothing is lost by mistake."),
                back};
    }
    const QString text =
        total > 0
            ? TrialsPageStateText::tr(
                  "All your trials are archived or in the trash; the list beside the filter shows them. New ones appear"
                  " here as soon as they start.")
            : TrialsPageStateText::tr(
                  "Every training is kept here with its settings, curves and notes, so that you can compare, repeat and"
                  " resume it. It appears as soon as it starts, wherever it was started.");
    return {total > 0 ? TrialsPageStateText::tr("No current trials") : TrialsPageStateText::tr("No trials yet"),
            text,
            {{"page.train", TrialsPageStateText::tr("Train something")}}};
}

}  // namespace

std::optional<EmptyState> emptyTrials(const TrialsPageState& now) {
    if (now.shown > 0) return std::nullopt;
    if (now.unreadable && now.total == 0) {
        return EmptyState{TrialsPageStateText::tr("The history cannot be read"),
                          now.unreadable->what + "\n\n" + now.unreadable->remedy,
                          {}};
    }
    if (!now.loaded) return EmptyState{TrialsPageStateText::tr("Reading the history…"), {}, {}};
    if (now.total == 0 && now.orphans > 0 && now.shelf == Shelf::Current) return lostHistory(now.orphans);
    if (now.filter.trimmed().isEmpty() || now.total == 0) return emptyShelf(now.shelf, now.total);
    return EmptyState{
        TrialsPageStateText::tr("No trial matches “%1”").arg(now.filter.trimmed()),
        TrialsPageStateText::tr("All words must occur in a trial's row, and all conditions on settings hold; one "
                                "that a trial does not state is found by “:default” alone. Fewer find more."),
        {{kClearFilter, TrialsPageStateText::tr("Clear the filter")}}};
}

QString countText(const TrialsPageState& now) {
    QString text = now.shown == 1 ? TrialsPageStateText::tr("1 trial")
                                  : TrialsPageStateText::tr("%1 trials").arg(number(now.shown));
    if (now.selected > 0) text += TrialsPageStateText::tr(", %1 selected").arg(number(now.selected));
    return now.shown > 0 ? text : QString();
}

}  // namespace lockstep::ui
