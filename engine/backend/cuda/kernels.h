#pragma once
#include <memory>
#include <span>

#include "engine/backend/cuda/cuda_stream.h"
#include "engine/backend/kernel.h"
#include "engine/graph/graph.h"
#include "engine/ops/update.h"

namespace lockstep {

class CudaDevice;

// One factory per op family, named after engine/ops; all for row-major f32 unless the op says otherwise.
std::unique_ptr<Kernel> makeCudaDense(CudaDevice& device, const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeCudaElementwise(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeCudaDropout(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> makeCudaLoss(const Graph& graph, const Node& node);

std::unique_ptr<Kernel> makeCudaFill(DType dtype, std::size_t count, double value);
std::unique_ptr<Kernel> makeCudaScale(DType dtype, std::size_t count, double factor);
std::unique_ptr<Kernel> makeCudaFlatAdd(DType dtype, std::size_t count);
std::unique_ptr<Kernel> makeCudaSquareSum(std::size_t count);
std::unique_ptr<Kernel> makeCudaGate(const UpdateRule& rule, std::size_t squareSums);
std::unique_ptr<Kernel> makeCudaUpdate(const UpdateRule& rule, std::span<const UpdateSegment> segments);
std::unique_ptr<Kernel> makeCudaAverage(double decay, std::size_t count);
std::unique_ptr<Kernel> makeCudaCommit(std::size_t count);

// A kernel that is one function object called with (call, stream).
template <class Launch>
class CudaKernel final : public Kernel {
public:
    CudaKernel(std::string where, Launch launch) : m_where(std::move(where)), m_launch(std::move(launch)) {}
    void run(const KernelCall& call) override {
        m_launch(call, CudaStream::of(call.stream));
        check(cudaGetLastError(), m_where);
    }

private:
    std::string m_where;
    Launch m_launch;
};

template <class Launch>
std::unique_ptr<Kernel> cudaKernel(std::string where, Launch launch) {
    return std::make_unique<CudaKernel<Launch>>(std::move(where), std::move(launch));
}

template <class T>
const T* in(const KernelCall& call, int i) {
    return reinterpret_cast<const T*>(call.inputs[static_cast<std::size_t>(i)]);
}
template <class T>
T* out(const KernelCall& call, int i) {
    return reinterpret_cast<T*>(call.outputs[static_cast<std::size_t>(i)]);
}

constexpr int kBlock = 256;
inline unsigned blocksFor(std::size_t count) { return static_cast<unsigned>((count + kBlock - 1) / kBlock); }

}  // namespace lockstep
