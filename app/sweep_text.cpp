#include "app/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "app/format.h"
#include "app/rung_text.h"
#include "engine/queue/queue_problem.h"

namespace lockstep {

namespace {

std::string trialsText(const CellResult& cell) {
    std::string text;
    for (const std::int64_t each : cell.trials) text += (text.empty() ? "" : ", ") + std::to_string(each);
    return text;
}

bool hasClimbedFurther(const SweepResult& sweep, const CellResult& one, const CellResult& other) {
    const auto a = standingOf(sweep.climbers, one.number), b = standingOf(sweep.climbers, other.number);
    if (!a || !b) return a.has_value() && !b;
    return a->rung != b->rung ? a->rung > b->rung : a->rank < b->rank;
}

}  // namespace

std::string objectiveName(const Metric& metric) {
    return std::string(text(metric.split)) + ' ' + std::string(metric.name);
}

std::string objectiveText(const CellResult& cell, const Metric* objective) {
    if (!objective || cell.count == 0) return "–";
    const std::string mean = metricText(*objective, cell.mean);
    if (cell.count == 1) return mean;
    const bool isShare = objective->unit == MetricUnit::Share;
    return fmt::format("{} ± {:.{}f} (n {})", mean, (isShare ? 100 : 1) * cell.deviation, isShare ? 2 : 4, cell.count);
}

std::string progressText(const SweepResult& sweep) {
    std::string text = fmt::format("{} of {} finished", sweep.finished, plural(sweep.planned, "trial"));
    const auto add = [&](std::int64_t count, const char* word) {
        if (count > 0) text += fmt::format(", {} {}", count, word);
    };
    add(sweep.running, "running"), add(sweep.halted, "paused");
    add(sweep.paused, sweep.mayGoOn() ? "paused at a rung" : "stopped at a rung"), add(sweep.failed, "failed");
    add(sweep.cancelled, "cancelled"), add(sweep.removed, "deleted"), add(sweep.adopted, "known before");
    if (sweep.best) {
        const CellResult& best = sweep.cells[*sweep.best];
        text += fmt::format("; best {} {}: {}", objectiveName(*sweep.objective), objectiveText(best, sweep.objective),
                            printable(wordsOf(best.settings)));
    } else if (const std::string atRung = bestAtRungText(sweep); !atRung.empty()) {
        text += "; " + atRung;
    }
    if (const auto left = sweep.secondsLeft(); left && sweep.group.state == GroupState::Active)
        text += fmt::format("; about {} left", durationText(*left));
    return text;
}

// Cells with a value first, the best of them first; then those that have climbed the furthest.
std::vector<std::size_t> ranked(const SweepResult& sweep) {
    std::vector<std::size_t> order(sweep.cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const CellResult &one = sweep.cells[a], &other = sweep.cells[b];
        if (one.count == 0 && other.count == 0) return hasClimbedFurther(sweep, one, other);
        if (one.count == 0 || other.count == 0) return one.count > other.count;
        return isBetter(*sweep.objective, one.mean, other.mean);
    });
    return order;
}

std::string stateText(const SweepResult& sweep, const CellResult& cell) {
    std::string text = pausedText(sweep, cell);
    const auto add = [&](std::int64_t count, const char* word) {
        if (count > 0) text += (text.empty() ? "" : ", ") + fmt::format("{} {}", count, word);
    };
    add(cell.finished, "finished"), add(cell.failed, "failed"), add(cell.running, "running");
    add(cell.halted, "paused"), add(cell.open - cell.running - cell.halted, "waiting"),
        add(cell.cancelled, "cancelled"), add(cell.removed, "deleted");
    return text;
}

std::string cellsTable(const SweepResult& sweep) {
    std::string objective = sweep.objective ? objectiveName(*sweep.objective) : "objective";
    std::ranges::transform(objective, objective.begin(), [](unsigned char c) { return std::toupper(c); });
    Table table({"CELL", objective, "STATE", "TRIALS"});
    for (const std::size_t at : ranked(sweep)) {
        const CellResult& cell = sweep.cells[at];
        const std::string atRung = rungValueText(sweep, cell);
        table.add({wordsOf(cell.settings), atRung.empty() ? objectiveText(cell, sweep.objective) : atRung,
                   stateText(sweep, cell), trialsText(cell)});
    }
    const std::string rungs = rungTable(sweep);
    return table.text() + (rungs.empty() ? "" : "\n" + rungs);
}

std::string failureText(const SweepResult& sweep, const Words& words) {
    if (!sweep.firstFailure) return {};
    return fmt::format("\n{} failed; the first: {}\n  → {}\n", sweep.failed, words.what(*sweep.firstFailure),
                       words.remedy(*sweep.firstFailure));
}

std::string virtualText(const SweepResult& sweep) {
    return sweep.isVirtual ? std::string(kVirtualDevices) + '\n' : std::string();
}

Json finiteOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json settingsJson(const Cell& cell) {
    Json settings = Json::object();
    for (const Setting& each : cell)
        settings[each.path] = std::visit([](const auto& value) { return Json(value); }, each.value);
    return settings;
}

Json sweepResultJson(const SweepResult& sweep, const Words& words) {
    Json out{{"sweep", sweep.group.id},
             {"title", sweep.group.title},
             {"state", text(sweep.group.state)},
             {"objective", sweep.objective ? Json(sweep.objective->key) : Json()},
             {"planned", sweep.planned},
             {"ended", sweep.ended},
             {"finished", sweep.finished},
             {"failed", sweep.failed},
             {"paused", sweep.paused},
             {"cancelled", sweep.cancelled},
             {"deleted", sweep.removed},
             {"first_failure", sweep.firstFailure ? words.what(*sweep.firstFailure) : ""},
             {"virtual_devices", sweep.isVirtual},
             {"running", sweep.running},
             {"waiting", sweep.waiting()},
             {"paused_by_person", sweep.halted},
             {"adopted", sweep.adopted},
             {"seconds_left", sweep.secondsLeft() ? Json(*sweep.secondsLeft()) : Json()},
             {"best", sweep.best ? Json(sweep.cells[*sweep.best].number) : Json()},
             {"best_at_rung", sweep.bestAtRung ? Json(sweep.cells[*sweep.bestAtRung].number) : Json()},
             {"rungs", rungsJson(sweep)},
             {"problems", Json::array()},
             {"cells", Json::array()}};
    if (const auto problem = problemFrom(sweep.group.reason)) out["problems"] = problemsJson({*problem}, words);
    for (const CellResult& cell : sweep.cells) {
        out["cells"].push_back({{"cell", cell.number},
                                {"settings", settingsJson(cell.settings)},
                                {"trials", cell.trials},
                                {"finished", cell.finished},
                                {"failed", cell.failed},
                                {"running", cell.running},
                                {"rung", standingJson(sweep, cell)},
                                {"paused", cell.paused},
                                {"paused_by_person", cell.halted},
                                {"cancelled", cell.cancelled},
                                {"deleted", cell.removed},
                                {"n", cell.count},
                                {"best_trial", cell.bestTrial > 0 ? Json(cell.bestTrial) : Json()},
                                {"mean", finiteOrNull(cell.mean)},
                                {"deviation", finiteOrNull(cell.deviation)}});
    }
    return out;
}

}  // namespace lockstep
