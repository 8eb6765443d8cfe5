#include "app/rung_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/format.h"
#include "engine/queue/sweep_rungs.h"

namespace lockstep {

namespace {

// What became of a rung: how many cells came to it, and how many of them were let go on.
struct Come {
    std::int64_t cells = 0, wentOn = 0;
    std::optional<double> foretells;  // the next rung, by rank correlation
};

Come comeTo(const SweepResult& sweep, std::size_t rung) {
    Come come;
    for (const Climber& each : sweep.climbers) {
        if (each.losses.size() > rung) ++come.cells;
        if (each.losses.size() > rung && each.goal > rung) ++come.wentOn;
    }
    come.foretells = rankCorrelation(sweep.climbers, rung);
    return come;
}

}  // namespace

std::string rungPlanText(const SweepSpec& sweep, std::int64_t cells) {
    const auto rungs = rungsOf(sweep);
    if (!rungs) return {};
    const auto plan = planOf(*rungs, cells);
    Table table({"RUNG", "EPOCHS", "CELLS"});
    for (std::size_t i = 0; i < plan.size(); ++i)
        table.add({std::to_string(i + 1), countText(plan[i].epochs), countText(plan[i].cells)});
    const std::int64_t all = cells * sweep.trial.epochs, each = epochsOf(plan);
    return table.text() +
           fmt::format(
               "At each rung one cell of {} goes on by {}: about {} of {} epochs{}, or a few more, as no cell "
               "waits for the others.\n",
               sweep.reduction, sweep.scheduler, countText(each), countText(all),
               sweep.repeats > 1 ? " of each seed" : "");
}

std::string rungTable(const SweepResult& sweep) {
    const auto rungs = rungsOf(sweep.spec);
    if (!rungs || sweep.climbers.empty()) return {};
    Table table({"RUNG", "EPOCHS", "CELLS", "WENT ON", "FORETELLS THE NEXT"});
    for (std::size_t i = 0; i <= rungs->top(); ++i) {
        const Come come = comeTo(sweep, i);
        table.add({std::to_string(i + 1), countText(rungs->epochs[i]), countText(come.cells),
                   i < rungs->top() ? countText(come.wentOn) : "",
                   come.foretells ? fmt::format("{:+.2f}", *come.foretells) : ""});
    }
    return table.text();
}

std::string pausedText(const SweepResult& sweep, const CellResult& cell) {
    const auto rungs = rungsOf(sweep.spec);
    const auto standing = standingOf(sweep.climbers, cell.number);
    if (!rungs || !standing || standing->rung == rungs->top() || cell.open > 0 || cell.failed > 0) return {};
    const bool maySoonGoOn = sweep.group.state == GroupState::Active || sweep.group.state == GroupState::Paused;
    return fmt::format("{} at rung {} of {}, rank {} of {}", maySoonGoOn ? "paused" : "stopped", standing->rung + 1,
                       rungs->epochs.size(), standing->rank, standing->of);
}

Json rungsJson(const SweepResult& sweep) {
    Json out = Json::array();
    const auto rungs = rungsOf(sweep.spec);
    for (std::size_t i = 0; rungs && i <= rungs->top(); ++i) {
        const Come come = comeTo(sweep, i);
        out.push_back({{"rung", i + 1},
                       {"epochs", rungs->epochs[i]},
                       {"cells", come.cells},
                       {"went_on", come.wentOn},
                       {"rank_correlation", come.foretells ? Json(*come.foretells) : Json()}});
    }
    return out;
}

Json standingJson(const SweepResult& sweep, std::int64_t cell) {
    const auto standing = standingOf(sweep.climbers, cell);
    if (!standing) return {};
    return {{"rung", standing->rung + 1}, {"rank", standing->rank}, {"of", standing->of}};
}

}  // namespace lockstep
