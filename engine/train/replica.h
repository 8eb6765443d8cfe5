#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/device.h"
#include "engine/collective/collective.h"
#include "engine/core/trace.h"
#include "engine/plan/program.h"
#include "engine/train/memory_checksums.h"

namespace lockstep {

// One model on one device: the arenas, and the prepared kernels of its programs. Belongs to one thread, the rank's.
class Replica {
public:
    // `programs` share one StoragePlan; `trace` may be null, else the rank gets the lanes "compute" and "all-reduce".
    Replica(Device& device, Collective& group, std::vector<std::shared_ptr<const Program>> programs, TraceBoard* trace);
    ~Replica();

    // Fills parameters and buffers from rank 0's `given`, by name, and the others by their initializers (keyed by seed
    // and name); rank 0's values reach all by broadcast. Every rank of the group calls it. Ranks whose storage differs
    // are an EngineError(Collective).
    void initialize(std::uint64_t seed, const std::map<std::string, HostTensor>& given = {});

    // Seconds.
    struct StepTimes {
        double compute = 0, reduce = 0;
    };
    // Runs one step of programs[which] on the batch slot at `batch`. `control` is this rank's request (see Program).
    // On return the scalars are on the host. Our code allocates nothing. Throws EngineError. `next`: the slot of the
    // next run, laid out alike, if it is filled: it travels to a device beside this step's kernels, and stays as it is
    // until then.
    StepTimes run(std::size_t which, std::byte* batch, const StepScalars& scalars, double control = 0,
                  const std::byte* next = nullptr);
    // Waits for copies that still read batch slots: run() does it before it throws, and whoever gave a `next` when
    // there is no next run.
    void endCopies() noexcept;
    double scalar(std::size_t which, std::string_view name) const;  // of the last run; reduced for training programs
    UpdateGate gate(std::size_t which) const;

    // Writes a part of what the device keeps of the dataset, from the host's memory.
    void keep(std::size_t offset, std::span<const std::byte> part);

    // Averages become copies of the parameters, as initialize() leaves them. Nothing happens in a run without averages.
    void startAverages();

    // Logical tensors by canonical name: "<parameter>" (its master, where there is one), "<buffer>",
    // "<state>.<parameter>", "average.<parameter>". For checkpoints, hashes, tests.
    static constexpr std::string_view kAverage = "average.";
    std::vector<std::string> tensorNames() const;
    HostTensor read(const std::string& name);
    // Converts between f32 and f64. Another shape or type, or an unknown name: ProblemError "checkpoint.mismatch".
    void write(const std::string& name, const HostTensor& tensor);
    HostTensor readGradient(const std::string& parameter);  // of the last training step, summed over ranks
    // What an evaluation left as an output of its graph ("logits"): a row for each of the samples, in their order.
    // `program` is the one that ran last.
    HostTensor readOutput(const Program& program, std::string_view name);
    std::uint64_t hash();  // over all logical tensors, in name order
    // Over what rests between updates as it is stored: the same on all ranks as long as they are replicas.
    std::uint64_t storedHash();
    // What this rank's memory lost between updates, in words; empty: nothing that was noticed. Each update looks at
    // what it writes over; inspect() looks at all of it now. Host memory only.
    const std::string& damage() const { return m_checksums.damage(); }
    void inspect() { m_checksums.checkAll(); }
    // Stored bytes of an arena, for fault injection in tests. Host memory only.
    std::span<std::byte> stored(Arena arena);

    // A hook before each step of a program, for fault injection in tests: (program, step index).
    std::function<void(std::size_t, std::size_t)> beforeStep;

private:
    struct PreparedStep;
    struct Segment;
    struct Prepared;
    // A stored tensor, and where kernels read the same as `count` elements of their own type, if that is elsewhere.
    struct Place {
        Value value;
        std::byte* at = nullptr;
        std::byte* rounded = nullptr;
        std::size_t count = 0;
    };

    void writeInitial(const std::string& name, std::uint64_t seed);
    void allocate();
    void prepare(Prepared& prepared);
    void findSegments(Prepared& prepared);
    void addSegment(Prepared& prepared, std::size_t begin, std::size_t end);
    void allocateWorkspaces();
    PreparedStep prepareStep(Prepared& prepared, const Step& step);
    Kernel* nodeKernel(Prepared& prepared, const Step& step);
    std::unique_ptr<Kernel> flatKernel(const Program& program, const Step& step);
    std::unique_ptr<Kernel> writerKernel(const Program& program, const Step& step, std::size_t first,
                                         std::size_t count);
    std::unique_ptr<Kernel> guardedWriter(const Program& program, const Step& step);
    std::byte* resolve(const Slot& slot) const;
    void requireSameStorage();
    StepTimes runSteps(std::size_t which, std::byte* batch, const StepScalars& scalars, double control,
                       const std::byte* next);
    void beginStep(Prepared& prepared, std::byte* batch, double control);
    void sendAhead(const Prepared& prepared, const std::byte* next);
    void runStep(Prepared& prepared, std::size_t index, std::byte* batch, const StepScalars& scalars);
    void awaitSteps(Prepared& prepared, const std::vector<int>& steps, Stream& stream, std::int64_t number);
    void finishStep(std::uint32_t name, std::int64_t number);
    bool agree(const Prepared& prepared);
    bool replays(const Prepared& prepared, const Segment& segment, bool together) const;
    void replay(Prepared& prepared, Segment& segment, const StepScalars& scalars);
    void record(Prepared& prepared, const Segment& segment, const StepScalars& scalars);
    void joinReduce(PreparedStep& step);
    void startReduce(PreparedStep& step);
    void finishReduce(PreparedStep& step, std::int64_t number);
    void fetchScalars();
    Place place(const std::string& name) const;
    Place keptPlace(const StorageEntry& parameter, Arena arena, std::size_t base = 0) const;
    void round(const Place& place);
    std::byte* arena(Arena arena) const { return m_arenas[static_cast<std::size_t>(arena)].data(); }

    Device& m_device;
    Collective& m_group;
    TraceBoard* m_trace;
    TraceLane* m_computeLane = nullptr;
    TraceLane* m_reduceLane = nullptr;
    std::vector<std::shared_ptr<Prepared>> m_programs;  // a program given twice is prepared once
    const Prepared* m_constantsOf = nullptr;            // whose constants are in the activations, and still right
    std::shared_ptr<const StoragePlan> m_storage;
    UpdateRule m_rule;
    std::array<Buffer, kArenaCount> m_arenas;
    std::array<Buffer, 3> m_workspaces;  // by lane
    MemoryChecksums m_checksums;
    Buffer m_hostScalars;               // a copy of the scalars, for devices with memory of their own
    Buffer m_incoming;                  // there: the batch of the step to come
    const std::byte* m_sent = nullptr;  // the slot whose copy is in it
    bool m_isSent = false;              // the step's batch is that one
    int m_reducing = 0;                 // all-reduces started and not waited for
    std::int64_t m_mark = 0;            // end of what has been accounted for in m_times
    StepTimes m_times;
};

}  // namespace lockstep
