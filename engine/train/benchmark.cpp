#include <algorithm>

#include "engine/core/error.h"
#include "engine/train/clocks.h"
#include "engine/train/made_batch.h"
#include "engine/train/make_group.h"
#include "engine/train/memory_need.h"
#include "engine/train/precision_remark.h"
#include "engine/train/rank_threads.h"
#include "engine/train/replica.h"
#include "engine/train/trainer.h"

namespace lockstep {

namespace {

class BenchTask final : public RankTask {
public:
    BenchTask(const BenchRequest& request, const RunPlan& plan, Collective& group, bool& goesOn)
        : m_request(request), m_plan(plan), m_group(group), m_goesOn(goesOn) {}

    void run() override {
        const auto rank = static_cast<std::size_t>(m_group.rank());
        m_device = m_request.resolved.backend->open(m_request.resolved.devices[rank]);
        const RankPrograms& programs = m_plan.ranks[rank];
        // A rank without samples has nothing to evaluate, and nobody waits for it; it only starts like the others.
        m_rests = m_request.inference && !programs.evaluation;
        const auto& program = m_request.inference && !m_rests ? programs.evaluation : programs.training;
        m_replica = std::make_unique<Replica>(*m_device, m_group, std::vector{program}, nullptr);
        m_replica->initialize(m_request.resolved.spec.seed);
        const Share share = partitionOf(m_request.resolved).share(m_request.resolved.spec.batch, m_group.rank());
        const HostTensor made = madeBatch(m_plan.batch, share, m_request.input.classes);
        m_batch = m_device->allocateStaging(made.bytes());
        std::ranges::copy(made.as<std::byte>(), m_batch.data());
        steps(0, m_request.warmup);
        m_result.compute = m_result.reduce = 0;
        m_group.barrier();
        Stopwatch watch;
        watch.start();
        std::int64_t done = 0;
        do {
            const std::int64_t more = std::max(done, m_request.steps);
            steps(m_request.warmup + done, more);
            done += more;
        } while (goesOn(watch));
        m_result.seconds = watch.seconds();
        m_result.loss = m_loss;
        m_result.steps = done;
        m_result.compute /= static_cast<double>(done);
        m_result.reduce /= static_cast<double>(done);
        m_result.carried = carriedPerStep();
        m_result.samplesPerSecond = static_cast<double>(done * m_request.resolved.spec.batch) / m_result.seconds;
    }

    void close() noexcept override {
        m_replica.reset();
        m_batch = {};
        m_device.reset();
    }

    const BenchResult& result() const { return m_result; }

private:
    void steps(std::int64_t first, std::int64_t count) {
        if (m_rests) return;
        const TrialSpec& spec = m_request.resolved.spec;
        for (std::int64_t step = first; step < first + count; ++step) {
            if (m_request.stop.stop_requested()) throw ProblemError({"bench", kBenchStopped, {}});
            const auto times =
                m_replica->run(0, m_batch.data(), {spec.seed, 0, step, spec.learningRate}, 0, m_batch.data());
            m_result.compute += times.compute;
            m_result.reduce += times.reduce;
            const double weight = m_replica->scalar(0, "weight");
            m_loss = weight > 0 ? m_replica->scalar(0, "loss_sum") / weight : 0;
            if (step == 0) m_result.firstLoss = m_loss;
        }
    }

    // Rank 0's clock decides for all of them.
    bool goesOn(const Stopwatch& watch) {
        m_group.barrier();
        if (m_request.seconds <= 0) return false;
        if (m_group.rank() == 0) m_goesOn = watch.seconds() < m_request.seconds / 2;
        m_group.barrier();
        return m_goesOn;
    }

    double carriedPerStep() const {
        if (m_request.inference) return 0;
        const TrialSpec& spec = m_request.resolved.spec;
        double seconds = 0;
        for (const Step& step : m_plan.ranks.front().training->steps) {
            if (step.kind != Step::Kind::AllReduce) continue;
            seconds += allReduceSeconds(linkModel(spec), m_group.size(), step.count * sizeOf(step.dtype));
        }
        return seconds;
    }

    const BenchRequest& m_request;
    const RunPlan& m_plan;
    Collective& m_group;
    bool& m_goesOn;  // shared by the ranks, between barriers
    std::unique_ptr<Device> m_device;
    std::unique_ptr<Replica> m_replica;
    Buffer m_batch;
    double m_loss = 0;
    bool m_rests = false;
    BenchResult m_result;
};

}  // namespace

BenchResult benchmark(const BenchRequest& request) {
    const ResolvedSpec& resolved = request.resolved;
    // One batch: every step is full.
    const DatasetInfo info = infoOf(resolved.model->task, request.input, resolved.spec.batch);
    const RunPlan plan = planRun(resolved, info, info, AlgorithmChoice::Timed);
    if (auto problem = shortOfMemory(resolved, plan, info, info)) throw ProblemError(std::move(*problem));
    const auto group = makeGroup(resolved);
    std::vector<std::unique_ptr<BenchTask>> ranks;
    std::vector<RankTask*> tasks;
    bool goesOn = false;
    for (const auto& endpoint : group) {
        tasks.push_back(ranks.emplace_back(std::make_unique<BenchTask>(request, plan, *endpoint, goesOn)).get());
    }
    const AbortCause cause = runRanks(tasks, group);
    if (cause.rank >= 0) rethrow(cause);
    BenchResult result = ranks.front()->result();
    result.deviceBytes = plan.bytesPerDevice;
    const RankPrograms& programs = plan.ranks.front();
    result.ofPrecision = precisionRemark(resolved, request.inference ? *programs.evaluation : *programs.training);
    ModelInput whole = request.input;
    whole.batch = resolved.spec.batch;
    const auto forward = buildForward(*resolved.model, resolved.modelParams, whole, !request.inference);
    if (forward.ok()) result.flops = (request.inference ? 1 : 3) * forwardFlops(forward.value());
    return result;
}

}  // namespace lockstep
