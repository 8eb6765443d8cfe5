#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"
#include "engine/history/trial_query.h"
#include "engine/history/trial_store.h"
#include "engine/session/places.h"
#include "engine/train/precision_remark.h"

namespace lockstep {

namespace {

enum class Verdict { Good, Note, Bad };

struct Finding {
    Verdict verdict = Verdict::Good;
    std::string subject, what, remedy;
};

constexpr std::uint64_t kLittleDisk = 1ull << 30;

Finding findingOf(Verdict verdict, const std::string& subject, const Problem& problem, const Words& words) {
    return {verdict, subject, words.what(problem), words.remedy(problem)};
}

void checkHome(std::vector<Finding>& out, const Words& words) {
    const auto places = preparePlaces(placesFromEnvironment());
    if (!places.ok()) {
        out.push_back(findingOf(Verdict::Bad, "home", places.problems().front(), words));
        return;
    }
    out.push_back({Verdict::Good, "home", places.value().data.string() + " is writable", {}});
    const auto store = TrialStore::open(places.value().history());
    const auto query =
        store.ok() ? TrialQuery::open(places.value().history()) : Result<std::unique_ptr<TrialQuery>>(store.problems());
    if (!query.ok()) {
        out.push_back(findingOf(Verdict::Bad, "history", query.problems().front(), words));
    } else if (const auto damage = query.value()->damage()) {
        out.push_back(findingOf(Verdict::Bad, "history", *damage, words));
    } else {
        const std::int64_t count = std::ssize(query.value()->list({}));
        out.push_back({Verdict::Good,
                       "history",
                       fmt::format("{} is sound; {}", places.value().history().string(), plural(count, "trial")),
                       {}});
    }
    std::error_code failed;
    const auto space = std::filesystem::space(places.value().data, failed);
    if (failed) return;
    const bool little = space.available < kLittleDisk;
    out.push_back({little ? Verdict::Note : Verdict::Good, "disk",
                   bytesText(space.available) + " free for checkpoints and history",
                   little ? "Free some space, or let LOCKSTEP_HOME name a folder on a larger disk." : ""});
}

void checkMachine(std::vector<Finding>& out) {
    out.push_back({Verdict::Good, "cores", fmt::format("{} permitted to this process", permittedCores()), {}});
    struct sysinfo info = {};
    if (sysinfo(&info) != 0) return;
    const auto unit = static_cast<std::uint64_t>(info.mem_unit);
    out.push_back({Verdict::Good,
                   "memory",
                   fmt::format("{} free of {}", bytesText((info.freeram + info.bufferram) * unit),
                               bytesText(info.totalram * unit)),
                   {}});
}

void checkBackends(std::vector<Finding>& out, Context& context) {
    for (const auto& info : context.environment().devices()) {
        const std::string facts = info.facts.bus.empty() ? "" : ": " + factsText(info.facts);
        out.push_back({Verdict::Good, "device " + info.id, info.name + facts, {}});
    }
    for (const auto& info : context.environment().devices()) {
        const auto text = bf16Text(context.environment(), info);
        const Backend& backend = *context.environment().backend(info.backend);
        const bool slow = backend.productSpeed(Precision::Bf16) < kSlowProducts ||
                          backend.productUnits(Precision::Bf16) == ProductUnits::TilesDenied;
        if (!text.empty()) out.push_back({slow ? Verdict::Note : Verdict::Good, "precision on " + info.id, text, {}});
    }
    for (const auto& [backend, reason] : context.environment().missing()) {
        out.push_back(findingOf(Verdict::Note, "device " + backend, reason, context.words()));
    }
}

void checkData(std::vector<Finding>& out, Context& context) {
    for (const auto& entry : context.environment().datasets()) {
        const auto presence = presenceOf(entry);
        if (presence == Presence::NeedsPath) continue;
        if (presence == Presence::Absent)
            out.push_back({Verdict::Note, "dataset " + entry.id, "is not installed", entry.remedy});
        else
            out.push_back({Verdict::Good,
                           "dataset " + entry.id,
                           entry.defaultPath.empty() ? "needs no files" : entry.defaultPath.string(),
                           {}});
    }
    for (const auto& plugin : context.plugins()) {
        if (plugin.problems.empty()) out.push_back({Verdict::Good, "plugin " + plugin.id, plugin.file.string(), {}});
        for (const auto& problem : plugin.problems) {
            out.push_back(
                findingOf(Verdict::Note, "plugin " + plugin.file.filename().string(), problem, context.words()));
        }
    }
}

const char* wordFor(Verdict verdict) {
    switch (verdict) {
        case Verdict::Good: return "ok";
        case Verdict::Note: return "note";
        case Verdict::Bad: return "bad";
    }
    return "?";
}

int doctor(Context& context, bool json) {
    std::vector<Finding> findings;
    checkHome(findings, context.words());
    checkMachine(findings);
    checkBackends(findings, context);
    checkData(findings, context);
    Json rows = Json::array();
    bool sound = true;
    for (const auto& each : findings) {
        sound = sound && each.verdict != Verdict::Bad;
        rows.push_back({{"verdict", wordFor(each.verdict)},
                        {"subject", each.subject},
                        {"what", each.what},
                        {"remedy", each.remedy}});
        if (json) continue;
        fmt::print("{:<5} {}: {}\n", wordFor(each.verdict), printable(each.subject), printable(each.what));
        if (!each.remedy.empty()) fmt::print("      → {}\n", printable(each.remedy));
    }
    if (json) fmt::print("{}\n", lineOf({{"sound", sound}, {"findings", rows}}));
    else
        fmt::print("\n{}\n", sound ? "Everything that is needed to train is in order."
                                   : "Something needs attention before training.");
    return sound ? kDone : kFailed;
}

}  // namespace

void addDoctor(CLI::App& program, Run& run) {
    const auto json = std::make_shared<bool>(false);
    auto* command = program.add_subcommand("doctor", "Check home, history, disk, devices, datasets and plugins");
    command->add_flag("--json", *json, "As JSON");
    command->footer("\nThe exit status is 0 when nothing that training needs is broken, else 1.");
    command->callback([json, &run] { run = [json](Context& context) { return doctor(context, *json); }; });
}

}  // namespace lockstep
