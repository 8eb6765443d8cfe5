#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/history/queue_query.h"
#include "engine/search/sweep_spec.h"
#include "engine/spec/metrics.h"

namespace lockstep {

// What a cell has come to: of its trials that have finished, the best value of the objective, over its repeats.
struct CellResult {
    std::int64_t number = 0;
    Cell settings;
    std::vector<std::int64_t> trials = {};                         // that were not removed, by repeat
    std::int64_t finished = 0, failed = 0, running = 0, open = 0;  // open: queued or under way
    std::int64_t halted = 0;                                       // paused by a person: open, and does not run
    std::int64_t paused = 0;                                       // at a rung
    std::int64_t cancelled = 0;                                    // or stopped, by a person
    std::int64_t removed = 0;                                      // in the trash, or gone for good
    std::int64_t count = 0;                                        // that have a value
    std::int64_t bestTrial = 0;                                    // of those; 0: there is none
    double mean = 0, deviation = 0;  // of the sample, n - 1; not a number of fewer than one, or two
};

struct SweepResult {
    TrialGroup group;
    SweepSpec spec;
    const Metric* objective = nullptr;     // null: no trial has begun, and the sweep names none
    std::vector<CellResult> cells = {};    // by number
    std::optional<std::size_t> best = {};  // among them
    // Where none has trained to its end: the best of those at the highest rung.
    std::optional<std::size_t> bestAtRung = {};
    std::vector<Climber> climbers = {};  // with a scheduler: how the cells stand at their rungs
    std::int64_t planned = 0;            // trials in all, at most; 0: unknown
    std::int64_t finished = 0, failed = 0, running = 0, open = 0, halted = 0, adopted = 0;
    std::int64_t paused = 0, cancelled = 0, removed = 0;
    std::int64_t ended = 0;  // in one way or another, removed ones included
    double underWay = 0;     // what those that run have behind them, in trials: 1.5 of two
    std::int64_t waiting() const { return open - running - halted; }
    bool mayGoOn() const { return group.state == GroupState::Active || group.state == GroupState::Paused; }
    // That a retry makes or starts again.
    std::int64_t fallenOut() const { return failed + cancelled + removed; }
    std::optional<Problem> firstFailure = {};   // what the first of those that have failed met
    bool isVirtual = false;                     // a trial has begun on more devices than there are cores or cards
    double secondsEach = 0;                     // of those that have finished, on average; 0: unknown
    std::optional<double> secondsLeft() const;  // to the end, as they have gone so far
};

// What a sweep's group says of itself. Throws ProblemError where it cannot be read.
SweepSpec sweepOf(const TrialGroup& group);

// How many trials a sweep makes at most.
std::int64_t plannedTrials(const SweepSpec& sweep);

// Throws ProblemError "group.unknown", and of a sweep that cannot be read.
SweepResult sweepResult(const TrialQuery& query, std::int64_t group);

// How a cell stands at a rung below the last where it trains no further, though nothing went wrong.
struct RungStop {
    Standing standing;
    std::int64_t rungs = 0;  // that the sweep has
    bool waits = false;      // it may go on yet: the sweep is not over
};
std::optional<RungStop> rungStopOf(const SweepResult& sweep, const CellResult& cell);

// What a cell has come to by the highest rung that it came to, where no trial of it has finished.
struct RungValue {
    std::int64_t rung = 1, epoch = 0;  // both from 1
    double value = 0;                  // of the objective, a mean over the repeats
};
std::optional<RungValue> rungValueOf(const SweepResult& sweep, const CellResult& cell);

// The best cell of a sweep none of whose cells has trained to its end, and what it has come to. Empty: one has, or none
// has come to a rung.
struct BestAtRung {
    const CellResult* cell = nullptr;  // of the sweep
    RungValue at;
    std::int64_t trial() const { return cell->trials.size() == 1 ? cell->trials.front() : 0; }  // 0: they are several
};
std::optional<BestAtRung> bestAtRungOf(const SweepResult& sweep);

}  // namespace lockstep
