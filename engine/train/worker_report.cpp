#include <algorithm>

#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/core/utf8.h"
#include "engine/train/worker.h"

// What rank 0 says and writes on behalf of all.

namespace lockstep {

namespace {

// Of the device's kind: processors are listed once, cards one by one.
bool isOfKind(const DeviceInfo& info, const DeviceChoice& device) {
    return info.id == device.id || info.id == device.backend;
}

std::string hardwareText(const DeviceInfo& info) {
    return info.name + (info.facts.driver.empty() ? "" : ", driver " + info.facts.driver);
}

void addMachine(RunStarted& started, const ResolvedSpec& resolved) {
    started.software = "Lockstep " LOCKSTEP_VERSION;
    for (const DeviceInfo& info : resolved.backend->devices()) {
        const auto isUsed = [&](const DeviceChoice& device) { return isOfKind(info, device); };
        const std::string text = hardwareText(info);
        if (std::ranges::none_of(resolved.devices, isUsed)) continue;
        if (started.hardware.empty() && !info.facts.libraries.empty()) started.software += ", " + info.facts.libraries;
        if (std::ranges::find(started.hardware, text) == started.hardware.end()) started.hardware.push_back(text);
    }
    for (const DeviceChoice& device : resolved.devices) started.threads.push_back(device.threads);
}

}  // namespace

void EventLog::post(const TrainEvent& event) {
    const std::lock_guard lock(m_mutex);
    if (m_ended) return;
    m_ended = std::holds_alternative<RunFinished>(event) || std::holds_alternative<RunFailed>(event);
    const std::int64_t number = m_next++;
    for (EventSink* sink : m_sinks) sink->post(number, event);
}

void Worker::announce() {
    RunStarted started;
    started.trial = m_run.options.trial;
    started.attempt = m_run.options.attempt;
    started.deviceText = spec().devices;
    for (const DeviceChoice& device : m_run.resolved.devices) {
        started.devices.push_back(device.id);
        started.virtualDevices = started.virtualDevices || device.isVirtual;
    }
    started.parameters = m_run.plan.parameters;
    started.stepsPerEpoch = stepsPerEpoch();
    started.epochs = spec().epochs;
    started.firstStep = m_step;
    started.trainSamples = m_run.data.train->info().count;
    started.testSamples = m_run.data.test->info().count;
    if (m_run.data.validation) started.validationSamples = m_run.data.validation->info().count;
    started.bytesPerDevice = m_run.plan.bytesPerDevice;
    started.shares = m_run.plan.shares;
    started.batchNorm = m_run.plan.batchNorm;
    started.learningRate = m_run.resolved.learningRate;
    started.precision = spec().precision;
    started.linkBandwidth = spec().linkBandwidth;
    started.linkLatency = spec().linkLatency;
    started.task = text(m_run.resolved.model->task);
    addMachine(started, m_run.resolved);
    m_run.events.post(started);
    m_run.events.post(StateChanged{"running", m_step});
    auto& step = std::get<StepDone>(m_stepEvent);
    for (auto* each : {&step.compute, &step.reduce, &step.wait}) each->resize(m_run.times.size());
    BindingChanged about;
    about.limit = spec().loaderLimit;
    about.devices = m_group.size();
    about.cores = permittedCores();
    about.haveProcessors = !m_device->isHostMemory();
    std::int64_t computing = 0;
    for (const DeviceChoice& device : m_run.resolved.devices) computing += device.threads;
    m_bandwidths = BandwidthMeter(about, about.haveProcessors ? 0 : computing);
}

void Worker::reportStep(std::size_t which, double samples) {
    const double weight = m_replica->scalar(which, "weight");
    m_rate.add(m_trainClock.seconds() - m_trainSecondsBefore, static_cast<std::int64_t>(samples));
    auto& done = std::get<StepDone>(m_stepEvent);
    done.step = m_step;
    done.epoch = m_epoch + 1;
    done.samples = static_cast<std::int64_t>(samples);
    done.loss = weight > 0 ? m_replica->scalar(which, "loss_sum") / weight : 0;
    done.accuracy = weight > 0 ? m_replica->scalar(which, "correct1") / weight : 0;
    done.learningRate = learningRate(m_step - 1);
    done.gradientNorm = m_replica->gate(which).gradientNorm;
    done.seconds = m_runClock.seconds();
    done.samplesPerSecond = m_rate.rate();
    for (std::size_t rank = 0; rank < m_run.times.size(); ++rank) {
        const RankTimes& times = m_run.times[rank];
        done.compute[rank] = times.compute.load(std::memory_order_relaxed);
        done.reduce[rank] = times.reduce.load(std::memory_order_relaxed);
        done.wait[rank] = times.wait.load(std::memory_order_relaxed);
    }
    weighBandwidths(samples);
    m_run.events.post(m_stepEvent);
    if (const auto change = m_bandwidths.change(m_step)) m_run.events.post(*change);
    lookForStragglers();
    reportNotes();
}

void Worker::reportNotes() {
    for (Problem& note : m_run.control.takeNotes()) m_run.events.post(Message{"warning", std::move(note)});
}

void Worker::weighBandwidths(double samples) {
    auto& done = std::get<StepDone>(m_stepEvent);
    for (std::size_t rank = 0; rank < m_latestLoads.size(); ++rank) {
        const RankTimes& times = m_run.times[rank];
        m_latestLoads[rank] = {done.compute[rank], done.reduce[rank], done.wait[rank]};
        m_latestPaces[rank] = {m_latestLoads[rank],
                               times.coreWait.load(std::memory_order_relaxed),
                               times.loading.load(std::memory_order_relaxed),
                               times.loadingCore.load(std::memory_order_relaxed),
                               times.loaderThreads.load(std::memory_order_relaxed),
                               m_run.plan.shares[rank]};
    }
    m_bandwidths.add(samples, m_latestPaces);
    const Bandwidths now = m_bandwidths.now();
    done.loadingRate = now.loading, done.trainingRate = now.training;
}

void Worker::lookForStragglers() {
    m_loads.add(m_latestLoads);
    if (const auto found = m_loads.straggler(m_step)) m_run.events.post(*found);
}

EvalDone Worker::evaluation() const {
    const double spent = m_trainClock.seconds() - m_epochBegan;
    EvalDone done = evaluationEvent(m_evaluated, m_run.data.train->info().classes.size());
    done.split = chooses();
    done.step = m_step;
    done.epoch = m_epoch + 1;
    done.trainLoss = m_epochSums.meanLoss();
    done.trainAccuracy = m_epochSums.accuracy();
    done.seconds = m_runClock.seconds();
    done.samplesPerSecond = spent > 0 ? m_epochSamples / spent : 0;
    return done;
}

EvalCounts Worker::evaluationCounts() const {
    EvalCounts counts = m_evaluatedCounts;
    counts.split = chooses();
    counts.step = m_step;
    counts.epoch = m_epoch + 1;
    return counts;
}

void Worker::openWriter() {
    if (!programs().writing) return;
    m_writer.emplace(*m_replica, kWriting, *programs().writing, m_run.plan.window);
    m_prompt = spec().samplePrompt.empty() ? usualPrompt(*m_run.data.choosing()) : spec().samplePrompt;
}

// The others wait for rank 0 byte by byte, so that a long text is not taken for a device that hangs, and a device that
// hangs not for a long text.
void Worker::writeText() {
    if (m_run.plan.window.capacity() == 0) return;
    std::string text = m_prompt;
    for (double goesOn = 1; goesOn > 0; m_group.wait(m_group.broadcast(&goesOn, sizeof goesOn, 0))) {
        if (leads()) goesOn = writeByte(text) ? 1 : 0;
    }
    if (!leads()) return;
    text.erase(0, m_prompt.size());
    m_run.events.post(TextSample{m_step, m_epoch + 1, legible(m_prompt), legible(text)});
}

// False: it is at its end, or the model's logits are no numbers.
bool Worker::writeByte(std::string& text) {
    const std::size_t done = text.size() - m_prompt.size();
    if (done == static_cast<std::size_t>(spec().sampleLength) || m_run.control.stopping()) return false;
    const auto shares = byteShares(m_writer->logitsAfter(text, scalars()), spec().sampleTemperature);
    if (shares.empty()) return false;
    const CounterRng random(spec().seed, streamOf("text"), static_cast<std::uint64_t>(m_epoch), 0);
    text += static_cast<char>(byteAt(shares, random.uniform(static_cast<std::uint32_t>(done))));
    return true;
}

DatasetInfo Worker::trainedOn() const {
    DatasetInfo info = m_run.data.train->info();
    info.count = 0;
    info.inMemory = false;
    return info;
}

void Worker::writeCheckpoint(const std::string& role) {
    const std::filesystem::path& folder = m_run.options.checkpointFolder;
    if (folder.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw EngineError(EngineError::Kind::Io, folder.string(),
                          "cannot create " + folder.string() + ": " + error.message());
    const std::filesystem::path file = folder / checkpointName(role);
    lockstep::writeCheckpoint(file, *m_run.continuation.snapshot);
    m_lastCheckpoint = std::chrono::steady_clock::now();
    m_run.events.post(CheckpointWritten{m_step, m_epoch + (m_stepInEpoch > 0 ? 1 : 0), file.string(), role});
}

}  // namespace lockstep
