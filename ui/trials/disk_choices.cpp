#include "ui/trials/disk_choices.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "engine/core/bytes_text.h"
#include "ui/style/plain_text.h"

namespace lockstep::ui {

namespace {

struct DiskText {
    Q_DECLARE_TR_FUNCTIONS(DiskText)
};

constexpr std::int64_t kDay = 86'400;

QString trials(std::size_t count) {
    return count == 1 ? DiskText::tr("1 trial") : DiskText::tr("%1 trials").arg(count);
}

QString folders(std::size_t count) {
    return count == 1 ? DiskText::tr("1 orphaned run folder") : DiskText::tr("%1 orphaned run folders").arg(count);
}

std::uint64_t partOf(const DiskWeight& weight, std::uint64_t RunWeight::*part) {
    std::uint64_t bytes = 0;
    for (const TrialWeight& each : weight.trials) bytes += each.run.*part;
    return bytes;
}

}  // namespace

Result<FreeRequest> requestOf(const DiskChoices& choices) {
    FreeRequest request;
    if (choices.freesCheckpoints) {
        const bool isBest = choices.keep == DiskChoices::Keep::Best;
        request.keep = StaysKept{choices.keep != DiskChoices::Keep::None, isBest ? choices.best : 0};
    }
    request.traces = choices.traces, request.caches = choices.caches, request.orphans = choices.orphans;
    if (choices.onlyOlder) request.olderThan = choices.days * kDay;
    if (!choices.onlyThese) return request;
    auto ranges = parseTrialRanges(QString(choices.trials).remove(' ').toStdString());
    if (!ranges.ok()) return ranges.problems();
    request.trials = std::move(ranges).value();
    return request;
}

QString rangesOf(std::vector<std::int64_t> trials) {
    std::ranges::sort(trials);
    QStringList words;
    for (std::size_t at = 0; at < trials.size();) {
        std::size_t end = at + 1;
        while (end < trials.size() && trials[end] == trials[end - 1] + 1) ++end;
        const QString first = QString::number(trials[at]), last = QString::number(trials[end - 1]);
        words << (end - at > 1 ? first + '-' + last : first);
        at = end;
    }
    return words.join(',');
}

namespace disk_text {

QString bytes(std::uint64_t bytes) { return QString::fromStdString(bytesText(bytes)); }

QString line(const DiskWeight& weight) {
    const QString told = DiskText::tr("History: %1 in %2").arg(bytes(weight.total()), trials(weight.trials.size()));
    return weight.capacity == 0 ? told : DiskText::tr("%1; %2 free").arg(told, bytes(weight.available));
}

QString parts(const DiskWeight& weight) {
    QStringList words{DiskText::tr("checkpoints %1").arg(bytes(partOf(weight, &RunWeight::checkpoints))),
                      DiskText::tr("timelines %1").arg(bytes(partOf(weight, &RunWeight::traces))),
                      DiskText::tr("logs %1").arg(bytes(partOf(weight, &RunWeight::logs))),
                      DiskText::tr("curves and settings %1").arg(bytes(weight.database)),
                      DiskText::tr("caches %1").arg(bytes(weight.caches()))};
    if (!weight.orphans.empty())
        words << DiskText::tr("%1 %2").arg(folders(weight.orphans.size()), bytes(weight.orphaned()));
    return words.join(" · ");
}

QString plan(const FreePlan& plan) {
    if (plan.items.empty()) return DiskText::tr("By these choices there is nothing to free.");
    QStringList words;
    if (const auto count = countOf(plan, FreeItem::Kind::Trial)) words << trials(count);
    if (const auto count = countOf(plan, FreeItem::Kind::Orphan)) words << folders(count);
    if (countOf(plan, FreeItem::Kind::DatasetCache) + countOf(plan, FreeItem::Kind::PlanCache) > 0)
        words << DiskText::tr("caches");
    QString told =
        DiskText::tr("Frees %1 of %2, for good: this cannot be undone.").arg(bytes(plan.bytes), words.join(", "));
    if (countOf(plan, FreeItem::Kind::Trial) > 0)
        told += ' ' + DiskText::tr("The trials stay in the history, with their settings and curves.");
    if (const auto lost = lostTrials(plan); lost > 0)
        told +=
            ' ' + (lost == 1 ? DiskText::tr("1 of the orphaned folders holds a trial, which `lockstep import` would "
                                            "take into the history again.")
                             : DiskText::tr("%1 of the orphaned folders hold trials, which `lockstep import` would "
                                            "take into the history again.")
                                   .arg(lost));
    return told;
}

QString spared(const FreePlan& plan) {
    QStringList told;
    if (const auto count = plan.spared.size(); count > 0)
        told << (count == 1 ? DiskText::tr("1 trial runs, is paused or queued, and is left alone.")
                            : DiskText::tr("%1 trials run, are paused or queued, and are left alone.").arg(count));
    for (const AtRungs& each : plan.atRungs)
        told << DiskText::tr("Sweep %1 may let trials go on from its rungs, whose newest checkpoints stay: %2.")
                    .arg(each.sweep)
                    .arg(rangesOf(each.trials));
    return told.join(' ');
}

QString freed(const Freed& freed) {
    QString told = DiskText::tr("Freed %1.").arg(bytes(freed.bytes));
    if (!freed.spared.empty())
        told +=
            ' ' + DiskText::tr("Left alone, having begun to run or changed meanwhile: %1.").arg(rangesOf(freed.spared));
    return told;
}

QString button(const FreePlan* plan) {
    return plan && plan->bytes > 0 ? DiskText::tr("Free %1").arg(bytes(plan->bytes)) : DiskText::tr("Free");
}

QString name(const TrialWeight& trial) {
    if (!trial.title.empty()) return oneLine(trial.title);
    return DiskText::tr("%1 on %2").arg(oneLine(trial.model), oneLine(trial.dataset));
}

}  // namespace disk_text

}  // namespace lockstep::ui
