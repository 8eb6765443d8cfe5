#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "app/commands/commands.h"
#include "app/disk_text.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/listing.h"
#include "engine/spec/kept_checkpoints.h"
#include "engine/trials/disk_service.h"

namespace lockstep {

namespace {

constexpr std::size_t kHeaviest = 10;

struct DiskOptions {
    std::string keep, age, trials;
    bool frees = false, traces = false, caches = false, orphans = false, atRungs = false, isSure = false, isDry = false,
         json = false;
};

constexpr const char* kDiskHelp = R"(
What is freed is gone for good. A trial whose checkpoints were freed stays in the history, with its settings and curves.
Trials that run, are paused or queued are left alone; of those that pause at a rung of a sweep the newest checkpoint
stays, or they would be trained anew where the sweep lets them go on. Without --yes it shows what would go, and asks.

Examples:
  lockstep disk
  lockstep disk --free --keep last                     of trials that have ended, only the newest checkpoints stay
  lockstep disk --free --keep best:1 --older-than 30d
  lockstep disk --free --keep none --trials 3,5,7-9 --yes
  lockstep disk --free --caches --orphans)";

// Throws the ProblemError of the first that is not understood.
template <class T>
T wordOf(const Result<T>& read) {
    if (!read.ok()) throw ProblemError(read.problems().front());
    return read.value();
}

// A range may have gaps; one that has no trial at all is mistyped.
void requireTrials(const FreeRequest& request, const DiskWeight& weight, const Places& places) {
    for (const auto& [first, last] : request.trials) {
        const auto isThere = [&](const TrialWeight& each) { return each.run.trial >= first && each.run.trial <= last; };
        if (std::ranges::any_of(weight.trials, isThere)) continue;
        const std::string range = first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
        throw ProblemError({"trials", "trial.unknown", {range, places.history().string()}});
    }
}

FreeRequest freeRequestOf(const DiskOptions& options) {
    FreeRequest request;
    if (!options.keep.empty()) request.keep = wordOf(parseStays(options.keep));
    if (!options.age.empty()) request.olderThan = wordOf(parseAge(options.age));
    if (!options.trials.empty()) request.trials = wordOf(parseTrialRanges(options.trials));
    request.traces = options.traces, request.caches = options.caches, request.orphans = options.orphans,
    request.atRungs = options.atRungs;
    return request;
}

template <class T>
std::uint64_t sumOf(const std::vector<T>& runs, std::uint64_t RunWeight::*part) {
    std::uint64_t bytes = 0;
    for (const T& each : runs) bytes += each.run.*part;
    return bytes;
}

std::string orphansText(const DiskWeight& weight) {
    const auto holding = std::ranges::count(weight.orphans, true, &OrphanWeight::holdsTrial);
    std::string text = bytesText(weight.orphaned());
    if (!weight.orphans.empty()) text += fmt::format(", {} that the history does not know", weight.orphans.size());
    if (holding > 0) text += fmt::format("; `lockstep import` takes {} of them in again", holding);
    return text;
}

void printWeight(const DiskWeight& weight, const Places& places) {
    fmt::print("{} in {}, in {}; {} free\n\n", bytesText(weight.total()), plural(std::ssize(weight.trials), "trial"),
               printable(places.data.string()), bytesText(weight.available));
    Table table({"WHAT", "ON DISK"});
    table.add({"history.sqlite",
               fmt::format("{}, of which curves {}", bytesText(weight.database), bytesText(weight.series))});
    table.add({"checkpoints", bytesText(sumOf(weight.trials, &RunWeight::checkpoints))});
    table.add({"timelines", bytesText(sumOf(weight.trials, &RunWeight::traces))});
    table.add({"logs", bytesText(sumOf(weight.trials, &RunWeight::logs))});
    table.add({"other files of trials", bytesText(sumOf(weight.trials, &RunWeight::other))});
    table.add({"cache of decoded images", bytesText(bytesOnDisk(weight.datasets))});
    table.add({"cache of timed kernels", bytesText(bytesOnDisk(weight.plans))});
    table.add({"orphaned run folders", orphansText(weight)});
    fmt::print("{}", table.text());
}

// Nothing is advised that would free nothing.
void printAdvice(const DiskWeight& weight) {
    FreeRequest request;
    request.keep = StaysKept{};
    const FreePlan plan = planFreeing(weight, request, std::time(nullptr));
    if (plan.items.empty()) return;
    fmt::print(
        "\n`lockstep disk --free --keep last` would free {}: of trials that have ended, all checkpoints but the "
        "newest\n",
        bytesText(plan.bytes));
}

void printHeaviest(const DiskWeight& weight) {
    if (weight.trials.empty()) return;
    Table table({"TRIAL", "ON DISK", "CHECKPOINTS", "TIMELINE", "LOG", "OTHER", "STATE", "MODEL", "TITLE"});
    for (std::size_t i = 0; i < std::min(weight.trials.size(), kHeaviest); ++i) {
        const TrialWeight& each = weight.trials[i];
        table.add({std::to_string(each.run.trial), bytesText(each.run.total()), bytesText(each.run.checkpoints),
                   bytesText(each.run.traces), bytesText(each.run.logs), bytesText(each.run.other),
                   std::string(text(each.state)) + (each.inTrash ? ", in the trash" : ""), each.model, each.title});
    }
    fmt::print("\n{}", table.text());
    if (weight.trials.size() > kHeaviest) fmt::print("… and {} more\n", weight.trials.size() - kHeaviest);
}

Json weightJson(const RunWeight& run) {
    return {{"trial", run.trial},      {"bytes", run.total()}, {"checkpoints", run.checkpoints},
            {"timelines", run.traces}, {"logs", run.logs},     {"other", run.other}};
}

Json weightJson(const DiskWeight& weight, const Places& places) {
    Json trials = Json::array(), orphans = Json::array();
    for (const TrialWeight& each : weight.trials) {
        Json row = weightJson(each.run);
        row["state"] = std::string(text(each.state));
        row["deleted"] = each.inTrash;
        row["may_be_freed"] = each.mayBeFreed();
        row["at_rung_of"] = each.atRungOf > 0 ? Json(each.atRungOf) : Json();
        trials.push_back(std::move(row));
    }
    for (const OrphanWeight& each : weight.orphans) {
        Json row = weightJson(each.run);
        row["holds_trial"] = each.holdsTrial;
        orphans.push_back(std::move(row));
    }
    return {{"home", places.data.string()},
            {"bytes", weight.total()},
            {"available", weight.available},
            {"history", {{"bytes", weight.database}, {"series", weight.series}}},
            {"caches", {{"datasets", bytesOnDisk(weight.datasets)}, {"plans", bytesOnDisk(weight.plans)}}},
            {"trials", std::move(trials)},
            {"orphans", std::move(orphans)}};
}

void printPlan(const FreePlan& plan, const Words& words) {
    if (plan.refused) fmt::print(stderr, "{}", words.report({*plan.refused}));
    fmt::print("{}", freePlanText(plan));
}

bool isAnsweredYes() {
    fmt::print("Free it? [y/N] ");
    std::fflush(stdout);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

bool mayAsk(const DiskOptions& options) { return !options.json && isatty(STDIN_FILENO); }

// Nothing is freed: only looked at, or nobody there to ask.
int leaveIt(const Context& context, const FreePlan& plan, const DiskOptions& options) {
    const auto undone = options.isDry ? std::nullopt : std::optional(Problem{"--yes", "disk.not-confirmed", {}});
    if (options.json) fmt::print("{}\n", lineOf(freePlanJson(plan, {}, undone, context.words())));
    else if (undone) fmt::print(stderr, "{}", context.words().report({*undone}));
    return undone ? kBadRequest : kDone;
}

void printFreed(const FreePlan& plan, const Freed& freed, const Words& words) {
    if (!plan.items.empty()) fmt::print("Freed {}.\n", bytesText(freed.bytes));
    if (!freed.spared.empty())
        fmt::print("Left alone, for they have begun to run or changed meanwhile: {}\n", trialNumbers(freed.spared));
    fmt::print(stderr, "{}", words.report(freed.problems));
}

int freeAsAsked(Context& context, const DiskOptions& options) {
    const FreeRequest request = freeRequestOf(options);
    if (!request.asksForAnything()) return context.report({{"--free", "disk.nothing-asked", {}}});
    auto trials = openTrialsToRead(context);
    DiskService disk(trials);
    const DiskWeight weight = disk.weigh();
    requireTrials(request, weight, trials.places());
    const FreePlan plan = planFreeing(weight, request, std::time(nullptr));
    if (!options.json) printPlan(plan, context.words());
    if (options.isDry || (!plan.items.empty() && !options.isSure && !mayAsk(options)))
        return leaveIt(context, plan, options);
    if (!plan.items.empty() && !options.isSure && !isAnsweredYes()) {
        fmt::print("Nothing was freed.\n");
        return kDone;
    }
    const Freed freed = disk.free(plan);
    if (options.json) fmt::print("{}\n", lineOf(freePlanJson(plan, freed, {}, context.words())));
    else printFreed(plan, freed, context.words());
    const bool isRefused = plan.refused && plan.items.empty();
    return freed.problems.empty() && !isRefused ? kDone : kFailed;
}

int disk(Context& context, const DiskOptions& options) {
    if (options.frees) return freeAsAsked(context, options);
    auto trials = openTrialsToRead(context);
    const DiskWeight weight = DiskService(trials).weigh();
    if (options.json) {
        fmt::print("{}\n", lineOf(weightJson(weight, trials.places())));
        return kDone;
    }
    printWeight(weight, trials.places());
    printHeaviest(weight);
    printAdvice(weight);
    return kDone;
}

}  // namespace

void addDisk(CLI::App& program, Run& run) {
    const auto options = std::make_shared<DiskOptions>();
    auto* command = program.add_subcommand("disk", "What the history takes of the disk; with --free, free some of it");
    auto* frees = command->add_flag("--free", options->frees, "Free what the choices below say");
    command
        ->add_option("--keep", options->keep,
                     "Of trials that have ended: last (the newest checkpoint stays), best:K (and the K best), or none")
        ->type_name("WHICH")
        ->needs(frees);
    command->add_flag("--traces", options->traces, "Timelines of trials that have ended")->needs(frees);
    command->add_option("--older-than", options->age, "Only what ended so long ago: 30d, 12h, 4w")
        ->type_name("AGE")
        ->needs(frees);
    command->add_option("--trials", options->trials, "Only these trials: 3,5,7-9")->type_name("LIST")->needs(frees);
    command->add_flag("--caches", options->caches, "Decoded images and timings of kernels; they are made again")
        ->needs(frees);
    command->add_flag("--orphans", options->orphans, "Run folders that the history does not know")->needs(frees);
    command
        ->add_flag("--at-rungs", options->atRungs,
                   "Also the newest checkpoints of trials that pause at rungs of sweeps, which would go on from there")
        ->needs(frees);
    auto* sure = command->add_flag("--yes", options->isSure, "Free it without asking")->needs(frees);
    command->add_flag("--dry-run", options->isDry, "Show what would go, and free nothing")
        ->needs(frees)
        ->excludes(sure);
    command->add_flag("--json", options->json, "As JSON; with --free it never asks, and frees nothing without --yes");
    command->footer(kDiskHelp);
    command->callback([options, &run] { run = [options](Context& context) { return disk(context, *options); }; });
}

}  // namespace lockstep
