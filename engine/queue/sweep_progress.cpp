#include "engine/queue/sweep_progress.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace lockstep {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

ParamValue valueIn(const std::string& path, const OrderedJson& json) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_float()) return json.get<double>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_string()) return json.get<std::string>();
    throw ProblemError({path, "group.malformed", {json.dump()}});
}

// As the catalogue finds a problem within a problem: its code, its field and its values behind the others.
Problem within(Problem problem, const std::optional<Problem>& inner) {
    if (!inner) return problem;
    problem.args.insert(problem.args.end(), {inner->code, inner->field});
    problem.args.insert(problem.args.end(), inner->args.begin(), inner->args.end());
    return problem;
}

}  // namespace

std::string cellText(const Cell& cell) {
    OrderedJson json = OrderedJson::object();
    for (const Setting& each : cell)
        json[each.path] = std::visit([](const auto& value) { return OrderedJson(value); }, each.value);
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Cell cellFrom(const std::string& settings) {
    const auto json = OrderedJson::parse(settings, nullptr, false);
    if (!json.is_object()) throw ProblemError({"cell", "group.malformed", {settings}});
    Cell cell;
    for (const auto& [path, value] : json.items()) cell.push_back({path, valueIn(path, value)});
    return cell;
}

TrialSpec trialAt(const SweepSpec& sweep, const Cell& cell, std::int64_t repeat) {
    TrialSpec spec = trialOf(sweep.trial, cell);
    spec.seed += static_cast<std::uint64_t>(repeat);
    return spec;
}

std::optional<GroupPlace> nextPlace(std::int64_t group, std::int64_t cells, std::int64_t repeats,
                                    std::span<const GroupTrial> made) {
    std::set<std::pair<std::int64_t, std::int64_t>> taken;
    for (const GroupTrial& each : made) taken.emplace(each.place.cell, each.place.repeat);
    for (std::int64_t cell = 0; cell < cells; ++cell) {
        for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
            if (!taken.contains({cell, repeat})) return GroupPlace{group, cell, repeat};
        }
    }
    return std::nullopt;
}

std::int64_t trialsToMake(const SweepSpec& sweep, std::int64_t open, bool asksForResults) {
    const std::int64_t behind = asksForResults ? 0 : 1;
    return std::max<std::int64_t>(0, sweep.parallel + behind - open);
}

std::optional<Problem> tooManyFailures(const SweepSpec& sweep, std::span<const GroupTrial> made,
                                       const std::optional<Problem>& first, bool isOver) {
    std::set<std::int64_t> failed, ended;
    for (const GroupTrial& each : made) {
        if (each.hasFailed()) failed.insert(each.place.cell);
        else if (each.state == RunState::Finished || each.isAtRung()) ended.insert(each.place.cell);
    }
    const auto count = std::ssize(failed);
    const std::string failures = std::to_string(count);
    if (sweep.maxFailures > 0 && count >= sweep.maxFailures)
        return within({"max_failures", "sweep.too-many-failures", {failures, std::to_string(sweep.maxFailures)}},
                      first);
    if (sweep.maxFailures == 0 && ended.empty() && count >= (isOver ? 1 : kHopeless))
        return within({"sweep", "sweep.all-failed", {failures}}, first);
    return std::nullopt;
}

}  // namespace lockstep
