#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/history/trial_queue.h"
#include "engine/report/blocks.h"
#include "engine/report/chart_scale.h"
#include "engine/search/sweep_spec.h"
#include "engine/search/tried.h"
#include "engine/spec/metrics.h"
#include "engine/spec/train_event.h"

namespace lockstep::report {

// A trial of a cell, as far as it has come.
struct ReportedTrial {
    std::int64_t trial = 0;
    RunState state = RunState::Queued;
    bool hasDiverged = false;           // it failed, or ended without a value, because numbers were none
    std::int64_t epoch = 0;             // that it has come to
    double seconds = 0;                 // that it has trained; 0: not known
    std::optional<double> value = {};   // the best of the objective until then
    std::optional<double> tested = {};  // of SweepFacts::tested, the newest
    std::optional<CardMessage> failure = {};
    std::vector<ChartPoint> curve = {};  // the objective after each epoch, from 1

    bool hasFailed() const { return state == RunState::Failed || state == RunState::Crashed; }
};

// What a cell has come to: the figures of `lockstep sweeps`.
struct ReportedCell {
    std::int64_t number = 0;  // from 0
    Cell settings = {};
    std::vector<ReportedTrial> trials = {};  // that were not removed, by repeat
    std::int64_t count = 0, bestTrial = 0;   // that have finished with a value, and the best of them
    double mean = 0, deviation = 0;          // of these; not a number of fewer than one, or two
    std::string state = {};                  // "3 finished", "stopped at rung 1 of 3, rank 4 of 9"
};

// What a machine was to the trials that ran on it.
struct ReportedMachine {
    RunStarted started = {};
    std::int64_t trials = 0;
};

// Of a sweep none of whose cells has trained to its end: the best of those at the highest rung.
struct BestAtRung {
    std::size_t cell = 0;    // among SweepFacts::cells
    std::int64_t epoch = 0;  // from 1
    double value = 0;        // by then
};

// All that the report of a sweep is made of, as plain values; whoever has the history at hand fills it in.
struct SweepFacts {
    TrialGroup group = {};
    SweepSpec spec = {};
    std::string method = {}, methodReason = {};  // the one that "auto" means, and why; else the sweep's own
    const Metric* objective = nullptr;           // null: no trial has begun, and the sweep names none
    const Metric* tested = nullptr;              // the same of the test split, where another split chose
    std::vector<ReportedCell> cells = {};        // by number
    std::vector<std::size_t> ranking = {};       // all of them, the best first; those without a value behind
    std::optional<BestAtRung> bestAtRung = {};
    std::vector<Climber> climbers = {};  // with a scheduler; losses are lower where better
    std::int64_t planned = 0;            // trials in all, at most; 0: unknown
    std::int64_t finished = 0, failed = 0, running = 0, waiting = 0, atRungs = 0, cancelled = 0, removed = 0;
    std::int64_t halted = 0, adopted = 0;        // halted: paused by a person
    std::vector<Tried> tried = {};               // for the importance of settings
    std::int64_t triedAt = 0;                    // the epoch by which they came to that; 0: trained to the end
    std::optional<CardMessage> failure = {};     // that ended the sweep
    std::vector<ReportedMachine> machines = {};  // those with the most trials first
    std::string program = {}, writtenAt = {};    // who writes it, and when: "Lockstep 0.1.0", UTC as in TrialGroup

    bool hasBest() const { return !ranking.empty() && cells[ranking.front()].count > 0; }
    const ReportedCell& best() const { return cells[ranking.front()]; }  // where it has one
};

}  // namespace lockstep::report
