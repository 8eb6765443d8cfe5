#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/philox.cuh"
#include "engine/ops/dropout.h"

namespace lockstep {

namespace {

// Both directions: multiply by the mask of (seed, epoch, sample id, stream, element).
__global__ void dropoutKernel(const float* x, const std::int64_t* ids, float* y, std::int64_t samples, std::uint32_t perSample,
                              std::uint64_t seed, std::uint64_t epoch, std::uint64_t stream, double rate, float scale) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= static_cast<std::size_t>(samples) * perSample) return;
    const std::uint64_t id = static_cast<std::uint64_t>(ids[i / perSample]);
    const double uniform = bitsOf(deviceRng(seed, stream, epoch, id), static_cast<std::uint32_t>(i % perSample)) * 0x1p-32;
    y[i] = uniform >= rate ? x[i] * scale : 0.0f;
}

}  // namespace

std::unique_ptr<Kernel> makeCudaDropout(const Graph& graph, const Node& node) {
    const auto attrs = node.attrs.as<DropoutAttrs>();
    const Shape& shape = graph.typeOf(node.inputs[0]).shape;
    const std::int64_t samples = shape[0];
    const auto perSample = static_cast<std::uint32_t>(shape.count() / samples);
    return cudaKernel(std::string(node.op->name) + " " + node.scope, [=](const KernelCall& call, cudaStream_t stream) {
        const auto count = static_cast<std::size_t>(samples) * perSample;
        dropoutKernel<<<blocksFor(count), kBlock, 0, stream>>>(
            in<float>(call, 0), in<std::int64_t>(call, 1), out<float>(call, 0), samples, perSample, call.scalars->seed,
            static_cast<std::uint64_t>(call.scalars->epoch), attrs.stream, attrs.rate, static_cast<float>(1 / (1 - attrs.rate)));
    });
}

}  // namespace lockstep
