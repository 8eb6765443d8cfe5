#include "engine/backend/cuda/kernels.h"
#include "engine/ops/loss.h"

namespace lockstep {

namespace {

// One block sums over the batch in a fixed order: each thread takes every kBlock-th sample, then a tree over threads.
__device__ void blockSum(double value, double* out) {
    __shared__ double partial[kBlock];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = kBlock / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = partial[0];
    __syncthreads();
}

struct Softmax { double maximum, logSum, logitSum; };
__device__ Softmax softmaxOf(const float* logits, int classes) {
    Softmax s{logits[0], 0, 0};
    for (int c = 1; c < classes; ++c) s.maximum = fmax(s.maximum, static_cast<double>(logits[c]));
    for (int c = 0; c < classes; ++c) {
        s.logSum += exp(logits[c] - s.maximum);
        s.logitSum += logits[c];
    }
    s.logSum = log(s.logSum);
    return s;
}

__global__ void crossEntropyKernel(const float* logits, const std::int32_t* labels, double* lossSum, double* weight, int samples,
                                   int classes, double smoothing) {
    double loss = 0, counted = 0;
    for (int n = threadIdx.x; n < samples; n += kBlock) {
        if (labels[n] < 0) continue;
        const float* row = logits + static_cast<std::size_t>(n) * classes;
        const Softmax s = softmaxOf(row, classes);
        const double target = (1 - smoothing) * row[labels[n]] + smoothing / classes * s.logitSum;
        loss += s.maximum + s.logSum - target;
        ++counted;
    }
    blockSum(loss, lossSum);
    blockSum(counted, weight);
}

__global__ void crossEntropyBackwardKernel(const float* logits, const std::int32_t* labels, const double* scale, float* dlogits,
                                           int samples, int classes, double smoothing) {
    const int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (n >= samples) return;
    const float* row = logits + static_cast<std::size_t>(n) * classes;
    const Softmax s = softmaxOf(row, classes);
    for (int c = 0; c < classes; ++c) {
        const double target = smoothing / classes + (c == labels[n] ? 1 - smoothing : 0);
        const double difference = labels[n] < 0 ? 0 : exp(row[c] - s.maximum - s.logSum) - target;
        dlogits[static_cast<std::size_t>(n) * classes + c] = static_cast<float>(*scale * difference);
    }
}

__global__ void topKKernel(const float* logits, const std::int32_t* labels, double* count, int samples, int classes, int k) {
    double hits = 0;
    for (int n = threadIdx.x; n < samples; n += kBlock) {
        const float* row = logits + static_cast<std::size_t>(n) * classes;
        const int label = labels[n];
        if (label < 0 || isnan(row[label])) continue;
        int before = 0;
        for (int c = 0; c < classes; ++c) before += c != label && !(row[c] < row[label]) && !(row[c] == row[label] && c > label);
        hits += before < k;
    }
    blockSum(hits, count);
}

}  // namespace

std::unique_ptr<Kernel> makeCudaLoss(const Graph& graph, const Node& node) {
    const std::string where = std::string(node.op->name) + " " + node.scope;
    const Shape& shape = graph.typeOf(node.inputs[0]).shape;
    const int samples = static_cast<int>(shape.count() / shape[-1]), classes = static_cast<int>(shape[-1]);
    if (node.op->name == "top_k_count") {
        const int k = node.attrs.as<TopKAttrs>().k;
        return cudaKernel(where, [=](const KernelCall& call, cudaStream_t stream) {
            topKKernel<<<1, kBlock, 0, stream>>>(in<float>(call, 0), in<std::int32_t>(call, 1), out<double>(call, 0), samples,
                                                classes, k);
        });
    }
    const double smoothing = node.attrs.as<CrossEntropyAttrs>().smoothing;
    if (node.op->name == "cross_entropy") {
        return cudaKernel(where, [=](const KernelCall& call, cudaStream_t stream) {
            crossEntropyKernel<<<1, kBlock, 0, stream>>>(in<float>(call, 0), in<std::int32_t>(call, 1), out<double>(call, 0),
                                                        out<double>(call, 1), samples, classes, smoothing);
        });
    }
    return cudaKernel(where, [=](const KernelCall& call, cudaStream_t stream) {
        crossEntropyBackwardKernel<<<blocksFor(static_cast<std::size_t>(samples)), kBlock, 0, stream>>>(
            in<float>(call, 0), in<std::int32_t>(call, 1), in<double>(call, 2), out<float>(call, 0), samples, classes, smoothing);
    });
}

}  // namespace lockstep
