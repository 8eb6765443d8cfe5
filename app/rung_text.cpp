#include "app/rung_text.h"

#include <fmt/format.h>

#include "app/format.h"

namespace lockstep {

std::string rungPlanText(const SweepSpec& sweep, std::int64_t cells) {
    const auto rungs = rungsOf(sweep);
    if (!rungs) return {};
    const auto plan = planOf(*rungs, cells);
    Table table({"RUNG", "EPOCHS", "CELLS"});
    for (std::size_t i = 0; i < plan.size(); ++i)
        table.add({std::to_string(i + 1), countText(plan[i].epochs), countText(plan[i].cells)});
    std::string warning;
    if (plan.back().cells == 0)
        warning = "No cell is sure to train to its end: that takes more cells, or fewer epochs.\n";
    const std::int64_t all = cells * sweep.trial.epochs, each = epochsOf(plan);
    return table.text() +
           fmt::format(
               "At each rung one cell of {} goes on by {}: about {} of {} epochs{}, or a few more, as no cell "
               "waits for the others.\n",
               sweep.reduction, sweep.scheduler, countText(each), countText(all),
               sweep.repeats > 1 ? " of each seed" : "") +
           warning;
}

std::string rungTable(const SweepResult& sweep) {
    const auto rungs = rungsOf(sweep.spec);
    if (!rungs || sweep.climbers.empty()) return {};
    Table table({"RUNG", "EPOCHS", "CELLS", "WENT ON", "FORETELLS THE NEXT"});
    for (std::size_t i = 0; i <= rungs->top(); ++i) {
        const RungCount come = countAt(sweep.climbers, i);
        table.add({std::to_string(i + 1), countText(rungs->epochs[i]), countText(come.cells),
                   i < rungs->top() ? countText(come.wentOn) : "",
                   come.foretells ? fmt::format("{:+.2f}", *come.foretells) : ""});
    }
    return table.text();
}

std::string pausedText(const SweepResult& sweep, const CellResult& cell) {
    const auto stop = rungStopOf(sweep, cell);
    if (!stop) return {};
    return fmt::format("{} at rung {} of {}, rank {} of {}", stop->waits ? "paused" : "stopped",
                       stop->standing.rung + 1, stop->rungs, stop->standing.rank, stop->standing.of);
}

Json rungsJson(const SweepResult& sweep) {
    Json out = Json::array();
    const auto rungs = rungsOf(sweep.spec);
    for (std::size_t i = 0; rungs && i <= rungs->top(); ++i) {
        const RungCount come = countAt(sweep.climbers, i);
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
