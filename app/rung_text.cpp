#include "app/rung_text.h"

#include <fmt/format.h>

#include "app/format.h"
#include "app/sweep_text.h"
#include "engine/search/importance.h"

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
                   come.correlation ? fmt::format("{:+.2f}", *come.correlation) : ""});
    }
    return table.text();
}

std::string pausedText(const SweepResult& sweep, const CellResult& cell) {
    const auto stop = rungStopOf(sweep, cell);
    if (!stop) return {};
    return fmt::format("{} at rung {} of {}, rank {} of {}", stop->waits ? "paused" : "stopped",
                       stop->standing.rung + 1, stop->rungs, stop->standing.rank, stop->standing.of);
}

std::string rungValueText(const SweepResult& sweep, const CellResult& cell) {
    const auto at = rungValueOf(sweep, cell);
    return at ? fmt::format("{} at epoch {}", metricText(*sweep.objective, at->value), at->epoch) : std::string();
}

std::string bestAtRungText(const SweepResult& sweep) {
    const auto best = bestAtRungOf(sweep);
    if (!best) return {};
    return fmt::format("none trained to its end{}; the best at rung {}: {} {}: {}", sweep.mayGoOn() ? " yet" : "",
                       best->at.rung, objectiveName(*sweep.objective), rungValueText(sweep, *best->cell),
                       printable(wordsOf(best->cell->settings)));
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
                       {"rank_correlation", come.correlation ? Json(*come.correlation) : Json()}});
    }
    return out;
}

Json standingJson(const SweepResult& sweep, const CellResult& cell) {
    const auto standing = standingOf(sweep.climbers, cell.number);
    if (!standing) return {};
    Json out{{"rung", standing->rung + 1}, {"rank", standing->rank}, {"of", standing->of}};
    const auto at = rungValueOf(sweep, cell);
    out["value"] = at ? Json(at->value) : Json();
    out["epoch"] = at ? Json(at->epoch) : Json();
    return out;
}

std::vector<EarlyRung> earlyRungs(const SweepResult& sweep, const std::function<std::size_t(std::int64_t)>& cellsAt) {
    std::vector<EarlyRung> early;
    const auto rungs = rungsOf(sweep.spec);
    for (std::size_t i = 0; rungs && i < rungs->epochs.size(); ++i)
        early.push_back({static_cast<std::int64_t>(i) + 1, rungs->epochs[i], cellsAt(rungs->epochs[i])});
    return early;
}

std::string earlierRungText(std::size_t cells, std::size_t trained, const std::vector<EarlyRung>& rungs) {
    const EarlyRung* best = nullptr;
    for (const EarlyRung& each : rungs) {
        const bool isEnough = each.cells >= kFewestTried && each.cells > trained;
        if (isEnough || (each.cells > trained && !best)) best = &each;
    }
    if (!best) return {};
    return fmt::format("{} of {} were trained to the end; --rung {} asks with the {} that came to epoch {}.\n", trained,
                       plural(static_cast<std::int64_t>(cells), "cell"), best->rung, best->cells, best->epoch);
}

Result<std::int64_t> epochOfRung(const SweepResult& sweep, std::int64_t rung) {
    const std::string number = std::to_string(sweep.group.id);
    const auto rungs = rungsOf(sweep.spec);
    if (!rungs) return Problem{"--rung", "rungs.none", {number}};
    const std::int64_t count = std::ssize(rungs->epochs);
    if (rung > count) return Problem{"--rung", "rungs.beyond", {std::to_string(rung), number, std::to_string(count)}};
    return rungs->epochs[static_cast<std::size_t>(rung - 1)];
}

}  // namespace lockstep
