#include "engine/report/sweep_report.h"

#include <algorithm>
#include <cmath>

#include "engine/core/number_text.h"
#include "engine/report/machine_rows.h"
#include "engine/report/sweep_sections.h"
#include "engine/spec/metric_text.h"

namespace lockstep::report {

namespace {

constexpr std::size_t kFlattering = 2;  // cells, from which on the best of them is too good

std::string titleOfSweep(const SweepFacts& facts) {
    if (!facts.group.title.empty()) return facts.group.title;
    return "Sweep " + std::to_string(facts.group.id) + ": " + facts.spec.trial.model.id + " on " +
           facts.spec.trial.dataset.id;
}

std::string stateOfSweep(const SweepFacts& facts) {
    switch (facts.group.state) {
        case GroupState::Active: return "It is still under way: the report says how it stood when it was written.";
        case GroupState::Paused: return "It is paused: a person has to let it go on.";
        case GroupState::Finished: return "It has come to its end.";
        case GroupState::Cancelled: return "It was cancelled before its end.";
        case GroupState::Failed: return "It failed, and ended before its time.";
    }
    return {};
}

std::string outcomeOfSweep(const SweepFacts& facts) {
    if (facts.hasBest())
        return "Its best cell came to " + resultText(facts.best(), *facts.objective) + ' ' +
               objectiveName(*facts.objective) + '.';
    if (std::ranges::all_of(facts.cells, [](const ReportedCell& each) { return each.trials.empty(); }))
        return "It has no trial, so there is nothing to tell of but what was asked for.";
    if (facts.bestAtRung)
        return "No cell has trained to its end; the best of those at the highest rung is cell " +
               std::to_string(facts.cells[facts.bestAtRung->cell].number) + ", with " +
               metricText(*facts.objective, facts.bestAtRung->value) + ' ' + objectiveName(*facts.objective) +
               " by epoch " + std::to_string(facts.bestAtRung->epoch) + '.';
    const bool isBarren = facts.failed > 0 && facts.running + facts.halted + facts.waiting + facts.atRungs == 0;
    return isBarren ? "None of its trials came to a result; what failed and why is told below."
                    : "No trial has come to its end yet, so there is no best cell.";
}

std::string methodText(const SweepFacts& facts) {
    std::string words = facts.spec.method;
    if (facts.method != facts.spec.method && !facts.method.empty()) words += ", which was " + facts.method;
    if (!facts.methodReason.empty()) words += ". " + facts.methodReason;
    return words;
}

std::string schedulerText(const SweepSpec& spec) {
    const auto rungs = rungsOf(spec);
    if (!rungs) return "none: each trial trains all its epochs";
    std::vector<std::string> epochs;
    for (const std::int64_t each : rungs->epochs) epochs.push_back(std::to_string(each));
    return spec.scheduler + ": of " + std::to_string(spec.reduction) + " cells one goes on, at rungs after epochs " +
           joinedText(epochs);
}

std::string trialsText(const SweepFacts& facts) {
    std::vector<std::string> parts;
    const auto add = [&](std::int64_t count, const char* word) {
        if (count > 0) parts.push_back(countText(count) + ' ' + word);
    };
    add(facts.finished, "finished"), add(facts.atRungs, "stopped at a rung"), add(facts.failed, "failed");
    add(facts.running, "running"), add(facts.halted, "paused"), add(facts.waiting, "waiting"),
        add(facts.cancelled, "cancelled");
    add(facts.removed, "deleted");
    if (parts.empty()) parts.emplace_back("none made");
    std::string words = joinedText(parts);
    if (facts.planned > 0) words += "; " + countText(facts.planned) + " planned at most";
    if (facts.adopted > 0) words += "; " + countText(facts.adopted) + " were in the history before";
    return words;
}

std::string budgetText(const SweepBudget& budget) {
    std::string words = counted(budget.spent, "epoch", "epochs") + " trained";
    if (budget.planned && *budget.planned > 0) {
        const double share = static_cast<double>(budget.spent) / static_cast<double>(*budget.planned);
        words += ", of " + countText(*budget.planned) + " if every cell trained to its end (" +
                 formatted("%.0f %%", 100 * share) + ')';
    }
    if (budget.scheduled)
        words += "; the scheduler's plan is about " + countText(*budget.scheduled) +
                 ", and more where no cell waits for others";
    return words;
}

double secondsOf(const SweepFacts& facts) {
    double seconds = 0;
    for (const ReportedCell& cell : facts.cells) {
        for (const ReportedTrial& trial : cell.trials) seconds += trial.seconds;
    }
    return seconds;
}

std::string listWords(const ChoiceOfValues& values) {
    std::vector<std::string> words;
    for (const ParamValue& each : values) words.push_back(text(each));
    return joinedText(words);
}

std::string numbersWords(const NumberRange& range) {
    std::string words = text(range.low) + " to " + text(range.high) + (range.isLog ? ", logarithmic" : "");
    if (range.step > 0) words += ", in steps of " + text(range.step);
    if (range.points > 0) words += ", " + std::to_string(range.points) + " points";
    return words;
}

std::string rangeWords(const Dimension& dimension) {
    const auto* values = std::get_if<ChoiceOfValues>(&dimension.values);
    std::string words = values ? listWords(*values) : numbersWords(std::get<NumberRange>(dimension.values));
    for (const DimensionCondition& each : dimension.when) {
        words += ", where " + each.path + " is " + listWords(each.values);
    }
    return words;
}

std::string valueOf(const Cell& cell, const std::string& path) {
    const auto found = std::ranges::find(cell, path, &Setting::path);
    return found == cell.end() ? "not set" : text(found->value);
}

const ReportedCell* bestOf(const SweepFacts& facts) {
    if (facts.hasBest()) return &facts.best();
    return facts.bestAtRung ? &facts.cells[facts.bestAtRung->cell] : nullptr;
}

Block spaceTable(const SweepFacts& facts) {
    const ReportedCell* best = bestOf(facts);
    TextTable table{{"Setting", "Searched"}, {}};
    if (best) table.header.insert(table.header.begin() + 1, "Best");
    for (const Dimension& each : facts.spec.vary) {
        std::vector<Line> row{Line({code(each.path)}), rangeWords(each)};
        if (best) row.insert(row.begin() + 1, Line({strong(valueOf(best->settings, each.path))}));
        table.rows.push_back(std::move(row));
    }
    return {table};
}

std::int64_t epochsOfCell(const SweepSpec& spec, const Cell& cell) {
    const auto found = std::ranges::find(cell, "epochs", &Setting::path);
    const auto varied = found == cell.end() ? std::nullopt : numberOf(found->value);
    return varied ? std::llround(*varied) : spec.trial.epochs;
}

// What the best cell comes to on samples that did not choose it.
std::optional<Line> testedWords(const SweepFacts& facts) {
    const ReportedCell& best = facts.best();
    if (!facts.tested) {
        if (facts.objective->split != Split::Test || facts.cells.size() < kFlattering) return std::nullopt;
        return Line({{"The test samples have chosen it, so what they say of it is too good; with "},
                     code("validation_share"),
                     {" other samples choose."}});
    }
    double sum = 0;
    std::int64_t count = 0;
    for (const ReportedTrial& each : best.trials) {
        if (each.tested && each.state == RunState::Finished) sum += *each.tested, ++count;
    }
    if (count == 0) return std::nullopt;
    return Line(
        "On the test samples, which chose nothing: " + metricText(*facts.tested, sum / static_cast<double>(count)) +
        " (" + objectiveName(*facts.tested) + (count > 1 ? ", mean of " + std::to_string(count) : "") + ").");
}

Block sweepWriter(const SweepFacts& facts) {
    return {Paragraph{"Written by " + facts.program + " on " + momentText(facts.writtenAt) + '.'}};
}

}  // namespace

SweepBudget budgetOf(const SweepFacts& facts) {
    SweepBudget budget;
    for (const ReportedCell& cell : facts.cells) {
        for (const ReportedTrial& trial : cell.trials) budget.spent += trial.epoch;
    }
    if (facts.planned <= 0) return budget;
    const std::int64_t repeats = facts.spec.repeats;
    std::int64_t planned = 0;
    for (const ReportedCell& cell : facts.cells) planned += repeats * epochsOfCell(facts.spec, cell.settings);
    const auto unknown = std::max<std::int64_t>(0, facts.planned - std::ssize(facts.cells) * repeats);
    budget.planned = planned + unknown * facts.spec.trial.epochs;
    if (const auto rungs = rungsOf(facts.spec))
        budget.scheduled = repeats * epochsOf(planOf(*rungs, facts.planned / repeats));
    return budget;
}

Blocks sweepHead(const SweepFacts& facts) {
    Blocks blocks{{Paragraph{stateOfSweep(facts) + ' ' + outcomeOfSweep(facts)}}};
    if (facts.failure)
        blocks.push_back(
            {Paragraph{Line({strong("Failure:"), {' ' + facts.failure->what + ' ' + facts.failure->remedy}})}});
    NamedRows rows;
    rows.add("Sweep", std::to_string(facts.group.id));
    rows.add("State", std::string(text(facts.group.state)));
    rows.add("Model", Line({code(facts.spec.trial.model.id)}));
    rows.add("Data", Line({code(facts.spec.trial.dataset.id)}));
    rows.add("Chosen by", facts.objective
                              ? (facts.objective->better == Better::Lower ? "the lowest " : "the highest ") +
                                    objectiveName(*facts.objective)
                              : "what counts for the model");
    rows.add("Method", methodText(facts));
    rows.add("Scheduler", schedulerText(facts.spec));
    rows.add("Repeats", facts.spec.repeats == 1
                            ? "one trial of each cell"
                            : std::to_string(facts.spec.repeats) + " trials of each cell, which differ in their seeds");
    rows.add("Cells", countText(std::ssize(facts.cells)));
    rows.add("Trials", trialsText(facts));
    rows.add("Budget", budgetText(budgetOf(facts)));
    if (const double seconds = secondsOf(facts); seconds > 0)
        rows.add("Time", durationText(seconds) + " of training, all trials together");
    rows.add("Begun", momentText(facts.group.createdAt));
    if (!facts.group.finishedAt.empty()) rows.add("Ended", momentText(facts.group.finishedAt));
    blocks.push_back(std::move(rows).table());
    return blocks;
}

Blocks sweepBest(const SweepFacts& facts) {
    if (!facts.hasBest()) return {{Heading{"What was searched"}}, spaceTable(facts)};
    const ReportedCell& best = facts.best();
    Blocks blocks{{Heading{"The best cell"}},
                  {Paragraph{Line({strong(resultText(best, *facts.objective)),
                                   {' ' + objectiveName(*facts.objective) + ": cell " + std::to_string(best.number) +
                                    (best.count > 1 ? ", mean ± standard deviation of its trials." : ".")}})}},
                  spaceTable(facts)};
    if (auto tested = testedWords(facts)) blocks.push_back({Paragraph{std::move(*tested)}});
    const std::string trial = std::to_string(best.bestTrial);
    blocks.push_back({Paragraph{Line({{"Its best trial is " + trial + ": "},
                                      code("lockstep show " + trial),
                                      {", "},
                                      code("lockstep card " + trial),
                                      {"."}})}});
    return blocks;
}

Document sweepReport(const SweepFacts& facts) {
    const SweepAnswers answers = answersOf(facts);
    Document document{titleOfSweep(facts), sweepHead(facts)};
    append(document.blocks, sweepBest(facts));
    append(document.blocks, sweepProgress(facts));
    append(document.blocks, sweepParallel(facts, answers));
    append(document.blocks, sweepImportance(facts, answers));
    append(document.blocks, sweepHeatMap(facts, answers));
    append(document.blocks, sweepCurves(facts));
    append(document.blocks, sweepRungs(facts));
    append(document.blocks, sweepCells(facts));
    append(document.blocks, sweepFailures(facts));
    append(document.blocks, sweepEnvironment(facts));
    append(document.blocks, sweepRepeat(facts));
    document.blocks.push_back(sweepWriter(facts));
    return document;
}

}  // namespace lockstep::report
