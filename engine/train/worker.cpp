#include "engine/train/worker.h"
#include "engine/spec/metrics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/core/error.h"
#include "engine/ops/rules.h"
#include "engine/spec/shares.h"

namespace lockstep {

namespace {

// Requests that travel through the reduced scalar "control", to which rank 0 alone contributes these; any rank may add
// kWantsCheck, so that the sum tells how many do.
enum : int { kPause = 1, kStop = 2, kStopAfterEpoch = 4, kChangeWorld = 8, kCheckpoint = 16, kWantsCheck = 64 };

bool isAverage(const std::string& tensor) { return tensor.starts_with(Replica::kAverage); }

std::vector<std::shared_ptr<const Program>> programList(const RankPrograms& programs) {
    const auto orTraining = [&](const auto& program) { return program ? program : programs.training; };
    return {programs.training, programs.lastTraining, orTraining(programs.evaluation),
            orTraining(programs.lastEvaluation), orTraining(programs.writing)};
}

}  // namespace

Worker::Worker(const RunContext& context, Collective& group)
    : m_run(context),
      m_group(group),
      m_rank(group.rank()),
      m_schedule(spec().schedule.id, context.resolved.scheduleParams, context.resolved.learningRate,
                 context.plan.totalSteps, context.plan.stepsPerEpoch, context.resolved.warmupFrom),
      m_lossScale(context.resolved.precision(), spec().batch),
      m_loads(context.plan.shares, spec().shares == kBalanced),
      m_latestLoads(context.plan.shares.size()),
      m_latestPaces(context.plan.shares.size()) {}

Worker::~Worker() = default;

void Worker::run() {
    m_coreWait.emplace();
    open();
    m_group.barrier();
    m_runClock.start();
    if (leads()) announce();
    if (spec().checkEvery > 0) checkReplicas();
    if (!m_leaves) train();
}

void Worker::interrupt() noexcept {
    const std::lock_guard lock(m_loaderMutex);
    for (const Feed* feed : {&m_trainFeed, &m_choosingFeed})
        if (feed->loader) feed->loader->stop();
}

// A loader may take forever to end, if its reader hangs: nobody must wait for the lock meanwhile.
void Worker::close() noexcept {
    if (m_replica) m_replica->endCopies();
    {
        Feed train, choosing;
        const std::lock_guard lock(m_loaderMutex);
        std::swap(train, m_trainFeed);
        std::swap(choosing, m_choosingFeed);
    }
    m_replica.reset();
    m_device.reset();
}

void Worker::open() {
    m_device = m_run.resolved.backend->open(m_run.resolved.devices[static_cast<std::size_t>(m_rank)]);
    m_replica = std::make_unique<Replica>(*m_device, m_group, programList(programs()), m_run.options.trace);
    const auto& from = m_run.options.resumeFrom;
    m_replica->initialize(spec().seed, leads() && !from ? weights() : WeightTensors());
    if (from) restore(*from);
    if (leads() && !m_run.options.checkpointFolder.empty())
        m_keeper = CheckpointKeeper(m_run.options.checkpointFolder, m_run.resolved.kept, objective(), from.has_value());
    if (m_run.options.beforeStep) {
        m_replica->beforeStep = [this](std::size_t, std::size_t programStep) {
            m_run.options.beforeStep(m_rank, m_step, programStep);
        };
    }
    if (m_run.plan.keptImages > 0) keepImages();
    openLoaders();
    openWriter();
}

WeightTensors Worker::weights() const {
    if (spec().weights.empty()) return {};
    return readWeights(m_run.resolved, m_run.data.train->info());
}

void Worker::restore(const Checkpoint& checkpoint) {
    if (checkpoint.epoch > spec().epochs || checkpoint.stepInEpoch > stepsPerEpoch())
        throw ProblemError({"checkpoint",
                            "checkpoint.beyond-end",
                            {std::to_string(checkpoint.epoch + 1), std::to_string(checkpoint.stepInEpoch + 1),
                             std::to_string(spec().epochs), std::to_string(stepsPerEpoch())}});
    // A run that did not average until now begins with its weights.
    const auto nameOf = [](const auto& each) { return each.first; };
    const bool averages = std::ranges::any_of(checkpoint.tensors, isAverage, nameOf);
    for (const std::string& name : m_replica->tensorNames()) {
        const bool begins = isAverage(name) && !averages;
        if (!begins && !checkpoint.tensors.contains(name))
            throw ProblemError({"checkpoint", "checkpoint.mismatch", {name, "there", "absent"}});
    }
    for (const auto& [name, tensor] : checkpoint.tensors) m_replica->write(name, tensor);
    if (!averages) m_replica->startAverages();
    m_step = checkpoint.step;
    m_epoch = checkpoint.epoch;
    m_stepInEpoch = checkpoint.stepInEpoch;
    m_best.accuracy = checkpoint.bestAccuracy >= 0 ? checkpoint.bestAccuracy : kNever;
    m_best.loss = checkpoint.lowestLoss.value_or(kNever);
    m_lossScale.restore(checkpoint.lossScale, checkpoint.lossScaleUpdates);
    m_epochSums = MetricSums::from(checkpoint.epochSums);
    m_trainClock = Stopwatch(checkpoint.trainSeconds);
    m_runClock = Stopwatch(checkpoint.trainSeconds);
    m_trainSecondsBefore = m_epochBegan = checkpoint.trainSeconds;
}

void Worker::train() {
    if (m_epoch >= spec().epochs) evaluate();  // a finished run, resumed: say again how good it is
    while (m_epoch < spec().epochs && goesOn()) {
        m_trainClock.start();
        trainEpoch();
        m_trainClock.stop();
        if (m_stepInEpoch == stepsPerEpoch() && !m_leaves) finishEpoch();
    }
    if (!m_leaves) finish(m_epoch < spec().epochs);
}

void Worker::trainEpoch() {
    m_stepEnded = 0;
    while (m_stepInEpoch < stepsPerEpoch() && goesOn()) trainStep();
}

void Worker::trainStep() {
    const std::int64_t asked = traceNow();
    const BatchLease batch = nextBatch(m_trainFeed);
    const double wait = static_cast<double>(traceNow() - asked) * 1e-9;
    const double between = m_stepEnded > 0 ? static_cast<double>(asked - m_stepEnded) * 1e-9 : 0;
    const std::size_t which = batch.count() == programs().training->localBatch ? kTraining : kLastTraining;
    const Replica::StepTimes times =
        m_replica->run(which, batch.data(), scalars(), control(), m_trainFeed.ahead.data());
    RankTimes& shown = m_run.times[static_cast<std::size_t>(m_rank)];
    shown.compute.store(static_cast<float>(times.compute + between), std::memory_order_relaxed);
    m_stepEnded = traceNow();
    shown.reduce.store(static_cast<float>(times.reduce), std::memory_order_relaxed);
    shown.wait.store(static_cast<float>(wait), std::memory_order_relaxed);
    notePace();

    ++m_stepInEpoch;
    if (m_replica->gate(which).skip != 0) {
        skipUpdate(which);
    } else {
        m_skipped = 0;
        m_lossScale.applied();
        const double samples = m_replica->scalar(which, "samples");
        m_epochSums.add(
            sumsOf(*m_replica, which, *(which == kTraining ? programs().training : programs().lastTraining), samples));
        m_attemptSamples += samples;
        m_epochSamples += samples;
        m_step.fetch_add(1);
        if (m_run.options.afterStep) m_run.options.afterStep(m_rank, m_step, *m_replica);
        if (leads()) reportStep(which, samples);
    }
    if (leads()) tellOfBadSamples();
    applyControl(m_replica->scalar(which, "control"));
}

StepScalars Worker::scalars() const {
    return {spec().seed, m_epoch, m_step, learningRate(m_step), m_lossScale.value()};
}

double Worker::learningRate(std::int64_t update) const {
    return m_run.options.learningRate ? m_run.options.learningRate(update) : m_schedule.at(update);
}

int Worker::request() const {
    if (!leads()) return 0;
    const RunControl& control = m_run.control;
    return (control.paused() ? kPause : 0) | (control.stopping() ? kStop : 0) |
           (control.stopsAfter(m_epoch + 1) ? kStopAfterEpoch : 0) |
           (control.changing() || m_loads.wantsBalance() ? kChangeWorld : 0) | (checkpointIsDue() ? kCheckpoint : 0);
}

bool Worker::checkpointIsDue() const {
    const double minutes = spec().checkpointMinutes;
    const std::chrono::duration<double, std::ratio<60>> since = std::chrono::steady_clock::now() - m_lastCheckpoint;
    return minutes > 0 && !m_run.options.checkpointFolder.empty() && since.count() >= minutes;
}

double Worker::control() const { return request() + (m_replica->damage().empty() ? 0 : kWantsCheck); }

void Worker::applyControl(double control) {
    const int sum = static_cast<int>(control), requests = sum % kWantsCheck;
    m_stop = m_stop || (requests & kStop);
    m_stopAfterEpoch = m_stopAfterEpoch || (requests & kStopAfterEpoch);
    if ((requests & kPause) && !m_stop) pause();
    const bool writes = (requests & kCheckpoint) && goesOn() && m_stepInEpoch < stepsPerEpoch();
    checkWhenDue(writes || sum >= kWantsCheck);
    if (writes && leads() && !m_leaves) writeCheckpoint(std::string(kLast));
    if ((requests & kChangeWorld) && goesOn()) changeWorld();
}

// Everybody waits in the broadcast for rank 0, which waits for the person.
void Worker::pause() {
    m_stepEnded = 0;
    m_trainClock.stop();
    m_runClock.stop();
    double requests = 0;
    if (leads()) {
        m_run.events.post(StateChanged{"paused", m_step});
        m_run.control.waitWhilePaused();
        requests = request() & ~(kPause | kChangeWorld | kCheckpoint);
    }
    m_group.wait(m_group.broadcast(&requests, sizeof requests, 0));
    m_runClock.start();
    m_trainClock.start();
    applyControl(requests);
    if (leads() && !m_stop) m_run.events.post(StateChanged{"running", m_step});
}

void Worker::finishEpoch() {
    evaluate();
    EvalDone done = evaluation();
    done.best = noteBest(done);
    if (leads()) tellOfBadSamples();
    if (leads()) requireAnySample();
    if (leads()) m_run.events.post(done);
    if (leads() && m_run.plan.countedClasses > 0) m_run.events.post(evaluationCounts());
    writeText();
    ++m_epoch;
    m_stepInEpoch = 0;
    m_epochSums = {};
    m_hasRead = false;
    m_epochSamples = 0;
    m_epochBegan = m_trainClock.seconds();
    m_stop = m_stop || m_stopAfterEpoch;
    if (std::isfinite(done.loss)) m_score = {std::string(objective().key), valueIn(done, objective())};
    checkReplicas();
    if (leads() && !m_leaves) writeCheckpoints(done);
    m_score.reset();
}

// An epoch's own before the last: of a run that is killed between the two, the former goes further.
void Worker::writeCheckpoints(const EvalDone& done) {
    if (m_run.options.checkpointFolder.empty()) return;
    const std::string role = m_score ? m_keeper.take(m_epoch, m_score->value, done.best) : std::string();
    if (!role.empty()) writeCheckpoint(role);
    writeCheckpoint(std::string(kLast));
    for (const Problem& problem : m_keeper.removeOthers()) m_run.events.post(Message{"warning", problem});
}

const Metric& Worker::objective() const { return *metricsFor(text(m_run.resolved.model->task), chooses()).objective; }

// The best of each metric is kept; whose is the trial's best depends on what the model learns.
bool Worker::noteBest(const EvalDone& now) {
    if (!std::isfinite(now.loss)) return false;
    bool best = false;
    for (const Metric& metric : metrics()) {
        const bool isMeasured = metric.evaluated && (metric.split == Split::Train || metric.split == now.split);
        if (!isMeasured) continue;
        const double value = now.*metric.evaluated;
        double& before = m_best.*metric.evaluated;
        if (!std::isnan(before) && !isBetter(metric, value, before)) continue;
        before = value;
        best = best || &metric == &objective();
    }
    return best;
}

void Worker::evaluate() {
    EvaluationSums sums = runEvaluation({.group = m_group,
                                         .replica = *m_replica,
                                         .full = kEvaluation,
                                         .last = kLastEvaluation,
                                         .programs = programs(),
                                         .layout = m_run.plan.batch,
                                         .steps = m_choosingSteps,
                                         .countedClasses = m_run.plan.countedClasses,
                                         .meetsEachStep = spec().reproducible(),
                                         .scalars = scalars(),
                                         .next = [this] { return nextBatch(m_choosingFeed); },
                                         .ahead = [this] { return m_choosingFeed.ahead.data(); }});
    m_evaluated = sums.metrics;
    m_evaluatedCounts = sums.answers.counts();
}

void Worker::finish(bool stopped) {
    const bool writes = stopped && m_stepInEpoch > 0;
    if (writes) checkReplicas();
    if (!leads() || m_leaves) return;
    reportNotes();
    if (stopped) m_run.events.post(StateChanged{"stopping", m_step});
    if (writes) writeCheckpoint(std::string(kLast));
    const bool tested = m_evaluated.samples > 0 && chooses() == Split::Test;
    const double spent = m_trainClock.seconds() - m_trainSecondsBefore;
    m_finished = {stopped ? "stopped" : "finished",
                  m_run.options.trial,
                  m_step,
                  m_epoch + (m_stepInEpoch > 0 ? 1 : 0),
                  tested ? m_evaluated.accuracy() : kNever,
                  tested ? m_evaluated.meanLoss() : kNever,
                  m_best.accuracy,
                  spent > 0 ? m_attemptSamples / spent : 0,
                  m_runClock.seconds(),
                  m_loads.heldUp(),
                  m_run.bad.count()};
}

}  // namespace lockstep
