#pragma once
#include <functional>

#include "engine/backend/cuda/cuda_check.h"
#include "engine/backend/device.h"

namespace lockstep::cuda {

// A CUDA graph of what some work puts on a stream. Kernels' arguments are those of the recording.
class CudaRecording final : public Recording {
public:
    CudaRecording(cudaStream_t stream, const std::function<void()>& work) : m_stream(stream) {
        cudaGraph_t graph = capture(work);
        const cudaError_t status = cudaGraphInstantiate(&m_executable, graph, 0);
        cudaGraphDestroy(graph);
        check(status, "instantiating a graph");
    }
    ~CudaRecording() override { cudaGraphExecDestroy(m_executable); }
    CudaRecording(const CudaRecording&) = delete;
    CudaRecording& operator=(const CudaRecording&) = delete;

    void replay() override { check(cudaGraphLaunch(m_executable, m_stream), "launching a graph"); }

private:
    // Other ranks' threads may allocate meanwhile.
    cudaGraph_t capture(const std::function<void()>& work) const {
        check(cudaStreamBeginCapture(m_stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
        cudaGraph_t graph = nullptr;
        try {
            work();
        } catch (...) {
            cudaStreamEndCapture(m_stream, &graph);
            if (graph) cudaGraphDestroy(graph);
            throw;
        }
        check(cudaStreamEndCapture(m_stream, &graph), "recording a graph");
        return graph;
    }

    cudaStream_t m_stream;
    cudaGraphExec_t m_executable = nullptr;
};

}  // namespace lockstep::cuda
