#include "app/disk_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/format.h"

namespace lockstep {

namespace {

constexpr std::size_t kMostItems = 30, kMostFiles = 4;

std::string nameOfItem(const FreeItem& item) {
    switch (item.kind) {
        case FreeItem::Kind::Trial: return fmt::format("trial {}", item.trial);
        case FreeItem::Kind::Orphan: return fmt::format("orphan {}", item.trial);
        case FreeItem::Kind::DatasetCache: return "cache of decoded images";
        case FreeItem::Kind::PlanCache: return "cache of timed kernels";
    }
    return {};
}

std::string filesText(const FreeItem& item) {
    std::string out;
    std::size_t told = 0, count = 0;
    for (const DiskFile& each : item.files) {
        if (each.isFolder) continue;
        ++count;
        if (told < kMostFiles) out += (out.empty() ? "" : ", ") + each.path, ++told;
    }
    return count > told ? fmt::format("{} and {} more", out, count - told) : out;
}

// Whether the newest checkpoints of those that pause at rungs stay, or what it costs that they go.
std::string rungText(const AtRungs& paused, bool goes) {
    const std::string trials = trialNumbers(paused.trials);
    if (!goes)
        return fmt::format(
            "The newest checkpoints stay, for sweep {} may let the trials go on (--at-rungs frees them): {}\n",
            paused.sweep, trials);
    return fmt::format("Those that sweep {} lets go on are trained anew, {} in all so far: {}\n", paused.sweep,
                       plural(paused.epochs, "epoch"), trials);
}

std::string sparedText(const FreePlan& plan) {
    std::string text;
    if (!plan.spared.empty())
        text = fmt::format("Left alone, for they run, are paused or queued: {}\n", trialNumbers(plan.spared));
    for (const AtRungs& each : plan.atRungs) text += rungText(each, plan.request.atRungs);
    return text;
}

std::string itemsTable(const FreePlan& plan) {
    Table table({"WHAT", "ON DISK", "FILES"});
    for (std::size_t i = 0; i < std::min(plan.items.size(), kMostItems); ++i) {
        const FreeItem& each = plan.items[i];
        table.add({nameOfItem(each), bytesText(bytesFreedBy(each.files)), filesText(each)});
    }
    const std::string text = table.text();
    return plan.items.size() > kMostItems ? text + fmt::format("… and {} more\n", plan.items.size() - kMostItems)
                                          : text;
}

}  // namespace

std::string trialNumbers(const std::vector<std::int64_t>& trials) {
    std::string out;
    for (std::size_t i = 0; i < std::min(trials.size(), kMostItems); ++i)
        out += (i == 0 ? "" : ", ") + std::to_string(trials[i]);
    return trials.size() > kMostItems ? fmt::format("{} and {} more", out, trials.size() - kMostItems) : out;
}

std::string freePlanText(const FreePlan& plan) {
    std::string text = sparedText(plan);
    if (plan.items.empty()) return text + "Nothing to free by these choices.\n";
    text += itemsTable(plan) + fmt::format("\nThis frees {}, for good.", bytesText(plan.bytes));
    if (countOf(plan, FreeItem::Kind::Trial) > 0)
        text += " Trials stay in the history, with their settings and curves.";
    if (const auto lost = lostTrials(plan); lost > 0)
        text += fmt::format(" Orphans that hold a trial, which `lockstep import` would take in again: {}.", lost);
    return text + "\n";
}

Json freePlanJson(const FreePlan& plan, const Freed& freed, const std::optional<Problem>& undone, const Words& words) {
    Json items = Json::array();
    for (const FreeItem& each : plan.items) {
        Json files = Json::array();
        for (const DiskFile& file : each.files)
            if (!file.isFolder) files.push_back(file.path);
        items.push_back({{"what", nameOfItem(each)},
                         {"trial", each.trial},
                         {"bytes", bytesFreedBy(each.files)},
                         {"files", std::move(files)}});
    }
    auto problems = freed.problems;
    if (plan.refused) problems.push_back(*plan.refused);
    if (undone) problems.push_back(*undone);
    std::vector<std::int64_t> spared = plan.spared;
    spared.insert(spared.end(), freed.spared.begin(), freed.spared.end());
    Json atRungs = Json::array();
    for (const AtRungs& each : plan.atRungs)
        atRungs.push_back({{"sweep", each.sweep}, {"trials", each.trials}, {"epochs", each.epochs}});
    return {{"planned", plan.bytes}, {"freed", freed.bytes},           {"items", std::move(items)},
            {"spared", spared},      {"at_rungs", std::move(atRungs)}, {"problems", problemsJson(problems, words)}};
}

}  // namespace lockstep
