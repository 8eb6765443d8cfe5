#include <fmt/format.h>

#include <memory>
#include <set>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/number_checks.h"
#include "app/trial_json.h"
#include "engine/history/queue_query.h"

namespace lockstep {

namespace {

struct TrialsOptions {
    TrialFilter filter;
    std::int64_t sweep = 0;  // 0: whether of one or not
    bool json = false;
};

// Those that belong to the sweep; the limit counts them alone.
std::vector<TrialRow> listed(TrialService& trials, const TrialsOptions& options) {
    if (options.sweep == 0) return trials.list(options.filter);
    TrialFilter all = options.filter;
    all.limit = 0;
    auto rows = trials.list(all);
    const QueueQuery queue(trials.query());
    if (!queue.group(options.sweep)) throw ProblemError({"sweep", "group.unknown", {std::to_string(options.sweep)}});
    std::set<std::int64_t> members;
    for (const GroupTrial& each : queue.trials(options.sweep)) {
        if (each.trial) members.insert(*each.trial);
    }
    std::erase_if(rows, [&](const TrialRow& row) { return !members.contains(row.id); });
    const auto limit = static_cast<std::size_t>(options.filter.limit);
    if (limit > 0 && rows.size() > limit) rows.resize(limit);
    return rows;
}

std::string progressOf(const TrialRow& row) { return fmt::format("{}/{}", row.epoch, row.epochs); }

std::string bestOf(const TrialRow& row) {
    const Metric& metric = *metricsOf(row).quality;
    const auto value = best(row, metric);
    if (!value) return "–";
    return metric.unit == MetricUnit::Share ? metricText(metric, *value) : namedText(metric, *value);
}

int trials(Context& context, const TrialsOptions& options) {
    auto service = openTrialsToRead(context);
    keepQueueGoing(service, context);
    const auto rows = listed(service, options);
    if (options.json) {
        Json out = Json::array();
        for (const auto& row : rows) out.push_back(trialJson(row));
        fmt::print("{}\n", lineOf({{"trials", out}}));
        return kDone;
    }
    if (rows.empty()) {
        fmt::print("No trials{}. Start one with: lockstep train --preset fashion\n",
                   options.filter.text.empty() && options.sweep == 0 ? " yet" : " like that");
        return kDone;
    }
    Table table({"ID", "STATE", "DATASET", "MODEL", "DEVICES", "EPOCH", "BEST", "RATE", "STARTED", "TITLE"});
    for (const auto& row : rows) {
        table.add({std::to_string(row.id), row.state, row.dataset, row.model, row.devices, progressOf(row), bestOf(row),
                   row.samplesPerSecond ? rateText(*row.samplesPerSecond) : "–", timeText(row.createdAt), row.title});
    }
    fmt::print("{}", table.text());
    return kDone;
}

}  // namespace

void addTrials(CLI::App& program, Run& run) {
    const auto options = std::make_shared<TrialsOptions>();
    auto* command = program.add_subcommand("trials", "The history: every trial, newest first");
    command->add_option("--text", options->filter.text, "Only those with this in title, dataset, model or note")
        ->type_name("TEXT");
    command->add_option("--sweep", options->sweep, "Only those of this sweep")->type_name("N")->check(atLeastOne());
    command->add_option("--limit", options->filter.limit, "At most so many")->type_name("N")->check(notNegative());
    command->add_flag("--deleted", options->filter.deleted, "Those in the trash");
    command->add_flag("--json", options->json, "As JSON");
    command->footer(
        "\nStates: queued, preparing, running, paused, stopping; finished, stopped, failed, cancelled, crashed.");
    command->callback([options, &run] { run = [options](Context& context) { return trials(context, *options); }; });
}

}  // namespace lockstep
