#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/core/error.h"
#include "engine/train/prepared_steps.h"

namespace lockstep {

namespace {

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

}  // namespace

Replica::StepTimes Replica::run(std::size_t which, std::byte* batch, const StepScalars& scalars, double control,
                                const std::byte* next) {
    try {
        return runSteps(which, batch, scalars, control, next);
    } catch (...) {
        endCopies();
        throw;
    }
}

// Where the device has failed nothing is read any more.
void Replica::endCopies() noexcept {
    try {
        m_device.stream(Lane::Copy).synchronize();
    } catch (const EngineError&) {
    }
}

Replica::StepTimes Replica::runSteps(std::size_t which, std::byte* batch, const StepScalars& scalars, double control,
                                     const std::byte* next) {
    Prepared& prepared = *m_programs[which];
    beginStep(prepared, batch, control);
    m_device.beginStep(scalars);
    const bool together = agree(prepared);
    const bool hasConstants = std::exchange(m_constantsOf, nullptr) == &prepared;
    auto segment = prepared.segments.begin();
    for (std::size_t i = 0; i < prepared.steps.size();) {
        if (hasConstants && prepared.steps[i].step->constant) {
            ++i;
            continue;
        }
        while (segment != prepared.segments.end() && segment->begin < i) ++segment;
        if (segment != prepared.segments.end() && segment->begin == i && replays(prepared, *segment, together)) {
            replay(prepared, *segment, scalars);
            i = segment->end;
            continue;
        }
        if (beforeStep) beforeStep(which, i);
        runStep(prepared, i++, batch, scalars);
    }
    prepared.hasRun = true;
    if (prepared.program->kind == Program::Kind::Evaluation) m_constantsOf = &prepared;
    if (next) sendAhead(prepared, next);
    for (PreparedStep& step : prepared.steps) finishReduce(step, scalars.step);
    fetchScalars();
    m_times.compute += seconds(traceNow() - m_mark);
    return m_times;
}

void Replica::beginStep(Prepared& prepared, std::byte* batch, double control) {
    m_times = {};
    m_mark = traceNow();
    m_isSent = std::exchange(m_sent, nullptr) == batch;
    for (const auto& each : prepared.batchPointers) *each.pointer = batch + each.offset;
    if (!prepared.hasControl) return;
    std::byte* const at = arena(Arena::Scalars) + prepared.controlOffset;
    m_device.stream(Lane::Compute).copyToDevice(at, reinterpret_cast<const std::byte*>(&control), sizeof control);
}

void Replica::runStep(Prepared& prepared, std::size_t index, std::byte* batch, const StepScalars& scalars) {
    PreparedStep& step = prepared.steps[index];
    awaitSteps(prepared, step.step->after, *step.stream, scalars.step);
    if (step.step->kind == Step::Kind::AllReduce) return startReduce(step);
    if (step.kernel) {
        step.kernel->run({step.inputs, step.outputs, step.workspace, &scalars, step.stream});
    } else if (!m_device.isHostMemory()) {
        const Slot& to = step.step->outputs.front();
        if (m_isSent) step.stream->copyOnDevice(step.outputs.front(), m_incoming.data() + to.offset, to.bytes);
        else step.stream->copyToDevice(step.outputs.front(), batch + to.offset, to.bytes);
    }
    if (step.records) step.event = step.stream->record();

    finishStep(step.name, scalars.step);
}

// Behind the copies of this step, which read what was sent before.
void Replica::sendAhead(const Prepared& prepared, const std::byte* next) {
    if (m_device.isHostMemory()) return;
    const std::size_t bytes = prepared.program->arenaBytes[static_cast<std::size_t>(Arena::Io)];
    m_device.stream(Lane::Copy).copyToDevice(m_incoming.data(), next, bytes);
    m_sent = next;
}

// Steps of other lanes, or all-reduces.
void Replica::awaitSteps(Prepared& prepared, const std::vector<int>& steps, Stream& stream, std::int64_t number) {
    for (const int other : steps) {
        PreparedStep& earlier = prepared.steps[static_cast<std::size_t>(other)];
        finishReduce(earlier, number);
        if (earlier.event) stream.wait(earlier.event);
    }
}

void Replica::finishStep(std::uint32_t name, std::int64_t number) {
    const std::int64_t end = traceNow();
    if (m_computeLane) m_computeLane->add({name, number, m_mark, end});
    m_times.compute += seconds(end - m_mark);
    m_mark = end;
    if (m_reducing == 0) return;
    m_group.progress();
    m_mark = traceNow();
    m_times.reduce += seconds(m_mark - end);
}

// Ranks that record together do so where each has all its all-reduces in one segment.
bool Replica::agree(const Prepared& prepared) {
    if (!prepared.reduces || m_group.recorded() != Recorded::Together) return false;
    const auto reduces = [](const Segment& segment) { return segment.reductions > 0; };
    const bool isReady = prepared.hasRun && !beforeStep && std::ranges::count_if(prepared.segments, reduces) == 1;
    return m_group.agree(isReady ? std::ranges::find_if(prepared.segments, reduces)->number : 0);
}

bool Replica::replays(const Prepared& prepared, const Segment& segment, bool together) const {
    if (!prepared.hasRun || beforeStep) return false;
    return together || segment.reductions == 0 || m_group.recorded() != Recorded::Together;
}

void Replica::replay(Prepared& prepared, Segment& segment, const StepScalars& scalars) {
    Stream& stream = m_device.stream(Lane::Compute);
    awaitSteps(prepared, segment.after, stream, scalars.step);
    const auto work = [&] { record(prepared, segment, scalars); };
    if (segment.reductions > 0 && m_group.recorded() == Recorded::Together) {
        m_group.together(work);
    } else {
        if (segment.recording) m_group.replays(segment.reductions);
        else segment.recording = m_device.record(work);
        segment.recording->replay();
    }
    for (const std::size_t step : segment.awaited) prepared.steps[step].event = stream.record();
    finishStep(segment.name, scalars.step);
}

// All that all-reduces do is behind the recorded kernels when it ends.
void Replica::record(Prepared& prepared, const Segment& segment, const StepScalars& scalars) {
    const auto steps = std::span(prepared.steps).subspan(segment.begin, segment.end - segment.begin);
    for (PreparedStep& step : steps) {
        for (const int other : step.step->after) joinReduce(prepared.steps[static_cast<std::size_t>(other)]);
        if (step.kernel) {
            step.kernel->run({step.inputs, step.outputs, step.workspace, &scalars, step.stream});
        } else {
            step.ticket = m_group.allReduce(step.outputs.front(), step.step->count, step.step->dtype);
            step.reducing = true;
        }
    }
    for (PreparedStep& step : steps) joinReduce(step);
}

void Replica::joinReduce(PreparedStep& step) {
    if (std::exchange(step.reducing, false)) m_group.wait(step.ticket);
}

void Replica::startReduce(PreparedStep& step) {
    step.started = m_mark;
    step.ticket = m_group.allReduce(step.outputs.front(), step.step->count, step.step->dtype);
    step.reducing = true;
    ++m_reducing;
    m_group.progress();
    const std::int64_t end = traceNow();
    m_times.reduce += seconds(end - m_mark);
    m_mark = end;
}

void Replica::finishReduce(PreparedStep& step, std::int64_t number) {
    if (!step.reducing) return;
    m_group.wait(step.ticket);
    step.reducing = false;
    --m_reducing;
    const std::int64_t end = traceNow();
    if (m_reduceLane) m_reduceLane->add({step.name, number, step.started, end});
    if (m_computeLane) m_computeLane->add({step.waitName, number, m_mark, end});
    m_times.reduce += seconds(end - m_mark);
    m_mark = end;
}

void Replica::fetchScalars() {
    Stream& stream = m_device.stream(Lane::Compute);
    stream.copyToHost(m_hostScalars.data(), arena(Arena::Scalars), m_hostScalars.bytes());
    stream.synchronize();
}

double Replica::scalar(std::size_t which, std::string_view name) const {
    double value = 0;
    std::memcpy(&value, m_hostScalars.data() + m_programs[which]->program->scalars.offsetOf(name), sizeof value);
    return value;
}

UpdateGate Replica::gate(std::size_t which) const {
    UpdateGate gate;
    std::memcpy(&gate, m_hostScalars.data() + m_programs[which]->program->scalars.gateOffset, sizeof gate);
    return gate;
}

}  // namespace lockstep
