#include <cmath>
#include <vector>

#include "engine/backend/cuda/kernels.h"

namespace lockstep {

namespace {

constexpr std::size_t kMaxSums = 64;
struct Sums { const double* at[kMaxSums]; };

template <class T>
__global__ void scaleKernel(const T* from, T* to, T factor, std::size_t count) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) to[i] = from[i] * factor;
}

template <class T>
__global__ void addKernel(const T* from, T* to, std::size_t count) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) to[i] += from[i];
}

__global__ void squareSumKernel(const float* x, double* sum, std::size_t count) {
    __shared__ double partial[1024];
    double total = 0;
    for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) total += static_cast<double>(x[i]) * x[i];
    partial[threadIdx.x] = total;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *sum = partial[0];
}

__global__ void gateKernel(const double* loss, const double* weight, const double* samples, Sums sums, int count, double clipNorm,
                           UpdateGate* gate) {
    double squares = 0;
    for (int i = 0; i < count; ++i) squares += *sums.at[i];
    *gate = decideGate({*loss, *weight, *samples, sqrt(squares)}, clipNorm);
}

__global__ void sgdKernel(const float* gradient, const UpdateGate* gate, float* weight, float* velocity, std::size_t count,
                          float rate, float momentum, bool nesterov, float decay) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count || gate->skip != 0) return;
    float step = gradient[i] * static_cast<float>(gate->scale) + decay * weight[i];
    if (velocity) {
        const float v = momentum * velocity[i] + step;
        velocity[i] = v;
        step = nesterov ? step + momentum * v : v;
    }
    weight[i] -= rate * step;
}

struct AdamConstants { float rate, beta1, beta2, epsilon, decay, correction1, correction2; };
__global__ void adamKernel(const float* gradient, const UpdateGate* gate, float* weight, float* first, float* second,
                           std::size_t count, AdamConstants c) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count || gate->skip != 0) return;
    const float g = gradient[i] * static_cast<float>(gate->scale);
    first[i] = c.beta1 * first[i] + (1 - c.beta1) * g;
    second[i] = c.beta2 * second[i] + (1 - c.beta2) * g * g;
    const float update = first[i] / c.correction1 / (sqrtf(second[i] / c.correction2) + c.epsilon);
    weight[i] -= c.rate * (update + c.decay * weight[i]);
}

__global__ void averageKernel(const float* weight, const UpdateGate* gate, float* average, float rest, std::size_t count) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count && gate->skip == 0) average[i] += rest * (weight[i] - average[i]);
}

__global__ void commitKernel(const float* staged, const UpdateGate* gate, float* buffer, std::size_t count) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count && gate->skip == 0) buffer[i] = staged[i] * static_cast<float>(gate->bufferScale);
}

AdamConstants adamConstants(const UpdateRule& rule, const StepScalars& scalars, bool decays) {
    const auto updates = static_cast<double>(scalars.step + 1);
    return {static_cast<float>(scalars.learningRate),
            static_cast<float>(rule.beta1),
            static_cast<float>(rule.beta2),
            static_cast<float>(rule.epsilon),
            static_cast<float>(decays ? rule.weightDecay : 0),
            static_cast<float>(1 - std::pow(rule.beta1, updates)),
            static_cast<float>(1 - std::pow(rule.beta2, updates))};
}

void launchUpdate(const UpdateRule& rule, const UpdateSegment& segment, const KernelCall& call, cudaStream_t stream) {
    const std::size_t at = segment.offset;
    const auto* gate = in<UpdateGate>(call, 1);
    if (rule.kind == UpdateRule::Kind::AdamW) {
        adamKernel<<<blocksFor(segment.count), kBlock, 0, stream>>>(
            in<float>(call, 0) + at, gate, out<float>(call, 0) + at, out<float>(call, 1) + at, out<float>(call, 2) + at,
            segment.count, adamConstants(rule, *call.scalars, segment.decays));
        return;
    }
    float* velocity = rule.stateCount() > 0 ? out<float>(call, 1) + at : nullptr;
    sgdKernel<<<blocksFor(segment.count), kBlock, 0, stream>>>(
        in<float>(call, 0) + at, gate, out<float>(call, 0) + at, velocity, segment.count,
        static_cast<float>(call.scalars->learningRate), static_cast<float>(rule.momentum), rule.nesterov,
        static_cast<float>(segment.decays ? rule.weightDecay : 0));
}

template <class T>
std::unique_ptr<Kernel> makeScaleOf(std::size_t count, double factor) {
    return cudaKernel("scale", [=](const KernelCall& call, cudaStream_t stream) {
        scaleKernel<T><<<blocksFor(count), kBlock, 0, stream>>>(in<T>(call, 0), out<T>(call, 0), static_cast<T>(factor), count);
    });
}

template <class T>
std::unique_ptr<Kernel> makeAddOf(std::size_t count) {
    return cudaKernel("add", [=](const KernelCall& call, cudaStream_t stream) {
        addKernel<T><<<blocksFor(count), kBlock, 0, stream>>>(in<T>(call, 0), out<T>(call, 0), count);
    });
}

bool isDouble(DType dtype, const char* step) {
    if (dtype == DType::F32 || dtype == DType::F64) return dtype == DType::F64;
    throw EngineError(EngineError::Kind::Internal, step, "CUDA has this step for f32 and f64, not for " + std::string(text(dtype)));
}

}  // namespace

std::unique_ptr<Kernel> makeCudaScale(DType dtype, std::size_t count, double factor) {
    return isDouble(dtype, "scale") ? makeScaleOf<double>(count, factor) : makeScaleOf<float>(count, factor);
}

std::unique_ptr<Kernel> makeCudaFlatAdd(DType dtype, std::size_t count) {
    return isDouble(dtype, "add") ? makeAddOf<double>(count) : makeAddOf<float>(count);
}

std::unique_ptr<Kernel> makeCudaSquareSum(std::size_t count) {
    return cudaKernel("square sum", [=](const KernelCall& call, cudaStream_t stream) {
        squareSumKernel<<<1, 1024, 0, stream>>>(in<float>(call, 0), out<double>(call, 0), count);
    });
}

std::unique_ptr<Kernel> makeCudaGate(const UpdateRule& rule, std::size_t squareSums) {
    if (squareSums > kMaxSums) throw EngineError(EngineError::Kind::Internal, "gate", "more buckets than the gate takes; use larger buckets");
    return cudaKernel("gate", [=, clip = rule.clipNorm](const KernelCall& call, cudaStream_t stream) {
        Sums sums{};
        for (std::size_t i = 0; i < squareSums; ++i) sums.at[i] = in<double>(call, static_cast<int>(i) + 3);
        gateKernel<<<1, 1, 0, stream>>>(in<double>(call, 0), in<double>(call, 1), in<double>(call, 2), sums,
                                       static_cast<int>(squareSums), clip, out<UpdateGate>(call, 0));
    });
}

std::unique_ptr<Kernel> makeCudaUpdate(const UpdateRule& rule, std::span<const UpdateSegment> segments) {
    return cudaKernel("update", [rule, parts = std::vector(segments.begin(), segments.end())](const KernelCall& call,
                                                                                             cudaStream_t stream) {
        for (const UpdateSegment& segment : parts) launchUpdate(rule, segment, call, stream);
    });
}

std::unique_ptr<Kernel> makeCudaAverage(double decay, std::size_t count) {
    return cudaKernel("average", [=](const KernelCall& call, cudaStream_t stream) {
        const auto rest = static_cast<float>(1 - averageDecayAt(decay, call.scalars->step));
        averageKernel<<<blocksFor(count), kBlock, 0, stream>>>(in<float>(call, 0), in<UpdateGate>(call, 1), out<float>(call, 0),
                                                              rest, count);
    });
}

std::unique_ptr<Kernel> makeCudaCommit(std::size_t count) {
    return cudaKernel("commit", [=](const KernelCall& call, cudaStream_t stream) {
        commitKernel<<<blocksFor(count), kBlock, 0, stream>>>(in<float>(call, 0), in<UpdateGate>(call, 1), out<float>(call, 0),
                                                             count);
    });
}

}  // namespace lockstep
