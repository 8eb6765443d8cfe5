#pragma once
#include <QString>
#include <QStringList>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/queue/sweep_results.h"
#include "engine/spec/metrics.h"
#include "engine/spec/run_state.h"
#include "ui/history/brush.h"
#include "ui/history/history_service.h"

namespace lockstep::ui {

// What is known of the trials of a comparison.
struct CompareFacts {
    std::vector<TrialRow> rows = {};                                      // in any order
    DifferingSettings settings = {};                                      // of these trials, and perhaps of others
    std::optional<SweepResult> sweep = std::nullopt;                      // that they belong to
    std::map<std::string, std::map<std::int64_t, double>> measured = {};  // by key of kMeasures, then trial
    std::map<std::int64_t, std::string> tasks = {};                       // by trial: text(ModelTask), as far as known
};

// Something that trials are compared by: a column of the table, an axis of a plot.
struct CompareAxis {
    std::string key = {};            // a setting's path, or "metric." and what it is
    QString name = {};               // "Learning rate"
    bool isSetting = true;           // else something that was measured
    bool isLog = false;              // on the scale of the space that was searched; all values are above 0 then
    QStringList choices = {};        // empty: numbers; else a value is an index of these
    const Metric* metric = nullptr;  // that it is a value of; null: it has none
    Better better = Better::Neither;
    double low = 0, high = 0;            // of its finite values; equal where there are none, or but one
    std::vector<double> values = {};     // by row; not a number: see absences
    std::vector<Absence> absences = {};  // by row: why there is none

    bool isChoice() const { return !choices.isEmpty(); }
    QString text(double value) const;     // as a person reads it, with its unit; not a number: "–"
    QString cell(std::size_t row) const;  // the same of a row; "not set", "failed", "diverged"
    bool passes(const AxisBrush& brush, std::size_t row) const;
    void findEnds();  // low and high, of the values
};

struct ComparedTrial {
    std::int64_t trial = 0;
    QString name = {};       // "#12 wide net"
    QString words = {};      // in what it differs: "learning_rate=0.01 batch=64"
    std::int64_t group = 0;  // those of one group differ in their seed alone; the lowest trial of it
    std::int64_t cell = -1;  // of the sweep; -1: of none
    RunState state = RunState::Queued;
    std::int64_t epoch = 0, epochs = 0;
    bool isArchived = false;
    bool isCutShort = false;  // it ended, or pauses, before its last epoch, and did not fail
    QString failure = {};     // what it said; empty: it did not fail
    bool hasFailed() const { return state == RunState::Failed || state == RunState::Crashed; }
};

// Trials and what they are compared by: a plain value, made once for all views. Rows in the order of their numbers.
// Of a sweep, its dimensions are the settings, in the order of its space; of others all in which they differ. Behind
// them metrics, those without a value left out.
struct CompareTable {
    std::vector<ComparedTrial> trials;
    std::vector<CompareAxis> axes;             // settings, then metrics
    std::optional<std::size_t> objective;      // among the axes; empty: none has a value that all these trials share
    std::map<std::int64_t, std::size_t> rows;  // by trial
    QString shared;  // of models of several tasks: what they share, or that they share nothing

    QString whyNoValues() const;  // of an objective; empty: there are some
    std::optional<std::size_t> rowOf(std::int64_t trial) const;
    std::optional<std::size_t> axisOf(const std::string& key) const;
    // Whether `row` is better by the objective; without a value comes last, equal ones in the order of their numbers.
    bool isBetter(std::size_t row, std::size_t than) const;
    // All rows, the best first; behind them those cut short, then failed ones.
    std::vector<std::size_t> ranking() const;
    std::vector<bool> passing(const Brushes& brushes) const;  // by row; brushes of no axis let all pass
};

CompareTable compareTable(const CompareFacts& facts);

// Measured of a trial as a whole, beside the metrics of its row.
inline constexpr const char* kTimeToTarget = "metric.time_to_target";  // seconds
inline constexpr const char* kMemory = "metric.memory";                // bytes, of one device

}  // namespace lockstep::ui
