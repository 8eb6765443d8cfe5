#include "engine/search/sweep_spec.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/core/strict_json.h"
#include "engine/search/chosen_method.h"
#include "engine/search/grid.h"
#include "engine/search/sobol.h"
#include "engine/spec/json_problem.h"
#include "engine/spec/json_text.h"
#include "engine/spec/metrics.h"
#include "engine/spec/trial_fields.h"

namespace lockstep {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr JsonLimits kLimits{.depth = 10, .members = 10'000};
constexpr std::int64_t kMostTrials = 100'000, kMostRepeats = 1000, kMostParallel = 1024, kMostRetries = 100;

// A whole number of the sweep's own and its range.
struct WholeField {
    const char* key;
    std::int64_t SweepSpec::*member;
    std::int64_t low, high;
};
constexpr std::array<WholeField, 7> kWholeFields{{{"trials", &SweepSpec::trials, 0, kMostTrials},
                                                  {"repeats", &SweepSpec::repeats, 1, kMostRepeats},
                                                  {"parallel", &SweepSpec::parallel, 1, kMostParallel},
                                                  {"retries", &SweepSpec::retries, 0, kMostRetries},
                                                  {"max_failures", &SweepSpec::maxFailures, 0, kMostTrials},
                                                  {"first_rung", &SweepSpec::firstRung, 1, kMostTrials},
                                                  {"reduction", &SweepSpec::reduction, 2, kMostTrials}}};
struct TextField {
    const char* key;
    std::string SweepSpec::*member;
};
constexpr std::array<TextField, 4> kTextFields{{{"title", &SweepSpec::title},
                                                {"method", &SweepSpec::method},
                                                {"objective", &SweepSpec::objective},
                                                {"scheduler", &SweepSpec::scheduler}}};
constexpr std::string_view kAsha = "asha", kAshaStopping = "asha-stopping";

OrderedJson jsonOf(const ParamValue& value) {
    return std::visit([](const auto& each) { return OrderedJson(each); }, value);
}
OrderedJson jsonOf(const ChoiceOfValues& values) {
    OrderedJson list = OrderedJson::array();
    for (const ParamValue& each : values) list.push_back(jsonOf(each));
    return list;
}

OrderedJson jsonOf(const Dimension& dimension) {
    OrderedJson out;
    if (const auto* values = std::get_if<ChoiceOfValues>(&dimension.values)) {
        if (dimension.when.empty()) return jsonOf(*values);
        out["values"] = jsonOf(*values);
    } else {
        const auto& range = std::get<NumberRange>(dimension.values);
        out["from"] = range.low;
        out["to"] = range.high;
        if (range.isLog) out["scale"] = "log";
        if (range.isWhole) out["whole"] = *range.isWhole;
        if (range.step > 0) out["step"] = range.step;
        if (range.points > 0) out["points"] = range.points;
    }
    for (const DimensionCondition& each : dimension.when) out["when"][each.path] = jsonOf(each.values);
    return out;
}

// Reads one object key by key and remembers what is wrong with which path.
class Reader {
public:
    explicit Reader(std::string_view fileName) : m_prefix(fileName.empty() ? "" : std::string(fileName) + ": ") {}

    void read(const Json& json, SweepSpec& sweep) {
        isJudgeable = json.is_object();
        if (!json.is_object()) return wrongType("", json, "an object");
        isJudgeable = !json.contains("version") || isVersion(json["version"]);
        if (!isJudgeable) return;
        for (const auto& [key, value] : json.items()) readKey(key, value, sweep);
    }

    std::vector<Problem> problems;
    bool isJudgeable = true;  // what was read says enough to look for more that is wrong

private:
    bool isVersion(const Json& value) {
        if (!value.is_number_integer()) return wrongType("version", value, "a whole number"), false;
        if (value.get<std::int64_t>() <= kSweepVersion) return true;
        add("version", {"", "sweep.newer-version", {value.dump(), std::to_string(kSweepVersion)}});
        return false;
    }

    void readKey(const std::string& key, const Json& value, SweepSpec& sweep) {
        if (key == "version") return;
        if (key == "trial") return readTrial(value, sweep);
        if (key == "vary") return readSpace(value, sweep);
        if (key == "constraints") return readConstraints(value, sweep);
        if (key == "seed") return readSeed(value, sweep);
        if (const auto* field = std::ranges::find(kWholeFields, key, &WholeField::key); field != kWholeFields.end()) {
            if (!value.is_number_integer()) return wrongType(key, value, "a whole number");
            if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(field->high))
                return outOfRange(key, value.dump(), *field);
            sweep.*field->member = value.get<std::int64_t>();
            return;
        }
        if (const auto* field = std::ranges::find(kTextFields, key, &TextField::key); field != kTextFields.end()) {
            if (!value.is_string()) return wrongType(key, value, "text");
            sweep.*field->member = value.get<std::string>();
            return;
        }
        std::string known = "version, trial, vary, constraints, seed";
        for (const auto& each : kTextFields) known += std::string(", ") + each.key;
        for (const auto& each : kWholeFields) known += std::string(", ") + each.key;
        add(key, {"", "spec.unknown-key", {shortText(key), known}});
    }

    void outOfRange(const std::string& key, const std::string& value, const WholeField& field) {
        add(key, {"", "spec.out-of-range", {value, std::to_string(field.low), std::to_string(field.high)}});
    }

    void readTrial(const Json& value, SweepSpec& sweep) {
        auto spec = trialSpecFromJson(value.dump(-1, ' ', false, Json::error_handler_t::replace), m_prefix + "trial");
        isJudgeable = spec.ok();
        if (spec.ok()) sweep.trial = std::move(spec).value();
        else problems.insert(problems.end(), spec.problems().begin(), spec.problems().end());
    }

    void readSeed(const Json& value, SweepSpec& sweep) {
        if (value.is_number_unsigned()) sweep.seed = value.get<std::uint64_t>();
        else wrongType("seed", value, "a whole number from 0");
    }

    void readConstraints(const Json& value, SweepSpec& sweep) {
        if (!value.is_array()) return wrongType("constraints", value, "a list of texts");
        for (std::size_t i = 0; i < value.size(); ++i) {
            const std::string path = "constraints[" + std::to_string(i) + "]";
            if (!value[i].is_string()) {
                wrongType(path, value[i], "text");
                continue;
            }
            auto constraint = Constraint::parse(value[i].get<std::string>(), m_prefix + path);
            if (constraint.ok()) sweep.constraints.push_back(std::move(constraint).value());
            else problems.push_back(constraint.problems().front());
        }
    }

    void readSpace(const Json& value, SweepSpec& sweep) {
        if (!value.is_object()) return wrongType("vary", value, "an object");
        for (const auto& [path, each] : value.items()) {
            Dimension dimension{path, {}, {}};
            const std::size_t before = problems.size();
            if (each.is_array()) dimension.values = valuesIn("vary." + path, each);
            else if (each.is_object()) readDimension("vary." + path, each, dimension);
            else wrongType("vary." + path, each, "a list or an object");
            if (problems.size() == before) sweep.vary.push_back(std::move(dimension));
        }
    }

    void readDimension(const std::string& at, const Json& json, Dimension& dimension) {
        NumberRange range;
        const bool lists = json.contains("values");
        if (!lists && (!json.contains("from") || !json.contains("to")))
            return wrongType(at, json, "values, or from and to");
        for (const auto& [key, value] : json.items()) {
            const std::string path = at + "." + key;
            if (key == "when") readConditions(path, value, dimension);
            else if (key == "values") dimension.values = valuesIn(path, value);
            else if (lists) add(path, {"", "spec.unknown-key", {shortText(key), "values, when"}});
            else readRange(path, key, value, range);
        }
        if (!lists) dimension.values = range;
    }

    void readRange(const std::string& path, const std::string& key, const Json& value, NumberRange& range) {
        if (key == "from" || key == "to" || key == "step") {
            if (!value.is_number()) return wrongType(path, value, "a number");
            (key == "from" ? range.low : key == "to" ? range.high : range.step) = value.get<double>();
        } else if (key == "scale") {
            if (value != "log" && value != "linear") return wrongType(path, value, "log or linear");
            range.isLog = value == "log";
        } else if (key == "whole") {
            if (!value.is_boolean()) return wrongType(path, value, "true or false");
            range.isWhole = value.get<bool>();
        } else if (key == "points") {
            if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMostTrials)
                return wrongType(path, value, "how many, a whole number up to " + std::to_string(kMostTrials));
            range.points = value.get<std::int64_t>();
        } else {
            add(path, {"", "spec.unknown-key", {shortText(key), "from, to, scale, whole, step, points, values, when"}});
        }
    }

    void readConditions(const std::string& at, const Json& json, Dimension& dimension) {
        if (!json.is_object()) return wrongType(at, json, "an object");
        for (const auto& [path, value] : json.items()) {
            if (value.is_array() && value.empty()) wrongType(at + "." + path, value, "at least one value");
            dimension.when.push_back(
                {path, valuesIn(at + "." + path, value.is_array() ? value : Json::array({value}))});
        }
    }

    ChoiceOfValues valuesIn(const std::string& path, const Json& json) {
        ChoiceOfValues values;
        if (!json.is_array()) return wrongType(path, json, "a list"), values;
        for (const Json& each : json) {
            if (each.is_boolean()) values.emplace_back(each.get<bool>());
            else if (each.is_number_integer() && !isBeyondInteger(each)) values.emplace_back(each.get<std::int64_t>());
            else if (each.is_number()) values.emplace_back(each.get<double>());
            else if (each.is_string()) values.emplace_back(each.get<std::string>());
            else wrongType(path, each, "a number, text, true or false");
        }
        return values;
    }

    void wrongType(const std::string& path, const Json& value, std::string_view wanted) {
        add(path, {"", "spec.wrong-type", {shortText(value), std::string(wanted)}});
    }
    void add(const std::string& path, Problem problem) {
        problem.field = m_prefix + path;
        problems.push_back(std::move(problem));
    }

    std::string m_prefix;
};

}  // namespace

std::string sweepJson(const SweepSpec& sweep) {
    OrderedJson json;
    json["version"] = kSweepVersion;
    json["title"] = sweep.title;
    json["method"] = sweep.method;
    for (const WholeField& each : kWholeFields) json[each.key] = sweep.*each.member;
    json["objective"] = sweep.objective;
    json["scheduler"] = sweep.scheduler;
    json["seed"] = sweep.seed;
    json["vary"] = OrderedJson::object();
    for (const Dimension& each : sweep.vary) json["vary"][each.path] = jsonOf(each);
    json["constraints"] = OrderedJson::array();
    for (const Constraint& each : sweep.constraints) json["constraints"].push_back(each.text());
    json["trial"] = OrderedJson::parse(toJson(sweep.trial));
    return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::optional<SweepSpec> readSweep(std::string_view json, std::string_view fileName, std::vector<Problem>& problems) {
    const auto parsed = parseStrictly(json, kLimits);
    if (const auto* fault = std::get_if<JsonFault>(&parsed)) {
        problems.push_back(problemOf(*fault, kLimits, json, fileName));
        return std::nullopt;
    }
    SweepSpec sweep;
    Reader reader(fileName);
    reader.read(std::get<Json>(parsed), sweep);
    problems.insert(problems.end(), reader.problems.begin(), reader.problems.end());
    return reader.isJudgeable ? std::optional(std::move(sweep)) : std::nullopt;
}

Result<SweepSpec> sweepFromJson(std::string_view json, std::string_view fileName) {
    std::vector<Problem> problems;
    auto sweep = readSweep(json, fileName, problems);
    if (!problems.empty()) return problems;
    return std::move(*sweep);
}

std::optional<ParamField> ownField(const TrialSpec&, const std::string& path) {
    const TrialField* field = findTrialField(path);
    return field ? std::optional(field->field) : std::nullopt;
}

void adoptKinds(SweepSpec& sweep, const FieldOf& fieldOf) {
    for (Dimension& each : sweep.vary) {
        const auto field = fieldOf(sweep.trial, each.path);
        auto* range = std::get_if<NumberRange>(&each.values);
        if (range && !range->isWhole)
            range->isWhole = each.path == "seed" || (field && std::holds_alternative<std::int64_t>(field->fallback));
        if (range) continue;
        for (ParamValue& value : std::get<ChoiceOfValues>(each.values)) {
            const auto* whole = std::get_if<std::int64_t>(&value);
            if (whole && field && std::holds_alternative<double>(field->fallback)) value = static_cast<double>(*whole);
        }
    }
}

namespace {

std::string methodNames() {
    std::string names;
    for (const std::string& each : searchMethods()) names += (names.empty() ? "" : ", ") + each;
    return names;
}

// What the history keeps of every trial's evaluations, or what follows from that.
bool isObjective(const Metric* metric) {
    if (metric && metric->derive) metric = findMetric(metric->from);
    const bool isKept = metric && (metric->evaluated == &EvalDone::accuracy || metric->evaluated == &EvalDone::loss);
    return isKept && metric->split != Split::Train;
}

void checkScheduler(const SweepSpec& sweep, std::vector<Problem>& problems) {
    if (sweep.scheduler.empty()) return;
    if (sweep.scheduler != kAsha && sweep.scheduler != kAshaStopping)
        problems.push_back({"scheduler", "spec.not-a-choice", {sweep.scheduler, "asha, asha-stopping"}});
    if (std::ranges::find(sweep.vary, "epochs", &Dimension::path) != sweep.vary.end())
        problems.push_back({"epochs", "search.scheduled-epochs", {}});
    const auto rungs = rungsOf(sweep.firstRung, sweep.reduction, sweep.trial.epochs, false);
    const bool isSaid = sweep.reduction < 2;  // as out of range
    if (!rungs.ok() && !isSaid) problems.push_back(rungs.problems().front());
}

// What is varied of which samples are held out, where those that are choose the best cell. Empty: nothing is.
std::string variedValidation(const SweepSpec& sweep) {
    const Metric* metric = findMetric(sweep.objective);
    if (metric && metric->split != Split::Validation) return {};
    const auto isVaried = [&](const char* path) {
        return std::ranges::find(sweep.vary, path, &Dimension::path) != sweep.vary.end();
    };
    if (isVaried("validation_share")) return "validation_share";
    return isVaried("validation_seed") && sweep.trial.validationShare > 0 ? "validation_seed" : "";
}

// What is wrong with a sweep but for its space and its objective.
std::vector<Problem> problemsOfItself(const SweepSpec& sweep) {
    std::vector<Problem> problems;
    const bool isMethod = std::ranges::find(searchMethods(), sweep.method) != searchMethods().end();
    for (const WholeField& each : kWholeFields) {
        const std::int64_t value = sweep.*each.member;
        const bool endsByTrials = each.member == &SweepSpec::trials && isMethod && sweep.method != "grid";
        const std::int64_t low = endsByTrials ? 1 : each.low;
        if (value < low || value > each.high)
            problems.push_back({each.key,
                                "spec.out-of-range",
                                {std::to_string(value), std::to_string(low), std::to_string(each.high)}});
    }
    if (!isMethod) problems.push_back({"method", "spec.not-a-choice", {sweep.method, methodNames()}});
    if (sweep.repeats > 1 && std::ranges::find(sweep.vary, "seed", &Dimension::path) != sweep.vary.end())
        problems.push_back({"repeats", "search.repeats-of-seeds", {}});
    if (sweep.method == "sobol" && sweep.vary.size() > kSobolDimensions)
        problems.push_back({"vary",
                            "search.too-many-dimensions",
                            {std::to_string(sweep.vary.size()), std::to_string(kSobolDimensions)}});
    return problems;
}

Result<SearchSpace> unlessWrong(const SweepSpec& sweep, std::vector<Problem> problems, Result<SearchSpace> space) {
    if (!space.ok()) problems.insert(problems.end(), space.problems().begin(), space.problems().end());
    if (!problems.empty()) return problems;
    if (sweep.method == "grid") {
        if (auto problem = checkGrid(space.value())) return std::move(*problem);
    }
    return space;
}

}  // namespace

std::optional<Rungs> rungsOf(const SweepSpec& sweep) {
    if (sweep.scheduler.empty()) return std::nullopt;
    return rungsOf(sweep.firstRung, sweep.reduction, sweep.trial.epochs, sweep.scheduler == kAshaStopping).value();
}

Result<SearchSpace> spaceOf(const SweepSpec& sweep) {
    std::vector<Problem> problems = problemsOfItself(sweep);
    checkScheduler(sweep, problems);
    if (!sweep.objective.empty() && !isObjective(findMetric(sweep.objective)))
        problems.push_back({"objective", "search.objective", {sweep.objective}});
    if (std::string path = variedValidation(sweep); !path.empty())
        problems.push_back({std::move(path), "search.other-samples", {}});
    return unlessWrong(sweep, std::move(problems), SearchSpace::from(sweep.vary, sweep.constraints, sweep.trial));
}

Result<SearchSpace> functionSpaceOf(const SweepSpec& sweep) {
    return unlessWrong(sweep, problemsOfItself(sweep), SearchSpace::from(sweep.vary, sweep.constraints));
}

}  // namespace lockstep
