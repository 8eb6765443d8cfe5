#include "ui/trials/trials_situation.h"

#include <QLocale>
#include <QObject>

namespace lockstep::ui {

namespace {

using Remedy = EmptyTrials::Remedy;

QString number(int count) { return QLocale(QLocale::English).toString(count); }

EmptyTrials emptyShelf(Shelf shelf, int total) {
    const QString back = QObject::tr("Show the current trials");
    if (shelf == Shelf::Archived) {
        return {QObject::tr("The archive is empty"),
                QObject::tr(
                    "Archive trials that you want to keep but not to see every day: select them and choose Archive."),
                back, Remedy::ShowCurrent};
    }
    if (shelf == Shelf::Trash) {
        return {QObject::tr("The trash is empty"),
                QObject::tr("Deleted trials stay here until you empty the trash; so nothing is lost by mistake."), back,
                Remedy::ShowCurrent};
    }
    const QString text =
        total > 0
            ? QObject::tr(
                  "All your trials are archived or in the trash; the list beside the filter shows them. New ones appear"
                  " here as soon as they start.")
            : QObject::tr(
                  "Every training is kept here with its settings, curves and notes, so that you can compare, repeat and"
                  " resume it. It appears as soon as it starts, wherever it was started.");
    return {total > 0 ? QObject::tr("No current trials") : QObject::tr("No trials yet"), text,
            QObject::tr("Train something"), Remedy::Train};
}

}  // namespace

std::optional<EmptyTrials> emptyTrials(const TrialsSituation& now) {
    if (now.shown > 0) return std::nullopt;
    if (now.unreadable && now.total == 0) {
        return EmptyTrials{QObject::tr("The history cannot be read"),
                           now.unreadable->what + "\n\n" + now.unreadable->remedy,
                           {},
                           Remedy::None};
    }
    if (!now.loaded) return EmptyTrials{QObject::tr("Reading the history…"), {}, {}, Remedy::None};
    if (now.filter.trimmed().isEmpty() || now.total == 0) return emptyShelf(now.shelf, now.total);
    return EmptyTrials{QObject::tr("No trial matches “%1”").arg(now.filter.trimmed()),
                       QObject::tr("All words must occur in a trial's row. Fewer words find more."),
                       QObject::tr("Clear the filter"), Remedy::ClearFilter};
}

QString countText(const TrialsSituation& now) {
    QString text = now.shown == 1 ? QObject::tr("1 trial") : QObject::tr("%1 trials").arg(number(now.shown));
    if (now.selected > 0) text += QObject::tr(", %1 selected").arg(number(now.selected));
    return now.shown > 0 ? text : QString();
}

}  // namespace lockstep::ui
