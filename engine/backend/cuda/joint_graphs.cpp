#include "engine/backend/cuda/joint_graphs.h"

#include <algorithm>

#include "engine/backend/cuda/cuda_recording.h"

namespace lockstep::cuda {

JointGraphs::~JointGraphs() {
    for (const auto& [work, graph] : m_graphs)
        if (graph) cudaGraphExecDestroy(graph);
}

void JointGraphs::meet(Ticket host) {
    if (!m_turn.owns_lock()) return m_host.wait(host);
    m_turn.unlock();
    try {
        m_host.wait(host);
    } catch (...) {
        m_turn.lock();
        throw;
    }
    m_turn.lock();
}

bool JointGraphs::agree(std::uint64_t work) {
    m_agreed.resize(static_cast<std::size_t>(m_host.size()));
    m_host.wait(m_host.allGather(&work, m_agreed.data(), sizeof work));
    return std::ranges::find(m_agreed, 0u) == m_agreed.end();
}

void JointGraphs::together(const std::function<void()>& work) {
    auto known = m_graphs.find(m_agreed);
    if (known == m_graphs.end()) known = m_graphs.emplace(m_agreed, capture(work)).first;
    check(cudaEventRecord(m_forked.get(), m_compute), "a step together");
    const std::vector<cudaEvent_t> ready = eventsOfAll(m_forked.get());
    if (leads()) {
        for (const cudaEvent_t each : ready) check(cudaStreamWaitEvent(m_compute, each), "a step together");
        check(cudaGraphLaunch(known->second, m_compute), "launching a graph");
        check(cudaEventRecord(m_joined.get(), m_compute), "a step together");
    }
    const cudaEvent_t done = leadersEvent(m_joined.get());
    if (!leads()) check(cudaStreamWaitEvent(m_compute, done), "a step together");
}

// The first rank's stream is captured; the others' join it by waiting for its event, and are joined to it again by
// theirs.
cudaGraphExec_t JointGraphs::capture(const std::function<void()>& work) {
    cudaGraphExec_t executable = nullptr;
    m_turn = std::unique_lock(*m_capturing);
    try {
        if (!leads()) {
            putTogether(work);
        } else {
            const cudaGraph_t graph = captured(m_compute, [&] { putTogether(work); });
            const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
            cudaGraphDestroy(graph);
            check(status, "instantiating a graph");
        }
    } catch (...) {
        m_turn = {};
        throw;
    }
    m_turn = {};
    m_host.barrier();  // no stream is captured any more
    return executable;
}

void JointGraphs::putTogether(const std::function<void()>& work) {
    if (leads()) check(cudaEventRecord(m_forked.get(), m_compute), "recording a graph");
    const cudaEvent_t begin = leadersEvent(m_forked.get());
    if (!leads()) check(cudaStreamWaitEvent(m_compute, begin), "recording a graph");
    work();
    if (!leads()) check(cudaEventRecord(m_joined.get(), m_compute), "recording a graph");
    const std::vector<cudaEvent_t> ends = eventsOfAll(leads() ? nullptr : m_joined.get());
    if (!leads()) return;
    for (const cudaEvent_t end : ends)
        if (end) check(cudaStreamWaitEvent(m_compute, end), "recording a graph");
}

std::vector<cudaEvent_t> JointGraphs::eventsOfAll(cudaEvent_t own) {
    std::vector<cudaEvent_t> events(static_cast<std::size_t>(m_host.size()));
    meet(m_host.allGather(&own, events.data(), sizeof own));
    return events;
}

cudaEvent_t JointGraphs::leadersEvent(cudaEvent_t own) {
    meet(m_host.broadcast(&own, sizeof own, 0));
    return own;
}

}  // namespace lockstep::cuda
