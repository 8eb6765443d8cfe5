#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/not_negative.h"
#include "app/trial_json.h"

namespace lockstep {

namespace {

struct TrialsOptions {
    TrialFilter filter;
    bool json = false;
};

std::string progressOf(const TrialRow& row) { return fmt::format("{}/{}", row.epoch, row.epochs); }

std::string bestOf(const TrialRow& row) {
    const Metric& metric = *metricsOf(row.model).test;
    const auto value = best(row, metric);
    if (!value) return "–";
    return metric.unit == MetricUnit::Share ? metricText(metric, *value) : namedText(metric, *value);
}

int trials(Context& context, const TrialsOptions& options) {
    const auto rows = openTrialsToRead(context).list(options.filter);
    if (options.json) {
        Json out = Json::array();
        for (const auto& row : rows) out.push_back(trialJson(row));
        fmt::print("{}\n", lineOf({{"trials", out}}));
        return kDone;
    }
    if (rows.empty()) {
        fmt::print("No trials{}. Start one with: lockstep train --preset fashion\n",
                   options.filter.text.empty() ? " yet" : " like that");
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
    command->add_option("--limit", options->filter.limit, "At most so many")->type_name("N")->check(notNegative());
    command->add_flag("--deleted", options->filter.deleted, "Those in the trash");
    command->add_flag("--json", options->json, "As JSON");
    command->footer(
        "\nStates: queued, preparing, running, paused, stopping; finished, stopped, failed, cancelled, crashed.");
    command->callback([options, &run] { run = [options](Context& context) { return trials(context, *options); }; });
}

}  // namespace lockstep
