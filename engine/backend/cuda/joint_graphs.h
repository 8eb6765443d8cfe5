#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/backend/cuda/cuda_stream.h"
#include "engine/collective/collective.h"

namespace lockstep::cuda {

// A rank's side of the graphs that all ranks of one card record together, see Collective::together(): the first rank
// captures and launches, the others' streams join. Ranks meet through `host`, a group of them on the host; `capturing`
// is shared by them: one at a time puts work on a stream that is captured, since all of it goes into one graph. Used by
// the rank's thread, which has opened the card.
class JointGraphs {
public:
    JointGraphs(Collective& host, cudaStream_t compute, std::shared_ptr<std::mutex> capturing)
        : m_host(host), m_compute(compute), m_capturing(std::move(capturing)) {}
    ~JointGraphs();
    JointGraphs(const JointGraphs&) = delete;
    JointGraphs& operator=(const JointGraphs&) = delete;

    bool agree(std::uint64_t work);
    // Behind what all ranks have put on their streams before; what they put there next is behind it.
    void together(const std::function<void()>& work);
    // Waits for the host's operation; whoever does so while work is captured lets the others have their turn.
    void meet(Ticket host);

private:
    bool leads() const { return m_host.rank() == 0; }
    cudaGraphExec_t capture(const std::function<void()>& work);
    void putTogether(const std::function<void()>& work);
    std::vector<cudaEvent_t> eventsOfAll(cudaEvent_t own);
    cudaEvent_t leadersEvent(cudaEvent_t own);

    Collective& m_host;
    cudaStream_t m_compute;
    std::shared_ptr<std::mutex> m_capturing;
    std::unique_lock<std::mutex> m_turn;                             // owned while this rank's work is captured
    std::vector<std::uint64_t> m_agreed;                             // by rank
    std::map<std::vector<std::uint64_t>, cudaGraphExec_t> m_graphs;  // by what was agreed; null but for the first rank
    CudaEvent m_forked, m_joined;
};

}  // namespace lockstep::cuda
