#include "engine/train/prove.h"

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/data/loader.h"
#include "engine/train/make_group.h"
#include "engine/train/prove_compare.h"
#include "engine/train/rank_threads.h"
#include "engine/train/replica.h"

namespace lockstep {

namespace {

enum : std::size_t { kNominal, kLast };

constexpr int kLoaderSlots = 2;

// One side of the proof: the spec on so many devices.
struct Side {
    ResolvedSpec resolved;
    RunPlan plan;
};

// What both sides have to themselves; all but `start` and `loaded` is read-only once there are ranks.
struct World {
    const ProofRequest& request;
    Side one, many;
    std::optional<Side> fp32;  // one device once more, where products are rounded to less
    Sampler sampler;
    Schedule schedule;
    std::int64_t updates = 0;
    Tolerance tolerance;
    Tensors start;                    // of one device, before the update; rank 0 writes it between barriers
    std::vector<LoadedBatch> loaded;  // by rank
    std::vector<UpdateProof> proven;  // rank 0's
};

// A device of one side, and the batches it is fed; belongs to one thread.
class Seat {
public:
    Seat(const World& world, const Side& side, int rank)
        : m_world(world),
          m_programs(side.plan.ranks[static_cast<std::size_t>(rank)]),
          m_partition(partitionOf(side.resolved)),
          m_rank(rank),
          m_device(side.resolved.backend->open(side.resolved.devices[static_cast<std::size_t>(rank)])),
          m_loader(world.request.data.train, world.sampler, side.plan.batch,
                   {.rank = rank,
                    .partition = m_partition,
                    .threads = std::max(1, static_cast<int>(side.resolved.spec.loaderThreads)),
                    .slotCount = kLoaderSlots,
                    .seed = side.resolved.spec.seed,
                    .augmentation = augmentationFrom(side.resolved.augmentationParams),
                    .epochs = side.resolved.spec.epochs}) {}

    std::unique_ptr<Replica> replica(Collective& group) {
        auto replica = std::make_unique<Replica>(*m_device, group,
                                                 std::vector{m_programs.training, m_programs.lastTraining}, nullptr);
        replica->initialize(m_world.many.resolved.spec.seed);
        return replica;
    }

    LoadedBatch load() {
        m_batch = BatchLease();  // its slot is free before another is taken
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
    OneDevice(const World& world, const Side& side)
        : m_side(side),
          m_group(makeGroup(side.resolved)),
          m_seat(world, side, 0),
          m_replica(m_seat.replica(*m_group.front())) {}

    Tensors tensors() { return readAll(*m_replica); }

    void load() { m_seat.load(); }

    void reverse() { m_seat.reverse(); }
    void restore(const Tensors& tensors) { writeAll(*m_replica, tensors); }

    Outcome update(std::int64_t update) {
        m_seat.update(*m_replica, update);
        Outcome outcome = outcomeOf(*m_replica, m_seat.which(), *m_side.plan.ranks.front().training->storage);
        if (std::isfinite(outcome.scale)) return outcome;
        throw EngineError(EngineError::Kind::NonFinite, "one device",
                          "not a finite number in update " + std::to_string(update + 1));
    }

private:
    const Side& m_side;
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
        if (m_rank == 0) m_one = std::make_unique<OneDevice>(m_world, m_world.one);
        if (m_rank == 0 && m_world.fp32) m_fp32 = std::make_unique<OneDevice>(m_world, *m_world.fp32);
        if (m_one) m_world.start = m_one->tensors();
        for (std::int64_t update = 0; update < m_world.updates; ++update) {
            m_group.barrier();  // the start is there
            step(update);
        }
        m_group.barrier();  // nobody reads memory of another rank any more
    }

    void close() noexcept override {
        m_judged.reset();
        m_drifting.reset();
        m_one.reset();
        m_fp32.reset();
        m_seat.reset();
    }

private:
    void step(std::int64_t update) {
        writeAll(*m_judged, m_world.start);
        m_world.loaded[static_cast<std::size_t>(m_rank)] = m_seat->load();
        if (m_one) m_one->load();
        if (m_fp32) m_fp32->load();
        m_group.barrier();  // all have their batches
        if (m_world.request.how == ProofBreak::DoubleCount && m_rank == 1)
            countTwice(m_world.many.plan.batch, m_world.loaded[0], m_world.loaded[1]);
        m_seat->update(*m_drifting, update);
        m_seat->update(*m_judged, update);
        for (int tries = 1; !settled(update, tries); ++tries) {
            writeAll(*m_judged, m_world.start);
            m_seat->update(*m_judged, update);
        }
        if (m_one) conclude(update);
    }

    // As rank 0 finds. If not, the start is another one.
    bool settled(std::int64_t update, int tries) {
        double found = 0;
        if (m_one) {
            if (tries > 1) m_one->restore(m_world.start);
            Outcome one = m_one->update(update);
            weigh(one, update);
            found = m_verdict.equal || m_world.tolerance.bitwise || tries == Tolerance::kTries;
            if (found == 0) nudge(m_world.start, storage(), tries);
            if (tries == 1) m_outcome = std::move(one);
            m_tries = tries;
        }
        m_group.wait(m_group.broadcast(&found, sizeof found, 0));
        return found != 0;
    }

    void weigh(const Outcome& one, std::int64_t update) {
        const Outcome many = outcomeOf(*m_judged, m_seat->which(), storage());
        m_verdict = judge(one, many, {}, storage(), m_world.tolerance);
        if (m_verdict.equal || m_world.tolerance.bitwise) return;
        m_one->restore(m_world.start);
        m_one->reverse();
        std::vector<SideBySide> own{compare(one, m_one->update(update), storage())};
        m_one->reverse();
        m_one->restore(one.tensors);
        if (m_fp32) {
            m_fp32->restore(m_world.start);
            own.push_back(compare(one, m_fp32->update(update), storage()));
        }
        m_verdict = judge(one, many, own, storage(), m_world.tolerance);
    }

    void conclude(std::int64_t update) {
        if (m_tries > 1) m_one->restore(m_outcome.tensors);
        UpdateProof proof{update + 1, m_seat->epoch() + 1, m_seat->samples(),
                          m_tries,    m_outcome.loss,      std::move(m_verdict.judged),
                          {},         m_verdict.equal};
        proof.drifting = compare(m_outcome, outcomeOf(*m_drifting, m_seat->which(), storage()), storage());
        if (m_world.request.onUpdate) m_world.request.onUpdate(proof);
        m_world.proven.push_back(std::move(proof));
        m_world.start = std::move(m_outcome.tensors);
    }

    const StoragePlan& storage() const { return *m_world.many.plan.ranks.front().training->storage; }

    World& m_world;
    Collective& m_group;
    const int m_rank;
    std::unique_ptr<Seat> m_seat;
    std::unique_ptr<OneDevice> m_one, m_fp32;
    std::unique_ptr<Replica> m_judged, m_drifting;
    Outcome m_outcome;  // rank 0's: of one device, from its own weights
    Verdict m_verdict;  // from those of the latest try
    int m_tries = 0;
};

// In less than f32 algorithms round differently.
Side planned(ResolvedSpec resolved, const DatasetSplits& data) {
    const bool mayDiffer = resolved.precision() != Precision::Fp32;
    DatasetInfo train = data.train->info();
    train.inMemory = false;  // a few batches: devices need not keep all images
    RunPlan plan = planRun(resolved, train, data.choosing()->info(),
                           mayDiffer ? AlgorithmChoice::ForAnyBatch : AlgorithmChoice::AsTimed);
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
    return {resolved.spec.reproducible(), dtype == DType::F64 ? 1e-12 : 1e-5, dtype, resolved.precision()};
}

std::optional<Side> inFp32(ResolvedSpec resolved, const DatasetSplits& data) {
    resolved.spec.precision = text(Precision::Fp32);
    return oneDevice(std::move(resolved), data);
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
    return {request,
            std::move(one),
            std::move(many),
            tolerance.roundsProducts() ? inFp32(resolved, request.data) : std::nullopt,
            sampler,
            schedule,
            updates,
            tolerance,
            {},
            std::vector<LoadedBatch>(resolved.devices.size()),
            {}};
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
