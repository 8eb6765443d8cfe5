#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/stream.h"
#include "engine/core/precision.h"
#include "engine/graph/graph.h"
#include "engine/ops/update.h"

namespace lockstep {

// Io: one batch slot, its base changes from step to step. Masters: the parameters in f32, where kernels compute in
// less. Averages: of the parameters, over the updates; evaluation reads them instead. Staging: new buffer values on
// their way through the reduction. Scalars: doubles (losses, counts, square sums, the gate). Partials: what earlier
// passes of the step summed up. Dataset: what the device keeps of the data, the same in all steps: kKeptImages in
// data/batch_layout.h. Outputs: what an evaluation's graph gives besides its sums ("logits"), of one pass behind the
// other, until the next step. All but Activations, Partials and Outputs are shared by the programs of a run.
enum class Arena : std::uint8_t {
    Io,
    Parameters,
    Masters,
    Averages,
    Gradients,
    OptimizerState,
    Buffers,
    Staging,
    Activations,
    Scalars,
    Partials,
    Dataset,
    Outputs
};
constexpr std::size_t kArenaCount = 13;
std::string_view text(Arena arena);

struct Slot {
    Arena arena = Arena::Activations;
    std::size_t offset = 0, bytes = 0;
    bool operator==(const Slot&) const = default;
};

// A parameter or buffer, and where it lives: `offset` is its place in one arena, from which those in the others follow.
//   a trained parameter   Parameters, Gradients   offset
//                         Masters, Averages       kept(offset)
//                         OptimizerState k        kept(offset) + k * kept(parameterBytes), k from 0
//   a frozen parameter    Parameters, Masters     as trained ones, behind all of them; it has no other place
//   a buffer              Buffers                 offset
//                         Staging                 offset, if training assigns the buffer
// kept() is StoragePlan's: the same elements in the wider type that masters, averages and states have.
struct StorageEntry {
    std::string name;
    Value value;  // type, layout, initializer, decays
    std::size_t offset = 0, bytes = 0;
};

// A slice of the gradient arena that is reduced and updated as one; bounds fall between parameters.
struct Bucket {
    std::size_t offset = 0, bytes = 0;
    std::size_t firstParameter = 0, parameterCount = 0;
};

// What all programs of a run agree on: parameters in the order in which their gradients become ready, layouts, buckets.
// Made once from the nominal training program; ranks with different signatures cannot form a group.
struct StoragePlan {
    DType dtype = DType::F32;                      // of parameters and gradients: what kernels compute in
    std::vector<StorageEntry> parameters, frozen;  // trained, and not
    std::vector<StorageEntry> buffers;             // those that training assigns come first
    std::vector<Bucket> buckets;
    std::size_t parameterBytes = 0, frozenBytes = 0, bufferBytes = 0, stagedBytes = 0;
    int stateCount = 0;
    bool averages = false;

    // Of masters, averages, states and buffers: dtype, or f32 where that is less.
    DType keptType() const { return atLeastF32(dtype); }
    bool hasMasters() const { return keptType() != dtype; }
    // Offsets and sizes among parameters as they are among the same elements of keptType.
    std::size_t kept(std::size_t bytes) const { return bytes / sizeOf(dtype) * sizeOf(keptType()); }
    // Where evaluation finds the averages in dtype: behind those in f32 if there are masters, else they themselves.
    std::size_t averagesRead() const { return hasMasters() ? kept(parameterBytes) : 0; }
    bool isFor(const UpdateRule& rule) const { return stateCount == rule.stateCount() && averages == rule.averages(); }
    std::size_t arenaBytes(Arena arena) const;  // of an arena of parameters, of what belongs to them, or of buffers
    std::string signature() const;              // stable text over names, shapes, layouts, offsets, buckets
    const StorageEntry* find(std::string_view name) const;
};

// Slots of the flat steps are those that device.h prescribes for their kernels. CopyIn: from the host's batch slot
// (input) to the device's (output), at the same offset. AllReduce: in place, input and output are the same slice; of
// what the step yields, or in the midst of a pass of an activation (all_reduce.h), which the next to touch it waits
// for.
struct Step {
    enum class Kind : std::uint8_t {
        Kernel,
        CopyIn,
        Fill,
        Scale,
        Add,
        AllReduce,
        SquareSum,
        Gate,
        Update,
        Average,
        Commit
    };
    Kind kind = Kind::Kernel;
    Lane lane = Lane::Compute;
    int pass = 0;                // index of the program's pass it belongs to
    std::optional<NodeId> node;  // Kernel: of the pass's graph
    int bucket = -1;             // AllReduce of gradients, SquareSum, Update, Average
    double value = 0;            // Fill: the value; Scale: the factor
    std::size_t count = 0;       // elements, for flat steps
    DType dtype = DType::F32;    // of those elements
    std::vector<Slot> inputs, outputs;
    std::vector<int> after;  // earlier steps on other lanes that must be complete
    std::string name;        // for people and traces: "conv2d block3/conv1", "all-reduce 2"
    bool constant = false;   // see Program
};
std::string_view text(Step::Kind kind);

// The scalars that a training step reduces over ranks, one f64 each, contiguous at the front of Arena::Scalars.
struct ScalarSlots {
    std::vector<std::string> names;  // "loss_sum", "weight", "samples", "correct1", "correct5", "control"
    std::size_t offsetOf(std::string_view name) const;  // bytes; throws EngineError(Internal) if absent
    std::size_t gateOffset = 0;                         // of the UpdateGate
    std::size_t sumBytes() const;  // of the sums over samples: all names but "control", which is the last
};

// A part of the rank's samples that the kernels take at once: all of them, or, one after another, the micro-batches of
// an accumulated gradient or the logical shards of a reproducible run.
struct Pass {
    std::shared_ptr<const Graph> graph;         // lowered; passes of equal size share it; null without samples
    std::int64_t firstSample = 0, samples = 0;  // within the rank's share
    std::map<std::string, Slot, std::less<>> outputs = {};  // evaluation: where it leaves what is no scalar
};

// Everything one replica executes for one kind of step, device-free: steps in order, and where everything lies.
// Training: the kernels of each pass, all-reduces as slices become ready in the last, square sums, the gate, updates
// (each followed by its averages, if the rule has any), commits. Evaluation reads averages where there are any, else
// parameters. What passes yield is added up as one binary tree whose leaves are the passes, never one after another:
// ranks continue the tree (collective.h), so its shape does not depend on how many of the passes a rank takes.
// Constant steps of an evaluation read nothing but parameters, buffers and what others of them make: filters in another
// type or layout, say. They come before all other kernels, and what these read of them stays in the activations: who
// runs the program again, with no other in between and no parameter changed, may leave them out.
// "control" is written by the replica before the step (a request to pause or stop) and reduced with the rest, so all
// ranks agree on the same last step. A program for 0 samples has no kernels: it contributes zeros.
struct Program {
    enum class Kind : std::uint8_t { Training, Evaluation };
    Kind kind = Kind::Training;
    std::string backend;
    Precision precision = Precision::Fp32;  // that was asked for; steps name what each computes in
    std::int64_t localBatch = 0;
    int threads = 1;
    std::vector<Pass> passes;  // at least one; a program for 0 samples has one without a graph
    std::shared_ptr<const StoragePlan> storage;
    UpdateRule update;
    std::vector<Step> steps;
    std::array<std::size_t, kArenaCount> arenaBytes{};
    ScalarSlots scalars;
    std::size_t activationBytesWithoutReuse = 0;  // what the memory plan saved, for people

    const Graph* graphOf(const Step& step) const { return passes[static_cast<std::size_t>(step.pass)].graph.get(); }
};

// Stable text: header, arenas, buckets, parameters with layouts, steps with lanes, algorithms, offsets. Golden files
// and `lockstep program` print this.
std::string dump(const Program& program);

}  // namespace lockstep
