#include "ui/train/sweep_text.h"

#include <QCoreApplication>
#include <cmath>

#include "ui/plot/run_text.h"

namespace lockstep::ui {

namespace {

struct SweepText {
    Q_DECLARE_TR_FUNCTIONS(SweepText)
};

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;

QString valueText(const ParamValue& value) { return QString::fromStdString(text(value)); }

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

QString rangeText(const Dimension& dimension) {
    if (const auto* values = std::get_if<ChoiceOfValues>(&dimension.values)) {
        QStringList words;
        for (const ParamValue& each : *values) words << valueText(each);
        return words.join(", ");
    }
    const auto& range = std::get<NumberRange>(dimension.values);
    auto words = QString("%1 … %2").arg(valueText(range.low), valueText(range.high));
    if (range.isLog) words = SweepText::tr("log %1").arg(words);
    if (range.step > 0) words = SweepText::tr("%1, in steps of %2").arg(words, valueText(range.step));
    if (range.points > 0) words = SweepText::tr("%1, %2 points").arg(words).arg(range.points);
    return words;
}

}  // namespace lockstep::ui
