#include "engine/train/evaluate.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/train/clocks.h"
#include "engine/train/data_wait.h"
#include "engine/train/loader_slots.h"
#include "engine/train/make_group.h"
#include "engine/train/model_on_device.h"
#include "engine/train/precision_remark.h"
#include "engine/train/rank_threads.h"

namespace lockstep {

namespace {

class EvaluateTask final : public RankTask {
public:
    EvaluateTask(const EvaluateRequest& request, const RunPlan& plan, Collective& group, BadSamples& bad)
        : m_request(request),
          m_plan(plan),
          m_group(group),
          m_bad(bad),
          m_rank(static_cast<std::size_t>(group.rank())),
          m_order(request.data->info().count, std::min(spec().batch, request.data->info().count), spec().seed,
                  Sampler::Order::Sequential) {}

    void run() override {
        open();
        m_group.barrier();
        Stopwatch watch;
        watch.start();
        EvaluationSums sums = runEvaluation(loop());
        m_result.seconds = watch.seconds();
        m_result.metrics = sums.metrics;
        m_result.counts = sums.answers.counts();
        if (m_rank == 0) m_result.answers = answersIn(sums.samples);
    }

    void interrupt() noexcept override {
        const std::lock_guard lock(m_mutex);
        if (m_loader) m_loader->stop();
    }

    // A loader may take forever to end, if its reader hangs: nobody must wait for the lock meanwhile.
    void close() noexcept override {
        if (m_replica) m_replica->endCopies();
        m_ahead = {};
        {
            std::unique_ptr<Loader> loader;
            const std::lock_guard lock(m_mutex);
            std::swap(loader, m_loader);
        }
        m_replica.reset();
        m_device.reset();
    }

    std::optional<std::uint64_t> awaitedData() const noexcept override { return m_dataWait.awaited(); }

    EvaluateResult& result() { return m_result; }

private:
    const TrialSpec& spec() const { return m_request.resolved.spec; }
    const RankPrograms& programs() const { return m_plan.ranks[m_rank]; }

    void open() {
        m_device = m_request.resolved.backend->open(m_request.resolved.devices[m_rank]);
        // A rank without samples runs nothing; its replica must have a program all the same.
        const auto orTraining = [&](const auto& program) { return program ? program : programs().training; };
        m_replica = std::make_unique<Replica>(
            *m_device, m_group, std::vector{orTraining(programs().evaluation), orTraining(programs().lastEvaluation)},
            nullptr);
        m_replica->initialize(spec().seed);
        restoreForEvaluation(*m_replica, *programs().training->storage, m_request.checkpoint);
        openLoader();
    }

    void openLoader() {
        LoaderOptions options{.rank = m_group.rank(),
                              .partition = partitionOf(m_request.resolved),
                              .threads = static_cast<int>(spec().loaderThreads),
                              .mostThreads = mostLoaderThreads(m_group.size()),
                              .seed = spec().seed,
                              .augmentation = {}};
        if (spec().onBadSample == "skip") options.bad = &m_bad;
        placeSlots(options, *m_device);
        auto loader = std::make_unique<Loader>(m_request.data, m_order, m_plan.batch, std::move(options));
        const std::lock_guard lock(m_mutex);
        m_loader = std::move(loader);
    }

    EvaluationLoop loop() {
        const std::int64_t total = m_request.data->info().count;
        EvaluationLoop loop{.group = m_group,
                            .replica = *m_replica,
                            .full = 0,
                            .last = 1,
                            .programs = programs(),
                            .layout = m_plan.batch,
                            .steps = m_order.stepsPerEpoch(),
                            .countedClasses = m_plan.countedClasses,
                            .keptSamples = m_request.keepsAnswers ? total : 0,
                            .meetsEachStep = spec().reproducible(),
                            .scalars = {spec().seed},
                            .next = [this] { return nextBatch(); },
                            .ahead = [this] { return m_ahead.data(); }};
        if (m_rank == 0 && m_request.progress) {
            loop.onStep = [this, total](std::int64_t steps) {
                m_request.progress(std::min(total, steps * m_order.globalBatch()), total);
            };
        }
        return loop;
    }

    BatchLease nextBatch() {
        BatchLease batch = m_dataWait.during([this] { return m_ahead ? std::move(m_ahead) : m_loader->next(); });
        if (batch && !m_device->isHostMemory()) m_ahead = m_loader->tryNext();
        if (batch) return batch;
        m_group.progress();  // throws if the loader was stopped because a rank failed
        throw EngineError(EngineError::Kind::Internal, "loader", "the batches ended before the evaluation did");
    }

    const EvaluateRequest& m_request;
    const RunPlan& m_plan;
    Collective& m_group;
    BadSamples& m_bad;  // shared by the ranks
    std::size_t m_rank;
    Sampler m_order;
    std::unique_ptr<Device> m_device;
    std::unique_ptr<Replica> m_replica;
    std::mutex m_mutex;  // guards the pointer against interrupt()
    std::unique_ptr<Loader> m_loader;
    BatchLease m_ahead;
    DataWait m_dataWait;
    EvaluateResult m_result;
};

// The nominal training program decides how parameters are stored, so it is compiled, too; its data are as many samples
// as it takes.
RunPlan planFor(const EvaluateRequest& request) {
    DatasetInfo train = request.trained;
    train.count = request.resolved.spec.batch;
    train.inMemory = false;  // no device keeps images for an evaluation
    train.isCut = request.data->info().isCut;
    return planRun(request.resolved, train, request.data->info(), AlgorithmChoice::Timed);
}

}  // namespace

EvaluateResult evaluate(const EvaluateRequest& request) {
    const RunPlan plan = planFor(request);
    const auto group = makeGroup(request.resolved);
    std::vector<std::unique_ptr<EvaluateTask>> ranks;
    std::vector<RankTask*> tasks;
    BadSamples bad;
    for (const auto& endpoint : group)
        tasks.push_back(ranks.emplace_back(std::make_unique<EvaluateTask>(request, plan, *endpoint, bad)).get());
    const AbortCause cause =
        runRanks(tasks, group, Watch{.timeout = request.resolved.spec.timeout, .onStuck = request.onStuck});
    if (cause.rank >= 0) rethrow(cause);
    EvaluateResult result = std::move(ranks.front()->result());
    for (BadSamples::Found& each : bad.take()) result.unreadable.push_back(std::move(each.reason));
    std::ranges::sort(result.unreadable, {}, &Problem::field);
    result.remarks = request.data->takeRemarks();
    result.ofPrecision = precisionRemark(request.resolved, *plan.ranks.front().evaluation);
    if (result.metrics.weight == 0 && !result.unreadable.empty()) throw ProblemError(result.unreadable.front());
    return result;
}

TrialSpec specToEvaluate(TrialSpec spec, const std::string& devices) {
    if (devices.empty()) return spec;
    spec.devices = devices;
    spec.mode = "fast";
    spec.shares = "";
    spec.accumulation = 1;
    spec.linkBandwidth = spec.linkLatency = 0;
    return spec;
}

Result<ResolvedSpec> resolveToEvaluate(const TrialSpec& trained, const AskedOn& on, const Environment& environment) {
    TrialSpec spec = specToEvaluate(trained, on.devices);
    if (on.precision) spec.precision = *on.precision;
    auto resolved = resolve(spec, environment);
    if (resolved.ok()) return resolved;
    bool changed = false;
    for (const Problem& each : resolved.problems()) {
        if (each.code == "spec.no-such-precision" && !on.precision) spec.precision = text(Precision::Fp32);
        else if (each.code == "spec.batch-too-small") spec.batch = std::stoll(each.args[1]);
        else continue;
        changed = true;
    }
    return changed ? resolve(spec, environment) : resolved;
}

std::optional<Problem> otherPrecision(const TrialSpec& trained, const ResolvedSpec& resolved) {
    const TrialSpec& now = resolved.spec;
    if (trained.precision == now.precision) return std::nullopt;
    return Problem{"--devices", "evaluate.other-precision", {now.precision, trained.precision, now.devices}};
}

}  // namespace lockstep
