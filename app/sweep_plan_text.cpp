#include "app/sweep_plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/format.h"
#include "app/rung_text.h"
#include "engine/core/bytes_text.h"
#include "engine/model/registry.h"
#include "engine/queue/demand.h"
#include "engine/queue/sweep_results.h"
#include "engine/train/plan_run.h"

namespace lockstep {

namespace {

std::string valuesText(const Dimension& dimension) {
    const std::string words = wordsOf(dimension);
    return words.substr(std::min(words.find('=') + 1, words.size()));
}

// On which the trials run, one after the other.
std::vector<std::string> devicesOf(const SweepSpec& sweep) {
    const auto varied = std::ranges::find(sweep.vary, "devices", &Dimension::path);
    const auto* values = varied == sweep.vary.end() ? nullptr : std::get_if<ChoiceOfValues>(&varied->values);
    if (!values) return {sweep.trial.devices};
    std::vector<std::string> all;
    for (const ParamValue& each : *values) all.push_back(text(each));
    return all;
}

// As the queue judges it.
std::int64_t fittingAtOnce(const Demand& each, const DeviceRequest& request, std::int64_t most) {
    Room room(wholeMachine(request));
    std::int64_t count = 0;
    for (; count < most && room.has(each); ++count) room.take(each);
    return count;
}

bool areVirtual(const std::string& devices, const SweepSpec& sweep, const Environment& environment) {
    TrialSpec trial = sweep.trial;
    trial.devices = devices;
    const auto resolved = resolve(trial, environment);
    if (resolved.ok()) return std::ranges::any_of(resolved.value().devices, &DeviceChoice::isVirtual);
    const DeviceRequest request = environment.deviceRequest(devices);
    const auto chosen = parseDevices(namedDevices(devices, request), request);
    return chosen.ok() && std::ranges::any_of(chosen.value(), &DeviceChoice::isVirtual);
}

std::string roomText(const std::string& devices, std::int64_t parallel, const Environment& environment) {
    const DeviceRequest request = environment.deviceRequest(devices);
    const Demand each = demandOf(devices, request);
    const std::string taken = each.cards.empty() ? fmt::format("{} of {} cores", each.cores, permittedCores())
                                                 : fmt::format("{} of the cards", each.cards.size());
    const std::int64_t fit = fittingAtOnce(each, request, parallel);
    std::string text = fmt::format("A trial on {} takes {}", printable(devices), taken);
    if (fit >= parallel) return text + ".\n";
    text += fmt::format(": the machine has room for {} at once", fit);
    return text + (each.cores > 1 ? "; --devices cpu:1x1 takes one core each.\n" : ".\n");
}

// As large as a checkpoint with one number beside each parameter is, of the model as it usually is; before the data are
// known. Nothing where that is little.
std::string diskText(const SweepSpec& sweep, std::int64_t trials, const Environment& environment) {
    constexpr std::uint64_t kLittle = 1 << 30;
    const auto resolved = resolve(sweep.trial, environment);
    if (!resolved.ok()) return {};
    const ModelEntry& model = *resolved.value().model;
    ModelInput input = usualInput(model, resolved.value().modelParams);
    input.batch = 1;
    const auto forward = buildForward(model, resolved.value().modelParams, input, true);
    if (!forward.ok()) return {};
    const auto each = 2 * sizeof(float) * static_cast<std::uint64_t>(parameterCount(forward.value()));
    const std::uint64_t kept = 1 + static_cast<std::uint64_t>(resolved.value().kept.best);
    const std::uint64_t all = each * kept * static_cast<std::uint64_t>(trials);
    if (all < kLittle) return {};
    return fmt::format(
        "Their checkpoints take about {} of disk in all: {} of about {} stay of each trial"
        " (keep_checkpoints {}).\n",
        bytesText(all), kept, bytesText(each), resolved.value().spec.keepCheckpoints);
}

std::string choosingText(const SweepSpec& sweep) {
    if (sweep.trial.validationShare > 0)
        return fmt::format(
            "{} of the training samples are held out: they choose the best cell, and the test samples "
            "are looked at once by each trial, at its end.",
            percentText(sweep.trial.validationShare));
    return "No training samples are held out (validation_share 0): unless the data have validation samples of their "
           "own,\nthe test samples choose the best cell, and what they say of it is too good. "
           "--set validation_share=0.1 holds a tenth out.";
}

}  // namespace

std::string sweepText(const SweepSpec& sweep, const Environment& environment) {
    Table table({"SETTING", "VALUES"});
    for (const Dimension& each : sweep.vary) table.add({each.path, valuesText(each)});
    for (const Constraint& each : sweep.constraints) table.add({"only where", each.text()});
    const std::int64_t trials = plannedTrials(sweep), cells = trials / std::max<std::int64_t>(sweep.repeats, 1);
    std::string text = table.text();
    text += fmt::format("{} {} by {}{}: {} {}, {} at once.\n", countText(cells), cells == 1 ? "cell" : "cells",
                        sweep.method, sweep.repeats > 1 ? fmt::format(", {} seeds each", sweep.repeats) : "",
                        countText(trials), trials == 1 ? "trial" : "trials", sweep.parallel);
    const auto allDevices = devicesOf(sweep);
    for (const std::string& devices : allDevices) text += roomText(devices, sweep.parallel, environment);
    for (const std::string& devices : allDevices) {
        if (!areVirtual(devices, sweep, environment)) continue;
        text += allDevices.size() > 1 ? fmt::format("On {}: {}\n", printable(devices), kVirtualDevices)
                                      : fmt::format("{}\n", kVirtualDevices);
    }
    return text + diskText(sweep, trials, environment) + rungPlanText(sweep, cells) + choosingText(sweep) + "\n";
}

}  // namespace lockstep
