#include "engine/search/search_space.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace lockstep {

namespace {

const Setting* find(const Cell& cell, std::string_view path) {
    const auto found = std::ranges::find(cell, path, &Setting::path);
    return found == cell.end() ? nullptr : &*found;
}

const Dimension* find(const std::vector<Dimension>& dimensions, std::string_view path) {
    const auto found = std::ranges::find(dimensions, path, &Dimension::path);
    return found == dimensions.end() ? nullptr : &*found;
}

// "cpu:2" and "cpu:2x1" are two devices, "cuda:0,1" too; what "auto" is, the machine knows.
double deviceCount(const std::string& text) {
    const auto colon = text.find(':');
    const std::string list = colon == text.npos ? "" : text.substr(colon + 1);
    if (list.empty() || list == "all") return std::numeric_limits<double>::quiet_NaN();
    if (text.starts_with("cuda")) return 1 + static_cast<double>(std::ranges::count(list, ','));
    int count = 0;
    std::from_chars(list.data(), list.data() + list.size(), count);
    return count > 0 ? count : std::numeric_limits<double>::quiet_NaN();
}

double asNumber(const std::string& path, const std::optional<ParamValue>& value) {
    if (!value) return std::numeric_limits<double>::quiet_NaN();
    if (const auto* whole = std::get_if<std::int64_t>(&*value)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&*value)) return *number;
    const auto* words = std::get_if<std::string>(&*value);
    return words && path == "devices" ? deviceCount(*words) : std::numeric_limits<double>::quiet_NaN();
}

// 1 and 1.0 are the same to who asks.
bool isOneOf(const std::optional<ParamValue>& value, const ChoiceOfValues& values) {
    return value && std::ranges::any_of(values, [&](const ParamValue& each) {
               return each == *value || asNumber({}, each) == asNumber({}, value);
           });
}

class Checker {
public:
    Checker(const std::vector<Dimension>& dimensions, const std::vector<Constraint>& constraints,
            const std::optional<TrialSpec>& base)
        : m_dimensions(dimensions), m_constraints(constraints), m_base(base) {}

    std::vector<Problem> problems() {
        if (m_dimensions.empty()) add({"vary", "search.empty", {}});
        for (const Dimension& each : m_dimensions) dimension(each);
        for (const Constraint& each : m_constraints) {
            for (const std::string& path : each.paths()) {
                if (!isKnown(path)) add({each.text(), "search.not-a-setting", {path}});
            }
        }
        return std::move(m_problems);
    }

private:
    void dimension(const Dimension& each) {
        if (m_base && !isSetting(each.path)) return add(unknownSetting(each.path));
        if (std::ranges::count(m_dimensions, each.path, &Dimension::path) > 1)
            return add({each.path, "search.twice-varied", {}});
        if (auto problem = check(each)) return add(std::move(*problem));
        for (const ParamValue& value : m_base ? samples(each) : ChoiceOfValues()) {
            TrialSpec spec = *m_base;
            if (auto problem = writeSetting(spec, each.path, value))
                return add({each.path, problem->code, problem->args});
        }
        for (const DimensionCondition& condition : each.when) conditionOf(each, condition);
    }

    // Whose kinds stand for all.
    static ChoiceOfValues samples(const Dimension& each) {
        if (const auto* choices = std::get_if<ChoiceOfValues>(&each.values)) return *choices;
        return {each.valueAt(0), each.valueAt(0.5)};
    }

    void conditionOf(const Dimension& each, const DimensionCondition& condition) {
        if (m_base && !isSetting(condition.path)) return add(unknownSetting(condition.path));
        const Dimension* asked = find(m_dimensions, condition.path);
        if (!asked && !(m_base && isOneOf(readSetting(*m_base, condition.path), condition.values)))
            return add({each.path, "search.never", {condition.path, text(condition.values.front())}});
        const auto* choices = asked ? std::get_if<ChoiceOfValues>(&asked->values) : nullptr;
        if (choices &&
            std::ranges::none_of(*choices, [&](const auto& value) { return isOneOf(value, condition.values); }))
            add({each.path, "search.never", {condition.path, text(condition.values.front())}});
    }

    bool isKnown(const std::string& path) const {
        return m_base ? isSetting(path) : find(m_dimensions, path) != nullptr;
    }

    void add(Problem problem) { m_problems.push_back(std::move(problem)); }

    const std::vector<Dimension>& m_dimensions;
    const std::vector<Constraint>& m_constraints;
    const std::optional<TrialSpec>& m_base;
    std::vector<Problem> m_problems;
};

// The one that comes first by its path among those whose questions are answered, again and again. Returns one of a
// circle where there is one.
const Dimension* sortByQuestions(std::vector<Dimension>& dimensions) {
    std::ranges::sort(dimensions, {}, &Dimension::path);
    for (auto done = dimensions.begin(); done != dimensions.end(); ++done) {
        const auto answered = [&](const Dimension& each) {
            return std::ranges::all_of(each.when, [&](const DimensionCondition& condition) {
                return std::find_if(done, dimensions.end(), [&](const Dimension& open) {
                           return open.path == condition.path;
                       }) == dimensions.end();
            });
        };
        const auto next = std::find_if(done, dimensions.end(), answered);
        if (next == dimensions.end()) return &*done;
        std::rotate(done, next, next + 1);
    }
    return nullptr;
}

}  // namespace

Result<SearchSpace> SearchSpace::from(std::vector<Dimension> dimensions, std::vector<Constraint> constraints,
                                      const TrialSpec& base) {
    return checked(std::move(dimensions), std::move(constraints), base);
}

Result<SearchSpace> SearchSpace::from(std::vector<Dimension> dimensions, std::vector<Constraint> constraints) {
    return checked(std::move(dimensions), std::move(constraints), std::nullopt);
}

Result<SearchSpace> SearchSpace::checked(std::vector<Dimension> dimensions, std::vector<Constraint> constraints,
                                         std::optional<TrialSpec> base) {
    auto problems = Checker(dimensions, constraints, base).problems();
    if (!problems.empty()) return problems;
    if (const Dimension* stuck = sortByQuestions(dimensions)) return Problem{stuck->path, "search.circle", {}};
    SearchSpace space;
    space.m_dimensions = std::move(dimensions);
    space.m_constraints = std::move(constraints);
    space.m_base = std::move(base);
    return space;
}

SearchSpace SearchSpace::under(std::vector<Constraint> constraints) const {
    SearchSpace space = *this;
    space.m_constraints = std::move(constraints);
    return space;
}

std::optional<ParamValue> SearchSpace::valueOf(const std::string& path, const Cell& cell) const {
    if (const Setting* set = find(cell, path)) return set->value;
    if (find(m_dimensions, path)) return std::nullopt;  // varied, but not here
    return m_base ? readSetting(*m_base, path) : std::nullopt;
}

bool SearchSpace::isActive(const Dimension& dimension, const Cell& soFar) const {
    return std::ranges::all_of(dimension.when, [&](const DimensionCondition& each) {
        return isOneOf(valueOf(each.path, soFar), each.values);
    });
}

bool SearchSpace::holds(const Cell& cell) const {
    return std::ranges::all_of(m_constraints, [&](const Constraint& each) {
        return each.holds([&](const std::string& path) { return asNumber(path, valueOf(path, cell)); });
    });
}

std::optional<Cell> SearchSpace::cellBy(const Choose& choose) const {
    Cell cell;
    for (std::size_t i = 0; i < m_dimensions.size(); ++i) {
        if (isActive(m_dimensions[i], cell)) cell.push_back({m_dimensions[i].path, choose(m_dimensions[i], i)});
    }
    if (!holds(cell)) return std::nullopt;
    return cell;
}

std::optional<Cell> SearchSpace::cellAt(std::span<const double> point) const {
    return cellBy([&](const Dimension& dimension, std::size_t place) { return dimension.valueAt(point[place]); });
}

TrialSpec trialOf(const TrialSpec& base, const Cell& cell) {
    TrialSpec spec = base;
    for (const bool choices : {true, false}) {
        for (const Setting& each : cell) {
            if (isChoice(each.path) != choices) continue;
            if (auto problem = writeSetting(spec, each.path, each.value)) throw ProblemError(std::move(*problem));
        }
    }
    return spec;
}

}  // namespace lockstep
