#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "engine/core/result.h"
#include "engine/history/run_world.h"
#include "engine/history/series_point.h"
#include "engine/spec/data_known.h"
#include "engine/spec/evaluation.h"
#include "engine/spec/metrics.h"
#include "engine/spec/run_state.h"
#include "engine/spec/train_event.h"
#include "engine/spec/trial_spec.h"

namespace SQLite {
class Database;
}

namespace lockstep {

struct TrialRow {
    std::int64_t id = 0;
    std::string title, state, dataset, model, devices, createdAt, finishedAt, runDirectory, failure, note;
    std::int64_t attempts = 0, step = 0, epoch = 0, epochs = 0, batch = 0;
    double learningRate = 0;
    // The best are of the split that chooses: of validation, where the trial has that.
    std::optional<double> bestAccuracy, testAccuracy, testLoss, lowestTestLoss, samplesPerSecond, seconds;
    std::optional<double> validationAccuracy, validationLoss;
    bool deleted = false, star = false, archived = false;
    std::vector<std::string> tags;  // ascending

    Split chooses() const { return validationAccuracy || validationLoss ? Split::Validation : Split::Test; }
    bool operator==(const TrialRow&) const = default;
};

// A field of the row as the history keeps it, in a column of the table of trials.
struct RowColumn {
    std::string_view name;
    std::variant<std::int64_t TrialRow::*, double TrialRow::*, std::optional<double> TrialRow::*,
                 std::string TrialRow::*, bool TrialRow::*>
        at;
    std::string_view key = name;  // what scripts know it by; for ever
};
std::span<const RowColumn> rowColumns();  // the others are `failure`, made of several columns, and `tags`, a table

// Of a metric of evaluations, also one that follows from another: the newest value, and the best so far. Empty: there
// is none yet, or rows do not keep this metric.
std::optional<double> newest(const TrialRow& row, const Metric& metric);
std::optional<double> best(const TrialRow& row, const Metric& metric);

struct TrialFilter {
    std::string text = {};                        // in title, dataset, model, note
    bool deleted = false;                         // the trash instead of the rest
    int limit = 0;                                // 0: all
    std::optional<bool> archived = std::nullopt;  // empty: whether or not
    bool unended = false;                         // only those whose state is not final
};

// An evaluation: how far the trial had come by then, by every measure, and what it said.
struct EvaluationPoint {
    std::int64_t step = 0, epoch = 0;
    double samples = 0;        // of training, that it had read
    double seconds = 0;        // since the run started, pauses excluded
    double deviceSeconds = 0;  // the same, of all its devices together
    double value = 0;
    bool operator==(const EvaluationPoint&) const = default;
};
struct StepRange {
    std::int64_t from = 0, to = 0;  // both included
};

// Reads the history. One per thread; a read-only connection. A file that turns out to be damaged throws ProblemError
// ("history.corrupt").
class TrialQuery {
public:
    // Problems: "history.absent", "history.older", "history.newer", "history.not-a-history", "history.corrupt",
    // "history.unwritable".
    static Result<std::unique_ptr<TrialQuery>> open(const std::filesystem::path& file);
    ~TrialQuery();

    std::vector<TrialRow> list(const TrialFilter& filter) const;  // newest first
    std::optional<TrialRow> find(std::int64_t trial) const;
    // With the title the trial has now. Problems: "history.no-such-trial", or as trialSpecFromJson.
    Result<TrialSpec> spec(std::int64_t trial) const;
    // What was kept of its data when it began, or was first evaluated; empty of older ones, and where there is none.
    DataKnown known(std::int64_t trial) const;
    // What the specs of all trials state at a path of trial_settings.h, by trial; one that does not state it is absent.
    // Of 10,000 trials in hundredths of a second.
    std::unordered_map<std::int64_t, ParamValue> settings(std::string_view path) const;
    // The paths of those settings in which these trials' specs differ, or that only some of them state; ascending.
    std::vector<std::string> differingSettings(std::span<const std::int64_t> trials) const;
    // Those of metrics.h that the trial has, and "compute.0", "compute.1"… by rank. Series run over all attempts,
    // without what a resume took back.
    std::vector<std::string> metrics(std::int64_t trial) const;
    std::vector<SeriesPoint> series(std::int64_t trial, const std::string& metric) const;
    // A metric of evaluations, also one that follows from another, of many trials by one query: by trial, in the order
    // of time, without what a resume took back; trials without any are absent. Of 10,000 trials in tenths of a second.
    std::unordered_map<std::int64_t, std::vector<EvaluationPoint>> evaluationSeries(
        std::span<const std::int64_t> trials, const std::string& metric) const;
    // What these trials said of themselves when they began and went on, by one query.
    std::unordered_map<std::int64_t, TrialWorlds> worlds(std::span<const std::int64_t> trials) const;
    // A series of steps for a picture: in `points` stretches at most, which are single points where there are no more,
    // and behind them the last point alone; of the whole series, or of the steps of `range` and some around. What is
    // kept of long series that have ended (series_level) makes that as quick as a short one; detail below it is read
    // from the series itself.
    std::vector<SeriesStretch> decimatedSeries(std::int64_t trial, const std::string& metric, std::size_t points,
                                               const std::optional<StepRange>& range = std::nullopt) const;
    // Those of the trials that have ended and whose series are long, but for which nothing of that kind is kept: of an
    // older version, or crashed. TrialStore::addLevels() adds it.
    std::vector<std::int64_t> withoutLevels(std::span<const std::int64_t> trials) const;
    // Every event of the trial's latest attempt from `first` on, in order, as far as committed.
    std::vector<NumberedEvent> events(std::int64_t trial, std::int64_t first) const;
    std::optional<RunStarted> started(std::int64_t trial) const;      // what the latest attempt last said of itself
    std::optional<RunFailed> failure(std::int64_t trial) const;       // that ended the latest attempt, in full
    std::optional<BindingChanged> binding(std::int64_t trial) const;  // what bound the latest attempt last
    std::vector<Message> messages(std::int64_t trial) const;          // of the latest attempt, in order
    std::optional<TextSample> text(std::int64_t trial) const;         // the last that was written and stands
    // What was asked of the trial's checkpoints, newest first; without the answers, which one alone gives.
    std::vector<Evaluation> evaluations(std::int64_t trial) const;
    std::optional<Evaluation> evaluation(std::int64_t id) const;
    // What each of the trial's own evaluations took samples for, as far as they stand, by epoch.
    std::vector<EvalCounts> counts(std::int64_t trial) const;
    std::int64_t countedClasses(std::int64_t trial) const;  // in the last of them; 0: none are counted one by one
    // Epochs after which the trial evaluated, as far as that stands: the best first, by the metric that chooses a
    // trial's best; of equal ones the earlier.
    std::vector<std::int64_t> bestEpochs(std::int64_t trial) const;
    std::uint64_t seriesBytes() const;                 // of all trials
    std::int64_t lastEvent(std::int64_t trial) const;  // newest number of any attempt; 0: none
    // Reads the file through: what SQLite finds wrong with it, "history.corrupt". Seconds for a large history.
    std::optional<Problem> damage() const;
    // Whether any attempt of the trial has written a checkpoint.
    bool wroteCheckpoint(std::int64_t trial) const;
    // Differs from its value before if any other connection has committed since; cheap. Means nothing to another query.
    std::int64_t dataVersion() const;
    // For other queries of the same file: statements that see one state of it.
    void read(const std::function<void(SQLite::Database&)>& work) const;

private:
    class Impl;
    explicit TrialQuery(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace lockstep
