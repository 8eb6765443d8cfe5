#include "ui/compare/race.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ui/compare/time_to_target.h"

namespace lockstep::ui {

namespace {

constexpr double kUnvalued = std::numeric_limits<double>::quiet_NaN();
constexpr double kAirBehindStart = 0.06;  // so that whoever begins at the start is seen

}  // namespace

Race::Race(std::vector<Runner> runners, const RaceRules& rules) : m_runners(std::move(runners)), m_rules(rules) {
    for (const Runner& each : m_runners) time(each);
    findStretch();
}

void Race::time(const Runner& runner) {
    std::vector<double> times, bests;
    std::optional<std::size_t> reached;
    double now = 0, best = kUnvalued;
    for (const EvaluationPoint& point : runner.points) {
        now = std::max(now, amountAt(point, m_rules.clock, runner.stepsPerEpoch));
        if (isBetter(point.value, best)) best = point.value;
        if (!reached && reaches(point.value)) reached = times.size();
        times.push_back(now);
        bests.push_back(best);
    }
    m_end = std::max(m_end, now);
    m_times.push_back(std::move(times));
    m_bests.push_back(std::move(bests));
    m_reached.push_back(reached);
}

// From where most runners have begun, or where the worst ends: one that begins far back must not press the others
// together.
void Race::findStretch() {
    std::vector<double> firsts, lasts;
    for (const auto& bests : m_bests) {
        const auto first = std::ranges::find_if(bests, [](double value) { return std::isfinite(value); });
        if (first != bests.end()) firsts.push_back(*first), lasts.push_back(bests.back());
    }
    if (firsts.empty()) return;
    const auto worse = [&](double a, double b) { return isBetter(b, a); };
    const auto quarter = firsts.begin() + static_cast<std::ptrdiff_t>((firsts.size() - 1) / 4);
    std::ranges::nth_element(firsts, quarter, worse);
    m_start = std::min(*quarter, std::ranges::min(lasts, worse), worse);
    m_goal = std::ranges::max(lasts, worse);
    if (m_rules.target) {
        m_start = std::min(m_start, *m_rules.target, worse);
        m_goal = std::max(m_goal, *m_rules.target, worse);
    }
    if (m_start == m_goal) m_start -= (m_rules.better == Better::Lower ? -1 : 1) * std::max(1e-9, std::abs(m_goal) / 2);
    m_start -= (m_goal - m_start) * kAirBehindStart;
}

// What is no number is better than nothing.
bool Race::isBetter(double a, double b) const {
    if (!std::isfinite(a) || !std::isfinite(b)) return std::isfinite(a) && !std::isfinite(b);
    return m_rules.better == Better::Lower ? a < b : a > b;
}

bool Race::reaches(double value) const {
    return m_rules.target && std::isfinite(value) && !isBetter(*m_rules.target, value);
}

std::optional<double> Race::reachedAt(std::size_t runner) const {
    return m_reached[runner] ? std::optional(m_times[runner][*m_reached[runner]]) : std::nullopt;
}

double Race::endOf(std::size_t runner) const { return m_times[runner].empty() ? 0 : m_times[runner].back(); }

double Race::bestOf(std::size_t runner) const { return m_bests[runner].empty() ? kUnvalued : m_bests[runner].back(); }

double Race::progressOf(double value) const {
    if (!std::isfinite(value) || m_goal == m_start) return 0;
    return std::clamp((value - m_start) / (m_goal - m_start), 0.0, 1.0);
}

RunnerState Race::stateOf(std::size_t runner, double clock) const {
    const auto& times = m_times[runner];
    const auto done = static_cast<std::size_t>(std::ranges::upper_bound(times, clock) - times.begin());
    RunnerState state{.runner = runner, .hasEnded = done == times.size()};
    if (done == 0) return state;
    state.value = m_runners[runner].points[done - 1].value;
    state.best = m_bests[runner][done - 1];
    state.progress = progressOf(state.best);
    if (m_reached[runner] && *m_reached[runner] < done) state.reachedAt = reachedAt(runner);
    return state;
}

bool Race::isBefore(const RunnerState& a, const RunnerState& b) const {
    const auto group = [&](const RunnerState& state) {
        if (state.reachedAt) return 0;
        return state.hasEnded ? 1 + static_cast<int>(m_runners[state.runner].fate) : 1;
    };
    const auto key = [&](const RunnerState& state) { return std::tuple(group(state), state.reachedAt.value_or(0)); };
    if (key(a) != key(b)) return key(a) < key(b);
    const auto came = [&](const RunnerState& state) {  // at the finish line, whatever it came to later
        return state.reachedAt ? m_runners[state.runner].points[*m_reached[state.runner]].value : state.best;
    };
    if (isBetter(came(a), came(b)) || isBetter(came(b), came(a))) return isBetter(came(a), came(b));
    return std::tuple(m_runners[a.runner].trial, a.runner) < std::tuple(m_runners[b.runner].trial, b.runner);
}

std::vector<RunnerState> Race::at(double clock) const {
    std::vector<RunnerState> states;
    for (std::size_t runner = 0; runner < m_runners.size(); ++runner) states.push_back(stateOf(runner, clock));
    std::ranges::sort(states, [&](const RunnerState& a, const RunnerState& b) { return isBefore(a, b); });
    return states;
}

}  // namespace lockstep::ui
