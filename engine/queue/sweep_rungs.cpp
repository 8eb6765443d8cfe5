#include "engine/queue/sweep_rungs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lockstep {

namespace {

constexpr double kWorst = std::numeric_limits<double>::quiet_NaN();

// What evaluations measure, where the metric follows from another.
const Metric& measured(const Metric& metric) { return metric.derive ? *findMetric(metric.from) : metric; }

std::size_t rungOf(const Rungs& rungs, std::optional<std::int64_t> untilEpoch) {
    if (!untilEpoch) return rungs.top();
    const auto at = std::ranges::lower_bound(rungs.epochs, *untilEpoch);
    return std::min(static_cast<std::size_t>(at - rungs.epochs.begin()), rungs.top());
}

// A trial of a cell on its way.
struct Repeat {
    const GroupTrial* trial;
    std::vector<double> losses;  // the best so far at each rung that it has come to
    bool isOver() const { return !trial->isQueued && (!trial->trial || trial->isDeleted || isOut()); }
    bool isOut() const { return trial->state && isFinal(*trial->state) && trial->state != RunState::Finished; }
};

std::vector<double> lossesOf(const Rungs& rungs, bool higherIsBetter, std::span<const GroupValue> values) {
    std::vector<double> losses;
    double best = kWorst;
    for (const GroupValue& each : values) {
        const double loss = higherIsBetter ? -each.value : each.value;
        if (!(best <= loss)) best = loss;
        while (losses.size() < rungs.epochs.size() && each.epoch >= rungs.epochs[losses.size()]) losses.push_back(best);
    }
    return losses;
}

// What all of its trials have come to; the worst, where one did not and never will.
Climber climberOf(std::int64_t cell, const std::vector<Repeat>& repeats, std::int64_t wanted, const Rungs& rungs) {
    Climber climber{.cell = cell};
    for (const Repeat& each : repeats) climber.goal = std::max(climber.goal, rungOf(rungs, each.trial->untilEpoch));
    if (std::ssize(repeats) < wanted) return climber;
    for (std::size_t rung = 0; rung <= rungs.top(); ++rung) {
        double sum = 0;
        for (const Repeat& each : repeats) {
            const bool came = rung < each.losses.size();
            if (!came && !(each.isOver() && rung <= rungOf(rungs, each.trial->untilEpoch))) return climber;
            sum += came ? each.losses[rung] : kWorst;
        }
        climber.losses.push_back(sum / static_cast<double>(repeats.size()));
        climber.goal = std::max(climber.goal, rung);
        if (std::isnan(sum)) return climber;
    }
    return climber;
}

void number(std::vector<Climber>& climbers, std::span<const RungArrival> arrivals) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> noted;
    for (const RungArrival& each : arrivals) noted.emplace(std::pair(each.cell, each.rung), std::ssize(noted));
    std::int64_t next = std::ssize(noted);
    for (Climber& each : climbers) {
        for (std::int64_t rung = 0; rung < std::ssize(each.losses); ++rung) {
            const auto known = noted.find({each.cell, rung});
            each.arrivals.push_back(known != noted.end() ? known->second : next++);
        }
    }
}

}  // namespace

const Metric* objectiveOf(const TrialQuery& query, const SweepSpec& sweep, std::span<const GroupTrial> trials) {
    if (!sweep.objective.empty()) return findMetric(sweep.objective);
    for (const GroupTrial& each : trials) {
        const auto started = each.trial ? query.started(*each.trial) : std::nullopt;
        if (started) return metricsFor(started->task, started->chooses()).objective;
    }
    return nullptr;
}

std::vector<Climber> climbersOf(const SweepSpec& sweep, const Metric& objective, std::span<const GroupTrial> trials,
                                std::span<const GroupValue> values, std::span<const RungArrival> arrivals) {
    const auto rungs = rungsOf(sweep);
    if (!rungs) return {};
    const bool higherIsBetter = measured(objective).better == Better::Higher;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<GroupValue>> valuesAt;
    for (const GroupValue& each : values) valuesAt[{each.place.cell, each.place.repeat}].push_back(each);
    std::map<std::int64_t, std::vector<Repeat>> cells;
    for (const GroupTrial& each : trials) {
        const auto& own = valuesAt[{each.place.cell, each.place.repeat}];
        cells[each.place.cell].push_back({&each, lossesOf(*rungs, higherIsBetter, own)});
    }
    std::vector<Climber> climbers;
    for (const auto& [cell, repeats] : cells) climbers.push_back(climberOf(cell, repeats, sweep.repeats, *rungs));
    number(climbers, arrivals);
    return climbers;
}

double valueOfLoss(const Metric& objective, double loss) {
    const double value = measured(objective).better == Better::Higher ? -loss : loss;
    return objective.derive ? objective.derive(value) : value;
}

std::vector<RungArrival> newArrivals(std::span<const Climber> climbers, std::span<const RungArrival> noted) {
    std::vector<RungArrival> fresh;
    for (const Climber& each : climbers) {
        for (std::int64_t rung = 0; rung < std::ssize(each.losses); ++rung) {
            const RungArrival arrival{each.cell, rung};
            if (std::ranges::find(noted, arrival) == noted.end()) fresh.push_back(arrival);
        }
    }
    return fresh;
}

std::optional<Ascent> nextAscent(const Rungs& rungs, std::span<const Climber> climbers,
                                 std::span<const GroupTrial> trials) {
    const auto ascentOf = [&](const GroupTrial& trial, std::size_t rung) {
        return Ascent{trial.place, rung == rungs.top() ? std::nullopt : std::optional(rungs.epochs[rung])};
    };
    const auto climberAt = [&](std::int64_t cell) { return std::ranges::find(climbers, cell, &Climber::cell); };
    for (const GroupTrial& each : trials) {
        const auto climber = climberAt(each.place.cell);
        const bool isLost =
            climber == climbers.end() || (!climber->losses.empty() && std::isnan(climber->losses.back()));
        if (!isLost && !each.isQueued && rungOf(rungs, each.untilEpoch) < climber->goal)
            return ascentOf(each, climber->goal);
    }
    const auto cell = nextPromotion(rungs, climbers);
    const auto first =
        cell ? std::ranges::find(trials, *cell, [](const GroupTrial& each) { return each.place.cell; }) : trials.end();
    if (first == trials.end()) return std::nullopt;
    return ascentOf(*first, climberAt(*cell)->goal + 1);
}

RungFacts rungFactsOf(const QueueQuery& query, const Metric& objective, std::int64_t group) {
    return {query.values(group, measured(objective)), query.arrivals(group)};
}

}  // namespace lockstep
