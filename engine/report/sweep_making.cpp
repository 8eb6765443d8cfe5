#include <algorithm>

#include "engine/report/machine_rows.h"
#include "engine/report/sweep_sections.h"
#include "engine/spec/shell_words.h"

// On what it was trained, and how to search the same again.

namespace lockstep::report {

namespace {

constexpr std::size_t kMostMachines = 5;

std::string sweepFile(const SweepFacts& facts) { return "sweep-" + std::to_string(facts.group.id) + ".json"; }

std::vector<Line> sweepNotes(const SweepFacts& facts) {
    const SweepSpec& spec = facts.spec;
    std::vector<Line> notes{"Seed " + std::to_string(spec.seed) +
                            " suggests the same cells in the same order, as long as what they come to is the same and "
                            "as many train at once."};
    notes.emplace_back("Trials of it that are in the history already are taken from there.");
    if (spec.repeats > 1)
        notes.emplace_back("The trials of a cell have the seeds from " + std::to_string(spec.trial.seed) + " on.");
    if (spec.trial.reproducible())
        notes.emplace_back("Mode reproducible: a trial comes to the same bits on 1, 2, 4 or 8 devices of a kind.");
    else
        notes.emplace_back(
            "Mode fast: on other devices, or another number of them, sums round differently and figures differ a "
            "little.");
    if (!spec.trial.dataPath.empty())
        notes.push_back(Line({{"The data must lie at "}, code(spec.trial.dataPath.string()), {"."}}));
    return notes;
}

}  // namespace

Blocks sweepEnvironment(const SweepFacts& facts) {
    Blocks blocks{{Heading{"Environment"}}};
    if (facts.machines.empty()) {
        blocks.push_back(
            {Paragraph{Line({{"No trial has begun; asked for: "}, code(facts.spec.trial.devices), {"."}})}});
        return blocks;
    }
    for (std::size_t i = 0; i < std::min(facts.machines.size(), kMostMachines); ++i) {
        NamedRows rows;
        if (facts.machines.size() > 1) rows.add("Trials", std::to_string(facts.machines[i].trials));
        const RunStarted& started = facts.machines[i].started;
        addMachine(rows, started);
        rows.add("Precision", started.precision.empty() ? facts.spec.trial.precision : started.precision);
        rows.add("Mode", facts.spec.trial.mode);
        blocks.push_back(std::move(rows).table());
    }
    if (facts.machines.size() > kMostMachines)
        blocks.push_back({Paragraph{
            "And " + counted(static_cast<std::int64_t>(facts.machines.size() - kMostMachines), "other.", "others.")}});
    return blocks;
}

Blocks sweepRepeat(const SweepFacts& facts) {
    Blocks blocks{{Heading{"How to repeat it"}},
                  {Paragraph{Line({{"With the file below as "}, code(sweepFile(facts)), {":"}})}},
                  {CodeBlock{"lockstep sweep " + sweepFile(facts) + '\n', "sh"}},
                  {BulletList{sweepNotes(facts)}},
                  {Folded{"The sweep's file, " + sweepFile(facts), {{CodeBlock{sweepJson(facts.spec), "json"}}}}}};
    if (!facts.hasBest()) return blocks;
    blocks.push_back({Paragraph{"The best cell alone, with its first seed:"}});
    blocks.push_back({CodeBlock{trainCommand(trialOf(facts.spec.trial, facts.best().settings)), "sh"}});
    return blocks;
}

}  // namespace lockstep::report
