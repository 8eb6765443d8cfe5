#pragma once
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/core_wait.h"
#include "engine/data/loader.h"
#include "engine/train/bandwidth_meter.h"
#include "engine/train/checkpoint_keeper.h"
#include "engine/train/clocks.h"
#include "engine/train/data_wait.h"
#include "engine/train/evaluation_loop.h"
#include "engine/train/load_meter.h"
#include "engine/train/loss_scale.h"
#include "engine/train/metric_sums.h"
#include "engine/train/rank_threads.h"
#include "engine/train/replica.h"
#include "engine/train/schedule.h"
#include "engine/train/text_writer.h"
#include "engine/train/trainer.h"
#include "engine/train/weights.h"

namespace lockstep {

// Numbers events and hands them to the sinks in order; nothing after the last word. Any thread.
class EventLog {
public:
    EventLog(const std::vector<EventSink*>& sinks, std::int64_t firstNumber) : m_sinks(sinks), m_next(firstNumber) {}
    void post(const TrainEvent& event);

private:
    const std::vector<EventSink*>& m_sinks;
    std::mutex m_mutex;
    std::int64_t m_next;
    bool m_ended = false;
};

// What a rank spent on its latest step, in seconds; written by the rank, read by rank 0 for its report.
struct alignas(64) RankTimes {
    std::atomic<float> compute{0}, reduce{0}, wait{0};
    std::atomic<float> coreWait{0};                 // of that, waiting for a core
    std::atomic<float> loading{0}, loadingCore{0};  // see LoadingRate
    std::atomic<int> loaderThreads{0};
};

// What is to follow the ranks of now. Written by one rank before it leaves: rank 0, or of replicas that differ the one
// that is at fault. Read when all have left.
struct NextWorld {
    enum class Kind { None, Scaled, Balanced, Diverged };
    Kind kind = Kind::None;
    int devices = 0;             // Scaled
    std::vector<double> shares;  // Balanced: by rank
    int rank = -1;               // Diverged: who differs; -1: not to be told
    std::string what;            // Diverged
};

// What outlives the ranks of one world. No lock: each field has one writer between two collectives, and who reads what
// another rank wrote does so when all have left.
struct Continuation {
    std::shared_ptr<const Checkpoint> snapshot;  // of the last passed replica check; rank 0 writes it
    NextWorld next;
};

// What all ranks of a run share. They read what is const; `control` and `events` may be called by any thread, each rank
// writes its own entry of `times`, and Continuation says who writes it.
struct RunContext {
    const ResolvedSpec& resolved;
    const DatasetSplits& data;
    const RunPlan& plan;
    const RunOptions& options;
    RunControl& control;
    EventLog& events;
    std::vector<RankTimes>& times;
    Continuation& continuation;
    BadSamples& bad;  // shared by the ranks
};

// One rank of a run: its device, replica and loaders, and its way through the epochs. All ranks take the same way: what
// could differ (pause, stop) is decided by sums that all of them see. Rank 0 reports and writes the checkpoints.
class Worker final : public RankTask {
public:
    Worker(const RunContext& context, Collective& group);
    ~Worker() override;

    void run() override;
    void interrupt() noexcept override;
    void close() noexcept override;
    std::optional<std::uint64_t> awaitedData() const noexcept override { return m_dataWait.awaited(); }

    std::int64_t step() const { return m_step.load(); }  // optimizer updates done; any thread
    const RunFinished& finished() const { return m_finished; }

private:
    // The replica's programs, by index. Where the run never needs one (no short last batch, no text to write), its
    // place holds another of them and is never run.
    enum : std::size_t { kTraining, kLastTraining, kEvaluation, kLastEvaluation, kWriting };

    void open();
    WeightTensors weights() const;
    void restore(const Checkpoint& checkpoint);
    void keepImages();
    void keepImages(const Dataset& images, std::int64_t first);
    void openLoaders();
    void announce();
    void tellOfBadSamples();
    void requireAnySample() const;
    void notePace();
    void weighBandwidths(double samples);

    void train();
    void trainEpoch();
    void trainStep();
    void finishEpoch();
    void evaluate();                     // the split that chooses
    bool noteBest(const EvalDone& now);  // whether the evaluation is the best so far
    void finish(bool stopped);

    // Batches of one split. ahead: the next one, which is on its way to a device with memory of its own.
    struct Feed {
        std::unique_ptr<Loader> loader;
        BatchLease ahead;
    };
    BatchLease nextBatch(Feed& feed);
    StepScalars scalars() const;
    double learningRate(std::int64_t update) const;
    void requireFinite(std::size_t which);
    std::string firstNonFinite(double lossSum);
    int request() const;
    bool checkpointIsDue() const;  // within an epoch; rank 0's
    double control() const;
    void applyControl(double control);
    void pause();
    void skipUpdate(std::size_t which);

    void checkReplicas();
    void checkWhenDue(bool asked);
    void keepSnapshot();
    void changeWorld();
    void lookForStragglers();
    void reportNotes();
    bool goesOn() const { return !m_stop && !m_leaves; }
    void reportStep(std::size_t which, double samples);
    EvalDone evaluation() const;
    EvalCounts evaluationCounts() const;
    void openWriter();
    void writeText();
    bool writeByte(std::string& text);
    void writeCheckpoint(const std::string& role);
    void writeCheckpoints(const EvalDone& done);
    Split chooses() const { return m_run.data.validation ? Split::Validation : Split::Test; }
    const Metric& objective() const;
    DatasetInfo trainedOn() const;

    bool leads() const { return m_rank == 0; }
    const TrialSpec& spec() const { return m_run.resolved.spec; }
    const RankPrograms& programs() const { return m_run.plan.ranks[static_cast<std::size_t>(m_rank)]; }
    std::int64_t stepsPerEpoch() const { return m_run.plan.stepsPerEpoch; }

    const RunContext& m_run;
    Collective& m_group;
    const int m_rank;
    Schedule m_schedule;

    std::unique_ptr<Device> m_device;
    std::unique_ptr<Replica> m_replica;
    std::optional<TextWriter> m_writer;  // rank 0's, of a run that writes text
    std::string m_prompt;
    std::mutex m_loaderMutex;          // guards the pointers against interrupt()
    Feed m_trainFeed, m_choosingFeed;  // the samples that choose: of the validation or test split
    std::int64_t m_choosingSteps = 0;

    DataWait m_dataWait;
    std::atomic<std::int64_t> m_step{0};
    std::int64_t m_epoch = 0, m_stepInEpoch = 0;
    bool m_stop = false, m_stopAfterEpoch = false;
    bool m_leaves = false;  // another world follows
    int m_skipped = 0;      // updates in a row that were not finite
    LossScale m_lossScale;
    MetricSums m_epochSums, m_evaluated;
    std::optional<Problem> m_latestBad;  // why a sample could not be read
    bool m_hasRead = false;              // in this epoch, for an update that was not applied
    EvalCounts m_evaluatedCounts;
    static constexpr double kNever = std::numeric_limits<double>::quiet_NaN();
    // Of each metric its best so far; not a number before the first evaluation.
    EvalDone m_best{0, 0, 0, kNever, kNever, kNever, kNever, kNever, 0, 0, false};

    CheckpointKeeper m_keeper;               // rank 0's, of a run that writes checkpoints
    std::optional<CheckpointScore> m_score;  // of the evaluation that a checkpoint is about to follow
    std::chrono::steady_clock::time_point m_lastCheckpoint = std::chrono::steady_clock::now();
    Stopwatch m_trainClock, m_runClock;
    RateMeter m_rate;
    std::int64_t m_stepEnded = 0;  // traceNow(); what a rank does between two steps is its computing, too
    LoadMeter m_loads;             // rank 0's
    std::vector<RankLoad> m_latestLoads;
    LoadingRate m_loadingRate;
    std::optional<CoreWait> m_coreWait;
    std::int64_t m_coreWaited = 0;                          // nanoseconds, of the thread's whole life
    std::vector<RankPace> m_latestPaces;                    // rank 0's
    BandwidthMeter m_bandwidths;                            // rank 0's
    double m_attemptSamples = 0, m_trainSecondsBefore = 0;  // trained since this attempt began
    double m_epochSamples = 0, m_epochBegan = 0;            // of this attempt's part of the epoch
    TrainEvent m_stepEvent{StepDone{}};                     // kept, so that a report allocates nothing
    RunFinished m_finished;
};

}  // namespace lockstep
