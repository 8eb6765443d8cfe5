#include "ui/timeline/timeline_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>

namespace lockstep::ui {

namespace {

struct TimelineText {
    Q_DECLARE_TR_FUNCTIONS(TimelineText)
};

struct Unit {
    double nanoseconds;
    const char* pattern;
};
constexpr Unit kUnits[] = {{1e9, QT_TRANSLATE_NOOP("TimelineText", "%1 s")},
                           {1e6, QT_TRANSLATE_NOOP("TimelineText", "%1 ms")},
                           {1e3, QT_TRANSLATE_NOOP("TimelineText", "%1 µs")},
                           {1, QT_TRANSLATE_NOOP("TimelineText", "%1 ns")}};

const Unit& unitFor(double nanoseconds) {
    for (const Unit& unit : kUnits) {
        if (nanoseconds >= unit.nanoseconds) return unit;
    }
    return kUnits[3];
}

QString number(double value, int decimals) { return QLocale::c().toString(value, 'f', decimals); }

QString withUnit(const QString& number, const Unit& unit) { return TimelineText::tr(unit.pattern).arg(number); }

QString percent(double share) { return number(100 * share, 2) + " %"; }

QString sinceOrigin(const TimelineModel& model, std::int64_t time) { return durationText(time - model.origin()); }

QString whereText(const TimelineModel& model, TimeRange range) {
    const auto first = model.stepAt(range.begin), last = model.stepAt(range.end - 1);
    const QString length = durationText(range.length()), from = sinceOrigin(model, range.begin),
                  to = sinceOrigin(model, range.end);
    if (!first) return TimelineText::tr("%1, from %2 to %3.").arg(length, from, to);
    if (first->step == last->step)
        return TimelineText::tr("%1, from %2 to %3, in step %4.").arg(length, from, to).arg(first->step + 1);
    return TimelineText::tr("%1, from %2 to %3, steps %4 to %5.")
        .arg(length, from, to)
        .arg(first->step + 1)
        .arg(last->step + 1);
}

QString rankText(const TimelineModel::RankTimes& rank) {
    QString text = TimelineText::tr(
                       "Rank %1, of all this time: computing %2, updating weights %3, waiting for all-reduce %4, "
                       "waiting for data %5, "
                       "other %6.")
                       .arg(rank.rank)
                       .arg(percent(rank.share(rank.compute)), percent(rank.share(rank.update)),
                            percent(rank.share(rank.waitReduce)), percent(rank.share(rank.waitData)),
                            percent(rank.share(rank.other())));
    if (rank.reducing == 0) return text;
    const double hidden = static_cast<double>(rank.hidden()) / static_cast<double>(rank.reducing);
    return text + ' ' +
           TimelineText::tr("An all-reduce was under way %1 of the time; %2 of that hid behind computing.")
               .arg(percent(rank.share(rank.reducing)), percent(hidden));
}

}  // namespace

QString durationText(std::int64_t nanoseconds) {
    if (nanoseconds < 0) return "-" + durationText(-nanoseconds);
    const auto value = static_cast<double>(nanoseconds);
    if (value >= 59.995e9) {
        const std::int64_t whole = std::llround(value * 1e-9);
        return whole < 60 ? TimelineText::tr("60 s") : TimelineText::tr("%1 min %2 s").arg(whole / 60).arg(whole % 60);
    }
    const Unit& unit = unitFor(value);
    const double shown = value / unit.nanoseconds;
    const int decimals = unit.nanoseconds < 1e3 ? 0 : shown < 10 ? 2 : shown < 100 ? 1 : 0;
    return withUnit(number(shown, unit.nanoseconds >= 1e9 ? 2 : decimals), unit);
}

QString axisText(std::int64_t since, std::int64_t spacing) {
    const double largest = static_cast<double>(std::abs(since));
    const Unit& unit = unitFor(std::max(largest, static_cast<double>(spacing)));
    const double digits = std::log10(unit.nanoseconds / static_cast<double>(std::max<std::int64_t>(spacing, 1)));
    const int decimals = std::max(0, static_cast<int>(std::ceil(digits - 1e-9)));
    return withUnit(number(static_cast<double>(since) / unit.nanoseconds, decimals), unit);
}

QString rowText(Row row) {
    switch (row) {
        case Row::Load: return TimelineText::tr("Load");
        case Row::Compute: return TimelineText::tr("Compute");
        case Row::Reduce: return TimelineText::tr("All-reduce");
        case Row::Update: return TimelineText::tr("Update");
        case Row::Wait: return TimelineText::tr("Wait");
    }
    return {};
}

QString kindText(SpanKind kind) {
    switch (kind) {
        case SpanKind::Load: return TimelineText::tr("reading a batch");
        case SpanKind::Compute: return TimelineText::tr("computing");
        case SpanKind::Reduce: return TimelineText::tr("all-reduce: summing gradients over all ranks");
        case SpanKind::Update: return TimelineText::tr("updating weights");
        case SpanKind::WaitReduce: return TimelineText::tr("waiting for other ranks' gradients");
        case SpanKind::WaitData: return TimelineText::tr("waiting for a batch to be read");
    }
    return {};
}

QStringList hitText(const TimelineModel& model, const TimelineModel::Hit& hit) {
    const Span& span = hit.longest;
    const QString name = QString::fromStdString(model.name(span.name));
    const QString where = TimelineText::tr("Rank %1, step %2").arg(hit.lane->rank).arg(span.step + 1);
    if (hit.block.count == 1) {
        return {name, kindText(span.kind),
                TimelineText::tr("%1, at %2").arg(durationText(span.duration()), sinceOrigin(model, span.begin)),
                where};
    }
    const std::int64_t length = hit.block.end - hit.block.begin;
    return {TimelineText::tr("%1 spans in %2").arg(hit.block.count).arg(durationText(length)),
            TimelineText::tr("mostly %1, busy for %2").arg(kindText(hit.block.kind), durationText(hit.block.busy)),
            TimelineText::tr("longest: %1, %2").arg(name, durationText(span.duration())), where,
            TimelineText::tr("zoom in to tell them apart")};
}

QStringList rangeText(const TimelineModel& model, TimeRange wanted) {
    const TimeRange range{std::max(wanted.begin, model.range().begin), std::min(wanted.end, model.range().end)};
    if (model.empty() || range.empty()) return {TimelineText::tr("Nothing was recorded in this range.")};
    QStringList text{whereText(model, range)};
    for (const auto& rank : model.statistics(range)) {
        text << rankText(rank);
        QStringList longest;
        for (const auto& each : model.longestNames(range, rank.rank, 3)) {
            longest << QString("%1 %2").arg(QString::fromStdString(model.name(each.name)),
                                            percent(rank.share(each.time)));
        }
        if (!longest.isEmpty()) text.back() += ' ' + TimelineText::tr("Longest: %1.").arg(longest.join(", "));
    }
    return text;
}

}  // namespace lockstep::ui
