#include "engine/search/rungs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace lockstep {

namespace {

bool hasCome(const Climber& climber, std::size_t rung) { return climber.losses.size() > rung; }

// The best first: failures last, equal ones by their numbers.
bool isAhead(const Climber& one, const Climber& other, std::size_t rung) {
    const double a = one.losses[rung], b = other.losses[rung];
    if (std::isnan(a) != std::isnan(b)) return std::isnan(b);
    return a < b || (!(b < a) && one.cell < other.cell);
}

std::int64_t rankOf(std::span<const Climber> climbers, const Climber& climber, std::size_t rung) {
    return 1 + std::ranges::count_if(climbers, [&](const Climber& other) {
               return hasCome(other, rung) && other.cell != climber.cell && isAhead(other, climber, rung);
           });
}

// Among all that are there: the best n / reduction may go on, whenever they came.
bool isAmongTheBest(const Rungs& rungs, std::span<const Climber> climbers, const Climber& climber) {
    const std::size_t rung = climber.goal;
    const auto there = std::ranges::count_if(climbers, [&](const Climber& each) { return hasCome(each, rung); });
    return rankOf(climbers, climber, rung) <= there / rungs.reduction;
}

// Among those that were there when it came.
bool wasAmongTheBest(const Rungs& rungs, std::span<const Climber> climbers, const Climber& climber) {
    const std::size_t rung = climber.goal;
    std::vector<Climber> before;
    for (const Climber& each : climbers) {
        if (hasCome(each, rung) && each.arrivals[rung] <= climber.arrivals[rung]) before.push_back(each);
    }
    return rankOf(before, climber, rung) <= std::max<std::int64_t>(std::ssize(before) / rungs.reduction, 1);
}

// Places from 1; equal values share the mean of theirs.
std::vector<double> ranksOf(const std::vector<double>& values) {
    std::vector<double> ranks;
    for (const double value : values) {
        const auto below = std::ranges::count_if(values, [&](double other) { return other < value; });
        const auto equal = std::ranges::count(values, value);
        ranks.push_back(static_cast<double>(below) + (static_cast<double>(equal) + 1) / 2);
    }
    return ranks;
}

std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto mean = [](const std::vector<double>& of) {
        return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
    };
    const double meanA = mean(a), meanB = mean(b);
    double both = 0, squaresA = 0, squaresB = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        both += (a[i] - meanA) * (b[i] - meanB);
        squaresA += (a[i] - meanA) * (a[i] - meanA);
        squaresB += (b[i] - meanB) * (b[i] - meanB);
    }
    if (squaresA == 0 || squaresB == 0) return std::nullopt;
    return both / std::sqrt(squaresA * squaresB);
}

}  // namespace

Result<Rungs> rungsOf(std::int64_t first, std::int64_t reduction, std::int64_t epochs, bool stops) {
    if (reduction < 2) return Problem{"reduction", "rungs.reduction", {std::to_string(reduction)}};
    if (first < 1 || first >= epochs)
        return Problem{"first_rung", "rungs.first", {std::to_string(first), std::to_string(epochs)}};
    Rungs rungs{.epochs = {first}, .reduction = reduction, .stops = stops};
    while (rungs.epochs.back() <= epochs / reduction / reduction)
        rungs.epochs.push_back(rungs.epochs.back() * reduction);
    rungs.epochs.push_back(epochs);
    return rungs;
}

std::optional<std::int64_t> nextPromotion(const Rungs& rungs, std::span<const Climber> climbers) {
    for (std::size_t rung = rungs.top(); rung-- > 0;) {
        const Climber* next = nullptr;
        for (const Climber& each : climbers) {
            if (each.goal != rung || !each.isAtGoal() || std::isnan(each.losses[rung])) continue;
            const bool earned =
                rungs.stops ? wasAmongTheBest(rungs, climbers, each) : isAmongTheBest(rungs, climbers, each);
            if (earned && (!next || isAhead(each, *next, rung))) next = &each;
        }
        if (next) return next->cell;
    }
    return std::nullopt;
}

std::optional<Standing> standingOf(std::span<const Climber> climbers, std::int64_t cell) {
    const auto found = std::ranges::find(climbers, cell, &Climber::cell);
    if (found == climbers.end() || found->losses.empty()) return std::nullopt;
    const std::size_t rung = found->losses.size() - 1;
    const auto there = std::ranges::count_if(climbers, [&](const Climber& each) { return hasCome(each, rung); });
    return Standing{rung, rankOf(climbers, *found, rung), there};
}

std::optional<std::int64_t> leaderOf(std::span<const Climber> climbers) {
    const Climber* leader = nullptr;
    std::size_t highest = 0;  // of the leader's rungs, from 1
    for (const Climber& each : climbers) {
        std::size_t rungs = each.losses.size();
        while (rungs > 0 && std::isnan(each.losses[rungs - 1])) --rungs;
        const bool leads = leader && rungs == highest && each.losses[rungs - 1] < leader->losses[rungs - 1];
        if (rungs == 0 || (rungs <= highest && !leads)) continue;
        leader = &each, highest = rungs;
    }
    return leader ? std::optional(leader->cell) : std::nullopt;
}

std::vector<RungPlan> planOf(const Rungs& rungs, std::int64_t cells) {
    std::vector<RungPlan> plan;
    for (const std::int64_t epochs : rungs.epochs) {
        plan.push_back({epochs, cells});
        cells /= rungs.reduction;
    }
    return plan;
}

std::int64_t epochsOf(std::span<const RungPlan> plan) {
    std::int64_t sum = 0, before = 0;
    for (const RungPlan& each : plan) {
        sum += each.cells * (each.epochs - before);
        before = each.epochs;
    }
    return sum;
}

std::optional<double> rankCorrelation(std::span<const Climber> climbers, std::size_t rung) {
    std::vector<double> lower, higher;
    for (const Climber& each : climbers) {
        if (!hasCome(each, rung + 1) || std::isnan(each.losses[rung]) || std::isnan(each.losses[rung + 1])) continue;
        lower.push_back(each.losses[rung]);
        higher.push_back(each.losses[rung + 1]);
    }
    if (lower.size() < 3) return std::nullopt;
    return correlation(ranksOf(lower), ranksOf(higher));
}

RungCount countAt(std::span<const Climber> climbers, std::size_t rung) {
    RungCount count{.correlation = rankCorrelation(climbers, rung)};
    for (const Climber& each : climbers) {
        if (!hasCome(each, rung)) continue;
        ++count.cells;
        if (each.goal > rung) ++count.wentOn;
    }
    return count;
}

}  // namespace lockstep
