#include "engine/train/replica.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/train/prepared_steps.h"

namespace lockstep {

namespace {

constexpr std::size_t kTraceSpans = 1 << 14;
constexpr std::size_t kGuardedElements = 1 << 14;  // of each slice, per kernel thread: they stay in its cache

// Of `count` elements of the bucket from `first` on.
std::vector<UpdateSegment> segmentsOf(const StoragePlan& storage, const Bucket& bucket, std::size_t first,
                                      std::size_t count) {
    const std::size_t element = sizeOf(storage.dtype);
    std::vector<UpdateSegment> segments;
    for (std::size_t i = 0; i < bucket.parameterCount; ++i) {
        const StorageEntry& entry = storage.parameters[bucket.firstParameter + i];
        const std::size_t begin = (entry.offset - bucket.offset) / element, end = begin + entry.bytes / element;
        const std::size_t from = std::max(begin, first), to = std::min(end, first + count);
        if (from < to) segments.push_back({from - first, to - from, entry.value.decays, &entry.value});
    }
    return segments;
}

// Where the parts of a bucket begin when each has one parameter, with the gap behind it.
std::vector<std::size_t> parameterBounds(const StoragePlan& storage, const Bucket& bucket) {
    std::vector<std::size_t> bounds;
    for (std::size_t i = 0; i < bucket.parameterCount; ++i) {
        const StorageEntry& entry = storage.parameters[bucket.firstParameter + i];
        bounds.push_back((entry.offset - bucket.offset) / sizeOf(storage.dtype));
    }
    return bounds;
}

std::vector<std::size_t> equalBounds(std::size_t count, std::size_t most) {
    std::vector<std::size_t> bounds;
    for (std::size_t first = 0; first < count; first += most) bounds.push_back(first);
    return bounds;
}

}  // namespace

Replica::Replica(Device& device, Collective& group, std::vector<std::shared_ptr<const Program>> programs,
                 TraceBoard* trace)
    : m_device(device), m_group(group), m_trace(trace), m_storage(programs.front()->storage) {
    if (trace) {
        m_computeLane = &trace->addLane(group.rank(), "compute", kTraceSpans);
        m_reduceLane = &trace->addLane(group.rank(), "all-reduce", kTraceSpans);
    }
    for (auto& program : programs) {
        if (program->kind == Program::Kind::Training) m_rule = program->update;
        const auto same = std::ranges::find_if(m_programs, [&](const auto& each) { return each->program == program; });
        m_programs.push_back(same != m_programs.end() ? *same : std::make_shared<Prepared>(program));
    }
    allocate();
    for (auto& prepared : m_programs) {
        if (prepared->steps.empty()) prepare(*prepared);
    }
    allocateWorkspaces();
}

Replica::~Replica() = default;

void Replica::allocate() {
    std::array<std::size_t, kArenaCount> bytes{};
    for (const auto& prepared : m_programs) {
        for (std::size_t i = 0; i < kArenaCount; ++i) bytes[i] = std::max(bytes[i], prepared->program->arenaBytes[i]);
    }
    if (m_device.isHostMemory()) bytes[static_cast<std::size_t>(Arena::Io)] = 0;
    for (std::size_t i = 0; i < kArenaCount; ++i) {
        if (bytes[i] > 0) m_arenas[i] = m_device.allocate(bytes[i]);
    }
    if (const std::size_t batch = bytes[static_cast<std::size_t>(Arena::Io)]) m_incoming = m_device.allocate(batch);
    m_hostScalars = m_device.allocateStaging(bytes[static_cast<std::size_t>(Arena::Scalars)]);
}

void Replica::prepare(Prepared& prepared) {
    const Program& program = *prepared.program;
    for (const Step& step : program.steps) {
        prepared.steps.push_back(prepareStep(prepared, step));
        for (const int other : step.after) prepared.steps[static_cast<std::size_t>(other)].records = true;
    }
    const auto isReduce = [](const Step& step) { return step.kind == Step::Kind::AllReduce; };
    prepared.reduces = std::ranges::any_of(program.steps, isReduce);
    if (m_device.records()) findSegments(prepared);
    for (PreparedStep& step : prepared.steps) {
        for (std::size_t i = 0; i < step.inputs.size() && m_device.isHostMemory(); ++i) {
            const Slot& slot = step.step->inputs[i];
            if (slot.arena == Arena::Io) prepared.batchPointers.push_back({&step.inputs[i], slot.offset});
        }
    }
    prepared.hasControl = std::ranges::find(program.scalars.names, "control") != program.scalars.names.end();
    if (prepared.hasControl) prepared.controlOffset = program.scalars.offsetOf("control");
}

// Where all-reduces cannot be recorded, a segment ends before a kernel that waits for one: what it waits for would hold
// up the whole segment. Constant steps, which may be left out, are segments of their own.
void Replica::findSegments(Prepared& prepared) {
    const std::vector<PreparedStep>& steps = prepared.steps;
    const bool reduces = m_group.recorded() != Recorded::No;
    const auto isReduce = [&](std::size_t i) { return steps[i].step->kind == Step::Kind::AllReduce; };
    const auto isRecorded = [&](std::size_t i) {
        return isReduce(i) ? reduces : steps[i].kernel && steps[i].step->lane == Lane::Compute;
    };
    const auto waitsForReduce = [&](std::size_t i) {
        return std::ranges::any_of(steps[i].step->after,
                                   [&](int other) { return isReduce(static_cast<std::size_t>(other)); });
    };
    for (std::size_t begin = 0; begin < steps.size();) {
        std::size_t end = begin;
        const auto isAlike = [&](std::size_t i) { return steps[i].step->constant == steps[begin].step->constant; };
        while (end < steps.size() && isRecorded(end) && isAlike(end) &&
               (end == begin || reduces || !waitsForReduce(end)))
            ++end;
        if (end > begin) addSegment(prepared, begin, end);
        begin = std::max(end, begin + 1);
    }
}

void Replica::addSegment(Prepared& prepared, std::size_t begin, std::size_t end) {
    static std::atomic<std::uint64_t> made{0};
    Segment segment;
    segment.number = ++made;
    segment.begin = begin;
    segment.end = end;
    const auto isWithin = [&](int step) { return std::cmp_greater_equal(step, begin) && std::cmp_less(step, end); };
    for (std::size_t i = begin; i < prepared.steps.size(); ++i) {
        if (i < end && prepared.steps[i].step->kind == Step::Kind::AllReduce) ++segment.reductions;
        for (const int other : prepared.steps[i].step->after) {
            if (i < end && !isWithin(other)) segment.after.push_back(other);
            if (i >= end && isWithin(other)) segment.awaited.push_back(static_cast<std::size_t>(other));
        }
    }
    if (m_trace) segment.name = m_trace->nameId(prepared.steps[begin].step->name + " and what follows");
    prepared.segments.push_back(std::move(segment));
}

void Replica::allocateWorkspaces() {
    std::array<std::size_t, 3> bytes{};
    const auto forEachStep = [&](const auto& what) {
        for (const auto& prepared : m_programs) {
            for (PreparedStep& step : prepared->steps) what(step, static_cast<std::size_t>(step.step->lane));
        }
    };
    forEachStep([&](const PreparedStep& step, std::size_t lane) {
        if (step.kernel) bytes[lane] = std::max(bytes[lane], step.kernel->workspaceBytes());
    });
    for (std::size_t lane = 0; lane < bytes.size(); ++lane) {
        if (bytes[lane] > 0) m_workspaces[lane] = m_device.allocate(bytes[lane]);
    }
    forEachStep([&](PreparedStep& step, std::size_t lane) { step.workspace = m_workspaces[lane].data(); });
}

Replica::PreparedStep Replica::prepareStep(Prepared& prepared, const Step& step) {
    PreparedStep own;
    own.step = &step;
    own.kernel = nodeKernel(prepared, step);
    if (auto kernel = flatKernel(*prepared.program, step)) {
        own.kernel = kernel.get();
        prepared.kernels.push_back(std::move(kernel));
    }
    for (const Slot& slot : step.inputs) own.inputs.push_back(resolve(slot));
    for (const Slot& slot : step.outputs) own.outputs.push_back(resolve(slot));
    own.stream = &m_device.stream(step.lane);
    if (m_trace) {
        own.name = m_trace->nameId(step.name);
        if (step.kind == Step::Kind::AllReduce) own.waitName = m_trace->nameId("wait for " + step.name);
    }
    return own;
}

// Passes of one graph differ in nothing but where their samples lie in the batch.
Kernel* Replica::nodeKernel(Prepared& prepared, const Step& step) {
    if (!step.node) return nullptr;
    const Graph& graph = *prepared.program->graphOf(step);
    Kernel*& kernel = prepared.nodeKernels[{&graph, *step.node}];
    if (!kernel) {
        prepared.kernels.push_back(m_device.prepare(graph, graph.node(*step.node)));
        kernel = prepared.kernels.back().get();
    }
    return kernel;
}

std::unique_ptr<Kernel> Replica::flatKernel(const Program& program, const Step& step) {
    switch (step.kind) {
        case Step::Kind::Fill: return m_device.prepareFill(step.dtype, step.count, step.value);
        case Step::Kind::Scale: return m_device.prepareScale(step.dtype, step.count, step.value);
        case Step::Kind::Add: return m_device.prepareAdd(step.dtype, step.count);
        case Step::Kind::SquareSum: return m_device.prepareSquareSum(step.dtype, step.count);
        case Step::Kind::Gate: return m_device.prepareGate(program.update, step.inputs.size() - 3);
        case Step::Kind::Update:
        case Step::Kind::Average:
        case Step::Kind::Commit:
            return m_device.isHostMemory() ? guardedWriter(program, step) : writerKernel(program, step, 0, step.count);
        case Step::Kind::Kernel:
        case Step::Kind::CopyIn:
        case Step::Kind::AllReduce: return nullptr;
    }
    return nullptr;
}

// Of the steps that write what rests between updates: the kernel for a part of its elements.
std::unique_ptr<Kernel> Replica::writerKernel(const Program& program, const Step& step, std::size_t first,
                                              std::size_t count) {
    if (step.kind == Step::Kind::Average)
        return m_device.prepareAverage(program.update.averageDecay, step.dtype, count);
    if (step.kind == Step::Kind::Commit) return m_device.prepareCommit(step.dtype, count);
    const Bucket& bucket = m_storage->buckets[static_cast<std::size_t>(step.bucket)];
    return m_device.prepareUpdate(program.update, step.dtype, count, segmentsOf(*m_storage, bucket, first, count));
}

std::unique_ptr<Kernel> Replica::guardedWriter(const Program& program, const Step& step) {
    const std::size_t most = kGuardedElements * static_cast<std::size_t>(std::max(1, m_device.choice().threads));
    const bool whole = step.kind == Step::Kind::Update && program.update.needsWholeParameters();
    const std::vector<std::size_t> bounds =
        whole ? parameterBounds(*m_storage, m_storage->buckets[static_cast<std::size_t>(step.bucket)])
              : equalBounds(step.count, most);
    std::vector<ChecksummedKernel> parts;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const std::size_t first = bounds[i], count = (i + 1 < bounds.size() ? bounds[i + 1] : step.count) - first;
        ChecksummedKernel part{writerKernel(program, step, first, count), {}, {}, {}};
        for (const Slot& slot : step.inputs) {
            const bool isGate = slot.arena == Arena::Scalars;
            part.inputs.push_back(resolve(slot) + (isGate ? 0 : first * (slot.bytes / step.count)));
        }
        for (const Slot& slot : step.outputs) {
            const std::size_t element = slot.bytes / step.count;
            part.outputs.push_back(resolve(slot) + first * element);
            part.outputBytes.push_back(count * element);
        }
        parts.push_back(std::move(part));
    }
    return withChecksums(m_checksums, step.name, std::move(parts));
}

std::byte* Replica::resolve(const Slot& slot) const {
    std::byte* const base = arena(slot.arena);
    return base ? base + slot.offset : nullptr;
}

void Replica::requireSameStorage() {
    const std::uint64_t own = streamOf(m_storage->signature());
    std::vector<std::uint64_t> all(static_cast<std::size_t>(m_group.size()));
    m_group.wait(m_group.allGather(&own, all.data(), sizeof own));
    const auto other = std::ranges::find_if(all, [&](std::uint64_t hash) { return hash != all.front(); });
    if (other == all.end()) return;
    throw EngineError(EngineError::Kind::Collective, "parameter layouts",
                      "rank 0 and rank " + std::to_string(other - all.begin()) + " store their parameters differently");
}

void Replica::initialize(std::uint64_t seed, const std::map<std::string, HostTensor>& given) {
    requireSameStorage();
    if (m_group.rank() == 0) {
        for (const auto* entries : {&m_storage->parameters, &m_storage->frozen, &m_storage->buffers}) {
            for (const StorageEntry& entry : *entries) {
                const auto found = given.find(entry.name);
                if (found != given.end()) write(entry.name, found->second);
                else writeInitial(entry.name, seed);
            }
        }
    }
    for (const Arena each : {Arena::Parameters, Arena::Masters, Arena::Buffers})
        m_group.wait(m_group.broadcast(arena(each), m_storage->arenaBytes(each), 0));
    m_checksums.forget();
    m_constantsOf = nullptr;
    startAverages();
}

}  // namespace lockstep
