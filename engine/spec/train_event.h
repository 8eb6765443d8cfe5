#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/core/result.h"
#include "engine/spec/split.h"

namespace lockstep {

// Everything a run can say; a closed list. Numbers, not words. `step` counts optimizer updates from 1, `epoch` from 1.
// The code of a Message: the run measures in which precision it trains; its argument is the attempt.
inline constexpr const char* kPrecisionMeasured = "run.precision-measured";
struct RunStarted {
    std::int64_t trial = 0;
    std::int64_t attempt = 1;
    std::string deviceText;            // the spec's device string
    std::vector<std::string> devices;  // ids, one per rank
    bool virtualDevices = false;
    std::int64_t parameters = 0, stepsPerEpoch = 0, epochs = 0, firstStep = 0, trainSamples = 0, testSamples = 0;
    std::uint64_t bytesPerDevice = 0;
    std::vector<std::int64_t> shares = {};      // samples of a full batch, by rank
    std::string batchNorm = {};                 // "local", "synchronised", "per shard"; "": the model has none
    double learningRate = 0;                    // what the rule of the batch made of the spec's
    double linkBandwidth = 0, linkLatency = 0;  // MB/s, µs of simulated links; both 0: none are simulated
    std::string task = {};                      // what the model learns: text(ModelTask); "": of an older version
    std::string software = {};                  // "Lockstep 0.1.0, oneDNN 2.6.3"; "": of an older version
    std::vector<std::string> hardware = {};     // what the devices are, each kind once: "AMD EPYC 9575F, 2 cores"
    std::vector<std::int64_t> threads = {};     // kernel threads, by rank
    std::int64_t validationSamples = 0;         // 0: the test split is evaluated after each epoch
    std::string precision = {};                 // "bf16": also where "auto" came to it; "": of an older version
    Split chooses() const { return validationSamples > 0 ? Split::Validation : Split::Test; }
};
struct StepDone {
    std::int64_t step = 0, epoch = 0, samples = 0;
    double loss = 0, accuracy = 0;  // mean over the global batch, training mode
    double learningRate = 0, gradientNorm = 0;
    double seconds = 0;           // since the run started, pauses excluded
    double samplesPerSecond = 0;  // over the last second or so
    // Per rank, of this step: seconds computing, in all-reduce, waiting for data.
    std::vector<float> compute, reduce, wait;
    // How many samples per second loading could make and training could take, each by itself; see bandwidths.h. 0: not
    // known yet.
    double loadingRate = 0, trainingRate = 0;
};
// After each epoch, of the split that chooses; where that is validation, also of the test split once, at the end of the
// run, of the model that was chosen: `step` and `epoch` are then that one's, and nothing is said of training.
struct EvalDone {
    std::int64_t step = 0, epoch = 0, samples = 0;
    double loss = 0, accuracy = 0, accuracy5 = -1;  // accuracy5 < 0: not counted
    double trainLoss = 0, trainAccuracy = 0;        // means over the epoch just trained
    double seconds = 0;                             // since the run started
    double samplesPerSecond = 0;                    // training rate of the epoch
    bool best = false;
    Split split = Split::Test;
};
// Of a classifier, behind EvalDone, what it took samples for: evaluation.h reads it. Samples whose logits are no
// numbers are not among them.
struct EvalCounts {
    std::int64_t step = 0, epoch = 0;
    std::int64_t classes = 0;
    std::vector<std::int64_t> cells = {};  // triples: true class, answer, how many samples; empty cells are left out
    // By bin of confidence: answers, right ones, and the sum of their confidences.
    std::vector<std::int64_t> binSamples = {}, binCorrect = {};
    std::vector<double> binConfidence = {};
    Split split = Split::Test;
    std::int64_t leftOut = 0;  // files of the data asked about, of all splits, that are not among the samples
    bool operator==(const EvalCounts&) const = default;
};
// What a language model wrote after the epoch's evaluation. UTF-8, with U+FFFD for bytes that are none and for control
// characters.
struct TextSample {
    std::int64_t step = 0, epoch = 0;
    std::string prompt, text;  // the text follows the prompt; shorter than asked for after a stop
    bool operator==(const TextSample&) const = default;
};
// Role: "last", "best", "epoch-7": see kept_checkpoints.h.
struct CheckpointWritten {
    std::int64_t step = 0, epoch = 0;
    std::string file, role;
};
// The run goes on with other devices or shares, from a snapshot or from where it stands; RunStarted comes next.
struct WorldChanged {
    std::string reason;                // "lost-device", "diverged", "scaled", "balanced"
    std::int64_t step = 0;             // updates done where it goes on
    std::int64_t reached = 0;          // updates done when it happened; more than `step`: those are done again
    int rank = -1;                     // whose fault, of the ranks until now; -1: nobody's
    std::string what;                  // the cause in words, where something failed
    std::vector<std::string> devices;  // ids, one per rank from now on
};
// One rank keeps the others waiting, and has done so for some seconds; RunFinished sums it up.
struct StragglerFound {
    std::int64_t step = 0;
    int rank = 0;
    std::string cause;   // "data", "compute", "collective"
    double seconds = 0;  // per update that the others lost
    double share = 0;    // of the update's time
};
// What keeps the run from being faster, the first time and whenever it is something else: see bandwidths.h, which has
// the words.
struct BindingChanged {
    std::int64_t step = 0;
    std::string binding = {};                       // text(Binding)
    double loading = 0, training = 0, reached = 0;  // samples per second, of all devices
    double limit = 0;                               // what loading is held at on purpose; 0: nothing
    std::int64_t loaderThreads = 1;                 // for each device
    std::int64_t devices = 1, cores = 1;            // cores: that the process may use
    bool haveProcessors = false;                    // the devices compute on their own, not on these cores
    bool operator==(const BindingChanged&) const = default;
};
// See RunState.
struct StateChanged {
    std::string state;
    std::int64_t step = 0;
};
// Level: info, warning.
struct Message {
    std::string level;
    Problem text;
};
// Before RunStarted, while the data are read. Told to whoever watches just then, outside the run's numbering (number
// 0), and kept nowhere.
struct DataProgress {
    std::int64_t done = 0, total = 0;  // samples; files that are listed, of nobody knows how many, where total is 0
    double samplesPerSecond = 0;
    std::int64_t bytes = 0;  // about how large the file becomes that they are decoded into; 0: there is none
};
struct RunFinished {
    std::string outcome;  // "finished", "stopped"
    std::int64_t trial = 0, step = 0, epoch = 0;
    // Not a number before the first evaluation. The best is of the split that chooses.
    double testAccuracy = 0, testLoss = 0, bestAccuracy = 0;
    double trainSamplesPerSecond = 0;  // all training samples over training time: loading in, evaluation out
    double seconds = 0;
    // Seconds for which each of the last ranks kept the others waiting while it was a straggler; empty: none was.
    std::vector<double> heldUp = {};
    std::int64_t unreadable = 0;  // samples that could not be read and had no part in it
};
struct RunFailed {
    std::string kind, where, what;  // kind: text(EngineError::Kind), or a problem's code: failureFrom()
    int rank = -1;                  // -1: nobody's in particular
    std::int64_t step = 0;
    std::vector<std::string> args = {};  // the problem's
    std::int64_t sequence = -1;          // the operation that the rank would have come to next, of the group's
    std::string collective = {};         // what it is, once others were in it: "all-reduce of 10 f32"
    std::vector<int> waiting = {};       // who
};

// A problem that a person can repair as the cause of a failure: its code is the kind, its field the place, and what are
// its arguments, joined by ", ". problemIn() is the way back, also from the events of versions without args; empty: the
// engine's own failure.
RunFailed failureFrom(const Problem& problem);
std::optional<Problem> problemIn(const RunFailed& failed);

using TrainEvent =
    std::variant<RunStarted, StepDone, EvalDone, CheckpointWritten, StateChanged, Message, RunFinished, RunFailed,
                 WorldChanged, StragglerFound, TextSample, DataProgress, EvalCounts, BindingChanged>;

// The stable name in JSON and in the history: "run_started", "step_done", "eval_done", "checkpoint_written",
// "state_changed", "message", "run_finished", "run_failed", "world_changed", "straggler_found", "text_sample",
// "data_progress", "eval_counts", "binding_changed".
std::string_view nameOf(const TrainEvent& event);
bool isStepEvent(const TrainEvent& event);  // may be dropped for a slow reader

// One line of JSON, {"n":12,"event":"step_done",…}; NaN and infinities as null. fromJsonLine is its inverse;
// none of its allocations is larger than 32 times the line.
std::string toJsonLine(const TrainEvent& event, std::int64_t number);
struct NumberedEvent {
    std::int64_t number = 0;
    TrainEvent event;
};
Result<NumberedEvent> eventFromJsonLine(std::string_view line);

// Receives the events of a run. Any thread; never blocks for long, never throws.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void post(std::int64_t number, const TrainEvent& event) = 0;
};

}  // namespace lockstep
