#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/spec/metrics.h"
#include "ui/plot/plot_model.h"

namespace lockstep::ui {

// What a race may be timed by: how far a trial has come, see amountAt().
inline constexpr std::array kRaceClocks{PlotAxis::Step, PlotAxis::Epoch, PlotAxis::Samples, PlotAxis::Time,
                                        PlotAxis::DeviceTime};

// What became of a trial: one that has failed, or was stopped, is out of the race from its last evaluation on.
enum class RunnerFate { Ran, Stopped, Failed };  // in the order of the end
struct Runner {
    std::int64_t trial = 0;
    RunnerFate fate = RunnerFate::Ran;
    std::vector<EvaluationPoint> points = {};  // in the order of time
    double stepsPerEpoch = 0;                  // 0: unknown
};

struct RaceRules {
    Better better = Better::Higher;
    std::optional<double> target = std::nullopt;  // of the objective
    PlotAxis clock = PlotAxis::Step;
};

// How a runner stands at a moment of the clock.
struct RunnerState {
    std::size_t runner = 0;                                   // among the race's
    double value = std::numeric_limits<double>::quiet_NaN();  // of the last evaluation by then; not a number: none
    double best = std::numeric_limits<double>::quiet_NaN();   // of all by then
    double progress = 0;                                      // Race::progressOf(best)
    std::optional<double> reachedAt = std::nullopt;           // the target, by then
    bool hasEnded = false;                                    // no evaluation comes any more
};

// Trials on one clock: a plain value. A clock that goes back, as that of an older version did with each attempt, stands
// still until it is passed again.
class Race {
public:
    Race() = default;  // of nobody
    Race(std::vector<Runner> runners, const RaceRules& rules);

    const std::vector<Runner>& runners() const { return m_runners; }
    const RaceRules& rules() const { return m_rules; }
    double end() const { return m_end; }      // of the clock: the last evaluation of all; 0: there is none
    double endOf(std::size_t runner) const;   // its last evaluation
    double bestOf(std::size_t runner) const;  // of all its evaluations; not a number: none
    // Its first evaluation at or past the target.
    std::optional<double> reachedAt(std::size_t runner) const;

    // The stretch of values that is raced over: from where the runners begin to the best of all, the target within.
    double start() const { return m_start; }
    double goal() const { return m_goal; }
    double progressOf(double value) const;  // 0 at the start or before, 1 at the goal; of what is no number 0

    // All runners, the leader first. Those that have reached the target stand first, by when, of those at the same
    // moment the one that came to more; then those in the race by their best; at last those that are out of it, as
    // CompareTable::ranking() has them. Equal ones by their numbers.
    std::vector<RunnerState> at(double clock) const;

private:
    RunnerState stateOf(std::size_t runner, double clock) const;
    bool isBefore(const RunnerState& a, const RunnerState& b) const;
    bool isBetter(double a, double b) const;
    bool reaches(double value) const;
    void time(const Runner& runner);
    void findStretch();

    std::vector<Runner> m_runners;
    RaceRules m_rules;
    std::vector<std::vector<double>> m_times, m_bests;  // by runner and evaluation: the clock, the best so far
    std::vector<std::optional<std::size_t>> m_reached;  // by runner: which evaluation was the first at the target
    double m_end = 0, m_start = 0, m_goal = 0;
};

}  // namespace lockstep::ui
