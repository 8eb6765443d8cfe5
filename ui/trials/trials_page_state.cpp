#include "ui/trials/trials_page_state.h"

#include <QLocale>
#include <QObject>

namespace lockstep::ui {

namespace {

QString number(int count) { return QLocale(QLocale::English).toString(count); }

EmptyState emptyShelf(Shelf shelf, int total) {
    const QVector<EmptyState::Way> back{{kShowCurrent, QObject::tr("Show the current trials")}};
    if (shelf == Shelf::Archived) {
        return {QObject::tr("The archive is empty"),
                QObject::tr(
                    "Archive trials that you want to keep but not to see every day: select them and choose Archive."),
                back};
    }
    if (shelf == Shelf::Trash) {
        return {QObject::tr("The trash is empty"),
                QObject::tr("Deleted trials stay here until you empty the trash; so nothing is lost by mistake."),
                back};
    }
    const QString text =
        total > 0
            ? QObject::tr(
                  "All your trials are archived or in the trash; the list beside the filter shows them. New ones appear"
                  " here as soon as they start.")
            : QObject::tr(
                  "Every training is kept here with its settings, curves and notes, so that you can compare, repeat and"
                  " resume it. It appears as soon as it starts, wherever it was started.");
    return {total > 0 ? QObject::tr("No current trials") : QObject::tr("No trials yet"),
            text,
            {{"page.train", QObject::tr("Train something")}}};
}

}  // namespace

std::optional<EmptyState> emptyTrials(const TrialsPageState& now) {
    if (now.shown > 0) return std::nullopt;
    if (now.unreadable && now.total == 0) {
        return EmptyState{
            QObject::tr("The history cannot be read"), now.unreadable->what + "\n\n" + now.unreadable->remedy, {}};
    }
    if (!now.loaded) return EmptyState{QObject::tr("Reading the history…"), {}, {}};
    if (now.filter.trimmed().isEmpty() || now.total == 0) return emptyShelf(now.shelf, now.total);
    return EmptyState{QObject::tr("No trial matches “%1”").arg(now.filter.trimmed()),
                      QObject::tr("All words must occur in a trial's row. Fewer words find more."),
                      {{kClearFilter, QObject::tr("Clear the filter")}}};
}

QString countText(const TrialsPageState& now) {
    QString text = now.shown == 1 ? QObject::tr("1 trial") : QObject::tr("%1 trials").arg(number(now.shown));
    if (now.selected > 0) text += QObject::tr(", %1 selected").arg(number(now.selected));
    return now.shown > 0 ? text : QString();
}

}  // namespace lockstep::ui
