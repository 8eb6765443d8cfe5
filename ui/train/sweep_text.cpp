#include "ui/train/sweep_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <cmath>
#include <span>

#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

struct SweepText {
    Q_DECLARE_TR_FUNCTIONS(SweepText)
};

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;

QString valueText(const ParamValue& value) { return QString::fromStdString(text(value)); }
QString counted(std::int64_t count) { return runCount(static_cast<double>(count)); }

struct ChoiceWords {
    const char *id, *name, *help;
};
constexpr ChoiceWords kMethods[] = {
    {"grid", QT_TRANSLATE_NOOP("SweepText", "Grid"),
     QT_TRANSLATE_NOOP("SweepText", "Grid: every combination of the values.")},
    {"random", QT_TRANSLATE_NOOP("SweepText", "Random"),
     QT_TRANSLATE_NOOP("SweepText", "Random: drawn from the ranges.")},
    {"sobol", QT_TRANSLATE_NOOP("SweepText", "Sobol"),
     QT_TRANSLATE_NOOP("SweepText", "Sobol: spread evenly over the ranges.")},
    {"auto", QT_TRANSLATE_NOOP("SweepText", "Automatic"),
     QT_TRANSLATE_NOOP("SweepText", "Automatic: chosen by the settings and the number of trials.")},
    {"tpe", QT_TRANSLATE_NOOP("SweepText", "TPE"),
     QT_TRANSLATE_NOOP("SweepText", "TPE: near what did well so far, settings together (Parzen estimators).")},
    {"tpe-univariate", QT_TRANSLATE_NOOP("SweepText", "TPE, one by one"),
     QT_TRANSLATE_NOOP("SweepText", "TPE, one by one: the same, each setting for itself.")},
    {"gp", QT_TRANSLATE_NOOP("SweepText", "Gaussian process"),
     QT_TRANSLATE_NOOP("SweepText",
                       "Gaussian process: where a smooth model expects the most; for numbers, up to some "
                       "150 trials.")},
};
constexpr ChoiceWords kSchedulers[] = {
    {"", QT_TRANSLATE_NOOP("SweepText", "no: train all epochs"),
     QT_TRANSLATE_NOOP("SweepText", "No: each trial trains all its epochs.")},
    {"asha", QT_TRANSLATE_NOOP("SweepText", "ASHA: cells pause at rungs"),
     QT_TRANSLATE_NOOP("SweepText",
                       "ASHA: cells pause after some epochs, and the better ones go on to the next rung.")},
    {"asha-stopping", QT_TRANSLATE_NOOP("SweepText", "ASHA, stopping"),
     QT_TRANSLATE_NOOP("SweepText", "ASHA, stopping: at each rung a cell goes on at once or never.")},
};

QVector<SweepChoice> translated(std::span<const ChoiceWords> choices) {
    QVector<SweepChoice> all;
    for (const ChoiceWords& each : choices)
        all.push_back({each.id, SweepText::tr(each.name), SweepText::tr(each.help)});
    return all;
}

}  // namespace

QString sweepStartText(std::int64_t cells, std::int64_t repeats, std::optional<double> seconds) {
    const auto trials =
        cells == 1 ? SweepText::tr("1 trial") : SweepText::tr("%1 trials").arg(runCount(static_cast<double>(cells)));
    const auto all = repeats > 1 ? SweepText::tr("%1 × %2 seeds").arg(trials).arg(repeats) : trials;
    return seconds ? SweepText::tr("Start sweep: %1, %2").arg(all, roughDuration(*seconds))
                   : SweepText::tr("Start sweep: %1").arg(all);
}

QString roughDuration(double seconds) {
    if (seconds < 10) return SweepText::tr("a few seconds");
    if (seconds < kMinute - 5) return SweepText::tr("about %1 s").arg(10 * std::llround(seconds / 10));
    if (seconds < kHour - kMinute / 2) return SweepText::tr("about %1 min").arg(std::llround(seconds / kMinute));
    if (seconds < 10 * kHour) {
        const qint64 tens = std::llround(seconds / (10 * kMinute));
        if (tens % 6 == 0) return SweepText::tr("about %1 h").arg(tens / 6);
        return SweepText::tr("about %1 h %2 min").arg(tens / 6).arg(tens % 6 * 10);
    }
    if (seconds < 2 * kDay) return SweepText::tr("about %1 h").arg(std::llround(seconds / kHour));
    return SweepText::tr("about %1 days").arg(std::llround(seconds / kDay));
}

QString choosingText(double validationShare, std::optional<std::int64_t> ownValidation) {
    if (validationShare > 0)
        return SweepText::tr(
                   "%1 % of the training samples are held out: they choose the best, and the test samples are "
                   "looked at once by each trial, at its end.")
            .arg(100 * validationShare, 0, 'g', 4);
    if (ownValidation && *ownValidation > 0)
        return SweepText::tr(
            "The data's own validation samples choose the best, and the test samples are looked at "
            "once by each trial, at its end.");
    const auto worth = SweepText::tr("“Held out” beside the data keeps some for choosing.");
    if (ownValidation)
        return SweepText::tr(
                   "No training samples are held out: the test samples choose the best, and what they say of "
                   "it is too good.") +
               ' ' + worth;
    return SweepText::tr(
               "No training samples are held out: unless the data have validation samples of their own, the "
               "test samples choose the best, and what they say of it is too good.") +
           ' ' + worth;
}

QVector<SweepChoice> sweepMethods() { return translated(kMethods); }
QVector<SweepChoice> sweepSchedulers() { return translated(kSchedulers); }

QString choiceHelp(const QVector<SweepChoice>& choices) {
    QStringList lines, ids;
    for (const SweepChoice& each : choices) {
        lines << each.help;
        ids << (each.id.isEmpty() ? SweepText::tr("none") : each.id);
    }
    return lines.join('\n') + '\n' + SweepText::tr("Default: %1").arg(ids.front()) + '\n' +
           SweepText::tr("One of: %1").arg(ids.join(", "));
}

QString rungShareText(const RungEstimate& estimate, std::int64_t repeats) {
    const auto words = repeats > 1 ? SweepText::tr(
                                         "About %1 of %2 epochs of each seed, or a few more, as no cell waits "
                                         "for the others.")
                                   : SweepText::tr(
                                         "About %1 of %2 epochs, or a few more, as no cell waits for the "
                                         "others.");
    return words.arg(counted(estimate.epochs), counted(estimate.all));
}

QString rungPlanTable(const std::vector<RungPlan>& plan) {
    const auto row = [](const QStringList& cells) {
        return "<tr><td align='right'>" + cells.join("</td><td align='right'>") + "</td></tr>";
    };
    QString rows = row({SweepText::tr("Rung"), SweepText::tr("Epochs"), SweepText::tr("Cells")});
    for (std::size_t i = 0; i < plan.size(); ++i)
        rows += row({QString::number(i + 1), counted(plan[i].epochs), counted(plan[i].cells)});
    return "<table cellspacing='0' cellpadding='3'>" + rows + "</table>";
}

QString rungPlanSpoken(const std::vector<RungPlan>& plan) {
    QStringList rungs;
    for (std::size_t i = 0; i < plan.size(); ++i)
        rungs << SweepText::tr("Rung %1: epochs %2, cells %3")
                     .arg(QString::number(i + 1), counted(plan[i].epochs), counted(plan[i].cells));
    return rungs.join("; ");
}

QString valuesText(const ChoiceOfValues& values) {
    QStringList words;
    for (const ParamValue& each : values) words << valueText(each);
    return words.join(", ");
}

QString alternativesText(const ChoiceOfValues& values) {
    QString words;
    for (const ParamValue& each : values)
        words = words.isEmpty() ? valueText(each) : SweepText::tr("%1 or %2").arg(words, valueText(each));
    return words;
}

QString conditionText(const QString& setting, const ChoiceOfValues& values) {
    return SweepText::tr("only when %1 is %2").arg(setting, alternativesText(values));
}

QString meetingText(std::int64_t meeting, std::int64_t cells) {
    return SweepText::tr("met by %1 of %2 cells").arg(counted(meeting), counted(cells));
}

QString rangeText(const Dimension& dimension) {
    if (const auto* values = std::get_if<ChoiceOfValues>(&dimension.values)) return valuesText(*values);
    const auto& range = std::get<NumberRange>(dimension.values);
    auto words = QString("%1 … %2").arg(valueText(range.low), valueText(range.high));
    if (range.isLog) words = SweepText::tr("log %1").arg(words);
    if (range.step > 0) words = SweepText::tr("%1, in steps of %2").arg(words, valueText(range.step));
    if (range.points > 0) words = SweepText::tr("%1, %2 points").arg(words).arg(range.points);
    return words;
}

}  // namespace lockstep::ui
