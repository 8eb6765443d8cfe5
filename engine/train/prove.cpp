#include "engine/train/prove.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "engine/core/error.h"
#include "engine/data/loader.h"
#include "engine/train/make_group.h"
#include "engine/train/rank_threads.h"
#include "engine/train/replica.h"

namespace lockstep {

namespace {

enum : std::size_t { kNominal, kLast };

constexpr int kLoaderSlots = 2;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

using Tensors = std::map<std::string, HostTensor>;

// One side of the proof: the spec on so many devices.
struct Side {
    ResolvedSpec resolved;
    RunPlan plan;
};

// What both sides have to themselves; all but `start` and `loaded` is read-only once there are ranks.
struct World {
    const ProofRequest& request;
    Side one, many;
    Sampler sampler;
    Schedule schedule;
    std::int64_t updates = 0;
    Tolerance tolerance;
    Tensors start;                               // of one device, before the update; rank 0 writes it between barriers
    std::vector<LoadedBatch> loaded;             // by rank
    std::vector<UpdateProof> proven;             // rank 0's
};

// What an update left on one side.
struct Outcome {
    double loss = 0, scale = 0;                  // scale: what the update multiplies gradients by; not a number: it skips
    Tensors gradients, tensors;
};

Tensors allTensors(Replica& replica) {
    Tensors tensors;
    for (const std::string& name : replica.tensorNames()) tensors.emplace(name, replica.read(name));
    return tensors;
}

Outcome outcomeOf(Replica& replica, std::size_t which, const StoragePlan& storage) {
    const double weight = replica.scalar(which, "weight");
    const UpdateGate gate = replica.gate(which);
    Outcome outcome;
    outcome.loss = weight > 0 ? replica.scalar(which, "loss_sum") / weight : 0;
    outcome.scale = gate.skip != 0 ? std::numeric_limits<double>::quiet_NaN() : gate.scale;
    for (const StorageEntry& entry : storage.parameters)
        outcome.gradients.emplace(entry.name, replica.readGradient(entry.name));
    outcome.tensors = allTensors(replica);
    return outcome;
}

double relative(double difference, double largest) {
    if (difference == 0) return 0;
    return std::isfinite(difference) && std::isfinite(largest) && largest > 0 ? difference / largest : kInfinite;
}

template <class T>
double differenceOf(std::span<const T> one, double oneScale, std::span<const T> many, double manyScale) {
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        const double a = static_cast<double>(one[i]) * oneScale, b = static_cast<double>(many[i]) * manyScale;
        if (!std::isfinite(a) || !std::isfinite(b)) return kInfinite;
        difference = std::max(difference, std::abs(a - b));
        largest = std::max(largest, std::abs(a));
    }
    return relative(difference, largest);
}

template <class T>
double squareDistance(std::span<const T> one, std::span<const T> many) {
    double sum = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        const double difference = static_cast<double>(one[i]) - static_cast<double>(many[i]);
        sum += difference * difference;
    }
    return sum;
}

double squareDistance(const HostTensor& one, const HostTensor& many) {
    return one.type().dtype == DType::F64 ? squareDistance(one.as<double>(), many.as<double>())
                                          : squareDistance(one.as<float>(), many.as<float>());
}

double distance(const Outcome& one, const Outcome& many, const StoragePlan& storage) {
    double difference = 0, whole = 0;
    for (const StorageEntry& entry : storage.parameters) {
        const HostTensor& tensor = one.tensors.at(entry.name);
        difference += squareDistance(tensor, many.tensors.at(entry.name));
        whole += squareDistance(tensor, HostTensor(tensor.type()));
    }
    return relative(std::sqrt(difference), std::sqrt(whole));
}

TensorDifference compare(const std::string& name, const HostTensor& one, double oneScale, const HostTensor& many,
                         double manyScale) {
    TensorDifference out{name, kInfinite, 0, false};
    if (!(one.type() == many.type())) return out;
    out.sameBits = oneScale == manyScale && std::memcmp(one.data(), many.data(), one.bytes()) == 0;
    switch (one.type().dtype) {
        case DType::F32: out.value = differenceOf(one.as<float>(), oneScale, many.as<float>(), manyScale); break;
        case DType::F64: out.value = differenceOf(one.as<double>(), oneScale, many.as<double>(), manyScale); break;
        default: out.value = out.sameBits ? 0 : kInfinite;
    }
    return out;
}

SideBySide compare(const Outcome& one, const Outcome& many, const StoragePlan& storage) {
    SideBySide out;
    out.loss = many.loss;
    out.sameLoss = many.loss == one.loss;
    out.distance = distance(one, many, storage);
    for (const StorageEntry& entry : storage.parameters) {
        out.gradients.push_back(compare(entry.name, one.gradients.at(entry.name), one.scale,
                                        many.gradients.at(entry.name), many.scale));
    }
    for (const auto& [name, tensor] : one.tensors) {
        const bool isStatistic = std::ranges::find(storage.buffers, name, &StorageEntry::name) != storage.buffers.end();
        (isStatistic ? out.statistics : out.weights).push_back(compare(name, tensor, 1, many.tensors.at(name), 1));
    }
    return out;
}

// `rounding` compares one device with itself.
void allow(SideBySide& judged, const SideBySide& rounding, double relative) {
    const auto each = [=](std::vector<TensorDifference>& differences, const std::vector<TensorDifference>& own) {
        for (std::size_t i = 0; i < differences.size(); ++i)
            differences[i].allowed = std::max(relative, Tolerance::kRoundings * own[i].value);
    };
    each(judged.gradients, rounding.gradients);
    each(judged.statistics, rounding.statistics);
}

bool passes(const SideBySide& judged, const Tolerance& tolerance) {
    if (tolerance.bitwise) return judged.sameBits();
    const auto within = [](const auto& each) { return each.value <= each.allowed; };
    return std::ranges::all_of(judged.gradients, within) && std::ranges::all_of(judged.statistics, within);
}

// A device of one side, and the batches it is fed; belongs to one thread.
class Seat {
public:
    Seat(const World& world, const Side& side, int rank)
        : m_world(world), m_programs(side.plan.ranks[static_cast<std::size_t>(rank)]),
          m_partition(partitionOf(side.resolved)), m_rank(rank),
          m_device(side.resolved.backend->open(side.resolved.devices[static_cast<std::size_t>(rank)])),
          m_loader(world.request.data.train, world.sampler, side.plan.batch,
                   {.rank = rank, .partition = m_partition,
                    .threads = static_cast<int>(side.resolved.spec.loaderThreads), .slotCount = kLoaderSlots,
                    .seed = side.resolved.spec.seed,
                    .augmentation = augmentationFrom(side.resolved.augmentationParams),
                    .epochs = side.resolved.spec.epochs}) {}

    std::unique_ptr<Replica> replica(Collective& group) {
        auto replica = std::make_unique<Replica>(
            *m_device, group, std::vector{m_programs.training, m_programs.lastTraining}, nullptr);
        replica->initialize(m_world.many.resolved.spec.seed);
        return replica;
    }

    LoadedBatch load() {
        m_batch = BatchLease();                  // its slot is free before another is taken
        m_batch = m_loader.next();
        return {m_batch.data(), m_batch.count()};
    }

    // The samples of each pass the other way round.
    void reverse() {
        const BatchLayout& layout = m_loader.layout();
        for (int pass = 0; pass < m_partition.passes(); ++pass) {
            const Share share = m_partition.pass(samples(), m_rank, pass), whole = m_partition.share(samples(), m_rank);
            const auto first = static_cast<std::size_t>(share.begin - whole.begin);
            for (std::size_t i = 0, j = static_cast<std::size_t>(share.count); i + 1 < j; ++i) {
                --j;
                for (std::size_t field = 0; field < layout.fields().size(); ++field)
                    std::ranges::swap_ranges(layout.place(m_batch.data(), field, first + i),
                                             layout.place(m_batch.data(), field, first + j));
            }
        }
    }

    std::int64_t epoch() const { return m_batch.epoch(); }
    std::int64_t samples() const { return m_world.sampler.batchSize(m_batch.step()); }
    std::size_t which() const { return m_batch.step() + 1 == m_world.sampler.stepsPerEpoch() ? kLast : kNominal; }

    void update(Replica& replica, std::int64_t update) {
        const std::uint64_t seed = m_world.many.resolved.spec.seed;
        replica.run(which(), m_batch.data(), {seed, epoch(), update, m_world.schedule.at(update)});
    }

private:
    const World& m_world;
    const RankPrograms& m_programs;
    const Partition m_partition;
    const int m_rank;
    std::unique_ptr<Device> m_device;
    Loader m_loader;
    BatchLease m_batch;
};

// One device's own way through the updates: what the others are measured against.
class OneDevice {
public:
    explicit OneDevice(const World& world)
        : m_world(world), m_group(makeGroup(world.one.resolved)), m_seat(world, world.one, 0),
          m_replica(m_seat.replica(*m_group.front())) {}

    Tensors tensors() { return allTensors(*m_replica); }

    void load() { m_seat.load(); }

    // The same batch, its samples in another order; as if it had not been.
    Outcome reversedUpdate(std::int64_t update) {
        m_seat.reverse();
        Outcome outcome = run(update);
        m_seat.reverse();
        for (const auto& [name, tensor] : m_world.start) m_replica->write(name, tensor);
        return outcome;
    }

    Outcome update(std::int64_t update) {
        Outcome outcome = run(update);
        if (std::isfinite(outcome.scale)) return outcome;
        throw EngineError(EngineError::Kind::NonFinite, "one device",
                          "not a finite number in update " + std::to_string(update + 1));
    }

private:
    Outcome run(std::int64_t update) {
        m_seat.update(*m_replica, update);
        return outcomeOf(*m_replica, m_seat.which(), *m_world.one.plan.ranks.front().training->storage);
    }

    const World& m_world;
    std::vector<std::unique_ptr<Collective>> m_group;
    Seat m_seat;
    std::unique_ptr<Replica> m_replica;
};

// A rank of the side with several devices: one replica that is put back to one device's state before every update, and
// one that is not. Rank 0 has the one device, too, and compares.
class ProofRank final : public RankTask {
public:
    ProofRank(World& world, Collective& group) : m_world(world), m_group(group), m_rank(group.rank()) {}

    void run() override {
        m_seat = std::make_unique<Seat>(m_world, m_world.many, m_rank);
        m_judged = m_seat->replica(m_group);
        m_drifting = m_seat->replica(m_group);
        if (m_rank == 0) m_one = std::make_unique<OneDevice>(m_world);
        if (m_one) m_world.start = m_one->tensors();
        for (std::int64_t update = 0; update < m_world.updates; ++update) {
            m_group.barrier();                   // the start is there
            step(update);
        }
        m_group.barrier();                       // nobody reads memory of another rank any more
    }

    void close() noexcept override {
        m_judged.reset();
        m_drifting.reset();
        m_one.reset();
        m_seat.reset();
    }

private:
    void step(std::int64_t update) {
        for (const auto& [name, tensor] : m_world.start) m_judged->write(name, tensor);
        m_world.loaded[static_cast<std::size_t>(m_rank)] = m_seat->load();
        m_group.barrier();                       // all have read the start, and have their batches
        if (m_world.request.how == ProofBreak::DoubleCount && m_rank == 1)
            countTwice(m_world.many.plan.batch, m_world.loaded[0], m_world.loaded[1]);
        m_seat->update(*m_judged, update);
        m_seat->update(*m_drifting, update);
        if (m_one) conclude(update);
    }

    void conclude(std::int64_t update) {
        const std::size_t which = m_seat->which();
        const StoragePlan& storage = *m_world.many.plan.ranks.front().training->storage;
        m_one->load();
        Outcome reversed;
        if (!m_world.tolerance.bitwise) reversed = m_one->reversedUpdate(update);
        Outcome one = m_one->update(update);
        UpdateProof proof{update + 1, m_seat->epoch() + 1, m_seat->samples(), one.loss, {}, {}};
        proof.judged = compare(one, outcomeOf(*m_judged, which, storage), storage);
        if (!m_world.tolerance.bitwise)
            allow(proof.judged, compare(one, reversed, storage), m_world.tolerance.relative);
        proof.drifting = compare(one, outcomeOf(*m_drifting, which, storage), storage);
        proof.equal = passes(proof.judged, m_world.tolerance);
        if (m_world.request.onUpdate) m_world.request.onUpdate(proof);
        m_world.proven.push_back(std::move(proof));
        m_world.start = std::move(one.tensors);
    }

    World& m_world;
    Collective& m_group;
    const int m_rank;
    std::unique_ptr<Seat> m_seat;
    std::unique_ptr<OneDevice> m_one;
    std::unique_ptr<Replica> m_judged, m_drifting;
};

Side planned(ResolvedSpec resolved, const DatasetSplits& data) {
    RunPlan plan = planRun(resolved, data.train->info(), data.test->info());
    return {std::move(resolved), std::move(plan)};
}

Side oneDevice(ResolvedSpec resolved, const DatasetSplits& data) {
    resolved.devices.resize(1);
    resolved.shares.clear();
    return planned(std::move(resolved), data);
}

Side manyDevices(const ProofRequest& request, const Sampler& sampler) {
    if (!request.how) return planned(request.resolved, request.data);
    Side side = planned(brokenSpec(*request.how, request.resolved), request.data);
    if (*request.how == ProofBreak::LocalNorm && side.plan.batchNorm.empty())
        throw ProblemError({"break", "prove.no-norm", {request.resolved.spec.model.id}});
    const std::int64_t lastBatch = sampler.batchSize(sampler.stepsPerEpoch() - 1);
    side.plan = brokenPlan(*request.how, std::move(side.plan), side.resolved, lastBatch);
    return side;
}

Tolerance toleranceOf(const ResolvedSpec& resolved, const RunPlan& plan) {
    const DType dtype = plan.ranks.front().training->storage->dtype;
    return {resolved.spec.reproducible(), dtype == DType::F64 ? 1e-12 : 1e-5, dtype};
}

World worldOf(const ProofRequest& request) {
    const ResolvedSpec& resolved = request.resolved;
    const TrialSpec& spec = resolved.spec;
    const Sampler sampler(request.data.train->info().count, spec.batch, spec.seed, Sampler::Order::Shuffled);
    Side one = oneDevice(resolved, request.data), many = manyDevices(request, sampler);
    const std::int64_t updates = std::min(request.updates, one.plan.totalSteps);
    const Schedule schedule(spec.schedule.id, resolved.scheduleParams, resolved.learningRate, one.plan.totalSteps,
                            one.plan.stepsPerEpoch, resolved.warmupFrom);
    const Tolerance tolerance = toleranceOf(resolved, one.plan);
    return {request, std::move(one), std::move(many), sampler, schedule, updates, tolerance, {},
            std::vector<LoadedBatch>(resolved.devices.size()), {}};
}

// By what differences are ordered; what may not differ at all is ordered by how far it does.
std::pair<double, bool> severity(const TensorDifference& each) {
    return {each.allowed > 0 ? each.value / each.allowed : each.value, !each.sameBits};
}

std::optional<Problem> causeOf(const World& world) {
    if (std::ranges::all_of(world.proven, &UpdateProof::equal)) return std::nullopt;
    const ProofRequest& request = world.request;
    const TrialSpec& spec = request.resolved.spec;
    const std::string& norm = world.many.plan.batchNorm;
    if (request.how) return explain(*request.how, request.resolved);
    if (norm == "local") return Problem{"batch_norm", "prove.local-norm", {std::to_string(world.loaded.size())}};
    if (norm == "synchronised" && spec.accumulation > 1)
        return Problem{"accumulation", "prove.norm-of-passes", {std::to_string(spec.accumulation)}};
    return Problem{"devices", "prove.unexplained", {spec.devices}};
}

}  // namespace

const TensorDifference& worstOf(const std::vector<TensorDifference>& differences) {
    return *std::ranges::max_element(differences, {}, severity);
}

bool SideBySide::sameBits() const {
    const auto same = [](const auto& list) { return std::ranges::all_of(list, &TensorDifference::sameBits); };
    return sameLoss && same(gradients) && same(statistics) && same(weights);
}

Proof::Worst Proof::worst() const {
    Worst worst{0, {}};
    for (const UpdateProof& update : updates) {
        for (const auto* list : {&update.judged.gradients, &update.judged.statistics}) {
            if (list->empty()) continue;
            const TensorDifference& tensor = worstOf(*list);
            if (worst.update == 0 || severity(tensor) > severity(worst.tensor)) worst = {update.update, tensor};
        }
    }
    return worst;
}

Proof prove(const ProofRequest& request) {
    if (request.resolved.devices.size() < 2)
        throw ProblemError({"devices", "prove.one-device", {request.resolved.spec.devices}});
    World world = worldOf(request);
    const auto group = makeGroup(world.many.resolved);
    std::vector<std::unique_ptr<ProofRank>> ranks;
    std::vector<RankTask*> tasks;
    for (const auto& endpoint : group)
        tasks.push_back(ranks.emplace_back(std::make_unique<ProofRank>(world, *endpoint)).get());
    const AbortCause cause = runRanks(tasks, group, {.timeout = request.resolved.spec.timeout});
    if (cause.rank >= 0) rethrow(cause);
    auto why = causeOf(world);
    return {static_cast<int>(tasks.size()), world.many.plan.batchNorm, world.tolerance, std::move(world.proven),
            std::move(why)};
}

}  // namespace lockstep
