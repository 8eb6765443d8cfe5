#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/history/trial_query.h"
#include "engine/spec/bandwidths.h"
#include "engine/spec/metrics.h"
#include "engine/spec/perplexity.h"
#include "engine/spec/rank_load.h"
#include "engine/spec/run_state.h"
#include "engine/spec/train_event.h"
#include "ui/plot/curve.h"
#include "ui/run/eta.h"

namespace lockstep::ui {

// A curve beside those of the metrics that are measured: samples_per_second over the number of devices.
inline constexpr std::string_view kRatePerDevice = "rate_per_device";

// What a run said for a person, in the order in which it came to pass.
using RunNote = std::variant<Message, WorldChanged, StragglerFound, RunFinished>;

// A run as its events tell it: filled by one owner, read by views. It moves and is not copied, because curves are
// shared with views while the run goes on. One thread.
class RunRecord {
public:
    RunRecord();
    RunRecord(RunRecord&&) = default;
    RunRecord& operator=(RunRecord&&) = default;

    // What earlier attempts left, up to the step that the latest one started from; before any event. By the history's
    // names of metrics ("loss", "test_loss"…). The clock of a run goes back with each attempt; here it goes on.
    // `ranks`: how many devices they had, as far as no RunStarted was added before.
    void addEarlier(const std::map<std::string, std::vector<SeriesPoint>>& series, std::int64_t lastStep,
                    std::size_t ranks);
    void addEarlier(const TrainEvent& event);  // of an earlier attempt, in their order: its notes, texts, devices
    void expect(std::int64_t number) { m_next = number; }  // of the latest attempt's first event

    // Doubled and Gap: nothing was taken, because the event was here before, or because events in between are missing.
    // DataProgress, which is outside the numbering, is always added.
    // What a change of the world or a later attempt takes back is cut off the curves, which are other objects from then
    // on.
    enum class Taken { Added, Doubled, Gap };
    Taken take(const NumberedEvent& event);
    void giveUpUntil(std::int64_t number);  // goes on at `number`; those in between count as missing
    std::int64_t next() const { return m_next; }
    std::int64_t missing() const { return m_missing; }
    bool awaitsWorld() const { return m_awaitsWorld; }  // the next event begins the attempt that follows

    RunState state() const { return m_state; }
    void setState(RunState state) { m_state = state; }  // known from elsewhere: queued, crashed
    const std::optional<RunStarted>& started() const { return m_started; }
    const std::optional<RunFinished>& finished() const { return m_finished; }
    const std::optional<RunFailed>& failed() const { return m_failed; }
    // Of a metric that is measured at steps or evaluations, by its key, or kRatePerDevice. Null: there is no such.
    std::shared_ptr<const Curve> curve(std::string_view key) const;
    // Of the latest attempt, and of those before it in the same process; evaluations only as far as they stand.
    const std::vector<EvalDone>& evaluations() const { return m_evaluations; }
    // What a classifier took samples for, likewise.
    const std::vector<EvalCounts>& counts() const { return m_counts; }
    // What the model wrote, of all attempts and as far as it stands, by epoch.
    const std::vector<TextSample>& texts() const { return m_texts; }
    bool isLanguageModel() const { return m_started && m_started->task == kNextTokens; }
    const TaskMetrics& metrics() const {
        return m_started ? metricsFor(m_started->task, m_started->chooses()) : metricsFor({}, Split::Test);
    }
    const std::vector<CheckpointWritten>& checkpoints() const { return m_checkpoints; }
    const std::vector<RunNote>& notes() const { return m_notes; }  // of all attempts
    // How far the data are read; empty before that is told, and from the first event that counts on.
    const std::optional<DataProgress>& reading() const { return m_reading; }

    std::int64_t step() const { return m_step; }
    std::int64_t epoch() const { return m_epoch; }
    double seconds() const { return m_seconds; }  // over all attempts, pauses excluded
    double rate() const { return m_rate; }        // samples/s
    // Of the latest steps, and which of them binds; empty: too early to say, or of an older version.
    Bandwidths bandwidths() const { return {m_loadingRate, m_trainingRate, m_rate}; }
    const std::optional<BindingChanged>& binding() const { return m_binding; }
    std::int64_t totalSteps() const;                         // 0: not known yet
    std::optional<double> best(const Metric& metric) const;  // so far, of one of evaluations or what follows from it
    std::size_t ranks() const { return m_latest.size(); }
    const RankLoad& latest(std::size_t rank) const { return m_latest[rank]; }
    RankLoad mean(std::size_t rank) const;  // moving, over about the last fifty steps
    std::optional<double> stepSeconds() const { return m_eta.stepSeconds(); }
    // Seconds to the end, had it gone on; empty until steady and once it has ended.
    std::optional<double> remaining() const;

private:
    struct Restart {
        double step = 0, offset = 0;
    };
    struct World {
        std::int64_t firstStep = 0;
        std::size_t ranks = 1;
    };

    const Curve& steps() const { return *m_curves.front(); }  // whose steps and times the others share
    double offsetAt(double step) const;
    double clockAt(std::int64_t step, double seconds);
    void cutBackTo(std::int64_t step);
    std::size_t ranksAt(std::int64_t step, std::size_t otherwise) const;
    void addEarlierSteps(const std::map<std::string, std::vector<SeriesPoint>>& series, std::int64_t lastStep,
                         std::size_t ranks);
    void on(const RunStarted& event);
    void on(const StepDone& event);
    void on(const EvalDone& event);
    void on(const CheckpointWritten& event) { m_checkpoints.push_back(event); }
    void on(const StateChanged& event);
    void on(const Message& event) { m_notes.emplace_back(event); }
    void on(const WorldChanged& event);
    void on(const TextSample& event) { m_texts.push_back(event); }
    void on(const StragglerFound& event) { note(event); }
    void on(const RunFinished& event);
    void on(const RunFailed& event);
    void on(const DataProgress& event) { m_reading = event; }
    void on(const EvalCounts& event) { m_counts.push_back(event); }
    void on(const BindingChanged& event) { m_binding = event; }
    void note(const StragglerFound& found);
    void note(const RunFinished& finished);
    void addLoads(const StepDone& event);

    std::vector<std::shared_ptr<Curve>> m_curves;
    std::vector<Restart> m_restarts;
    std::vector<World> m_worlds;  // of earlier attempts, ascending
    RunState m_state = RunState::Queued;
    std::optional<RunStarted> m_started;
    std::optional<RunFinished> m_finished;
    std::optional<RunFailed> m_failed;
    std::optional<DataProgress> m_reading;
    std::vector<EvalDone> m_evaluations;
    std::vector<EvalCounts> m_counts;
    std::vector<TextSample> m_texts;
    std::vector<CheckpointWritten> m_checkpoints;
    std::vector<RunNote> m_notes;
    std::set<int> m_named;                   // stragglers of this attempt that have a note
    std::vector<RankLoad> m_latest, m_sums;  // sums decay; m_mass is their weight
    double m_mass = 0;
    double m_loadingRate = 0, m_trainingRate = 0;  // samples/s
    std::optional<BindingChanged> m_binding;
    std::int64_t m_next = 1, m_missing = 0, m_step = 0, m_epoch = 0;
    double m_seconds = 0, m_offset = 0, m_rate = 0;
    double m_clock = 0;  // of the last step or evaluation, in the attempt
    bool m_clockKnown = false, m_awaitsWorld = false;
    Eta m_eta;
};

}  // namespace lockstep::ui
