#pragma once
#include <functional>

#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/device.h"

namespace lockstep::cuda {

// The CUDA graph of what `work` puts on the stream, and on others that are joined to it; the caller's. Other ranks'
// threads may allocate meanwhile.
inline cudaGraph_t captured(cudaStream_t stream, const std::function<void()>& work) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
    cudaGraph_t graph = nullptr;
    try {
        work();
    } catch (...) {
        cudaStreamEndCapture(stream, &graph);
        if (graph) cudaGraphDestroy(graph);
        throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "recording a graph");
    return graph;
}

// Work as a graph. Kernels' arguments are those of the recording.
class CudaRecording final : public Recording {
public:
    CudaRecording(cudaStream_t stream, const std::function<void()>& work) : m_stream(stream) {
        const cudaGraph_t graph = captured(stream, work);
        const cudaError_t status = cudaGraphInstantiate(&m_executable, graph, 0);
        cudaGraphDestroy(graph);
        check(status, "instantiating a graph");
    }
    ~CudaRecording() override { cudaGraphExecDestroy(m_executable); }
    CudaRecording(const CudaRecording&) = delete;
    CudaRecording& operator=(const CudaRecording&) = delete;

    void replay() override { check(cudaGraphLaunch(m_executable, m_stream), "launching a graph"); }

private:
    cudaStream_t m_stream;
    cudaGraphExec_t m_executable = nullptr;
};

}  // namespace lockstep::cuda
