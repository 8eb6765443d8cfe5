#include "engine/backend/cuda/kernels.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

__device__ std::size_t threadIndex() { return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void reluKernel(const float* x, float* y, std::size_t count) {
    const std::size_t i = threadIndex();
    if (i < count) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void reluBackwardKernel(const float* y, const float* dy, float* dx, std::size_t count) {
    const std::size_t i = threadIndex();
    if (i < count) dx[i] = y[i] > 0 ? dy[i] : 0.0f;
}

__global__ void addKernel(const float* a, const float* b, float* sum, std::size_t count) {
    const std::size_t i = threadIndex();
    if (i < count) sum[i] = a[i] + b[i];
}

template <class T>
__global__ void fillKernel(T* out, T value, std::size_t count) {
    const std::size_t i = threadIndex();
    if (i < count) out[i] = value;
}

// One thread per column, rows in order: the sum has one fixed order.
__global__ void columnSumKernel(const float* x, float* sum, std::int64_t rows, std::int64_t columns) {
    const auto column = static_cast<std::int64_t>(threadIndex());
    if (column >= columns) return;
    float total = 0;
    for (std::int64_t row = 0; row < rows; ++row) total += x[row * columns + column];
    sum[column] = total;
}

}  // namespace

std::unique_ptr<Kernel> makeCudaColumnSum(std::int64_t rows, std::int64_t columns) {
    return cudaKernel("dense_backward_bias", [rows, columns](const KernelCall& call, cudaStream_t stream) {
        columnSumKernel<<<blocksFor(static_cast<std::size_t>(columns)), kBlock, 0, stream>>>(in<float>(call, 0),
                                                                                          out<float>(call, 0), rows, columns);
    });
}

std::unique_ptr<Kernel> makeCudaFill(DType dtype, std::size_t count, double value) {
    if (dtype != DType::F32 && dtype != DType::F64)
        throw EngineError(EngineError::Kind::Device, "fill", "no fill of " + std::string(text(dtype)) + " on CUDA");
    return cudaKernel("fill", [=](const KernelCall& call, cudaStream_t stream) {
        if (dtype == DType::F64) {
            fillKernel<<<blocksFor(count), kBlock, 0, stream>>>(out<double>(call, 0), value, count);
        } else {
            fillKernel<<<blocksFor(count), kBlock, 0, stream>>>(out<float>(call, 0), static_cast<float>(value), count);
        }
    });
}

std::unique_ptr<Kernel> makeCudaElementwise(const Graph& graph, const Node& node) {
    const std::string where = std::string(node.op->name) + " " + node.scope;
    const TensorType& type = graph.typeOf(node.outputs[0]);
    const auto count = static_cast<std::size_t>(type.shape.count());
    if (node.op->name == "relu") {
        return cudaKernel(where, [count](const KernelCall& call, cudaStream_t stream) {
            reluKernel<<<blocksFor(count), kBlock, 0, stream>>>(in<float>(call, 0), out<float>(call, 0), count);
        });
    }
    if (node.op->name == "relu_backward") {
        return cudaKernel(where, [count](const KernelCall& call, cudaStream_t stream) {
            reluBackwardKernel<<<blocksFor(count), kBlock, 0, stream>>>(in<float>(call, 0), in<float>(call, 1),
                                                                         out<float>(call, 0), count);
        });
    }
    if (node.op->name == "add") {
        return cudaKernel(where, [count](const KernelCall& call, cudaStream_t stream) {
            addKernel<<<blocksFor(count), kBlock, 0, stream>>>(in<float>(call, 0), in<float>(call, 1), out<float>(call, 0), count);
        });
    }
    if (node.op->name == "fill") return makeCudaFill(type.dtype, count, node.attrs.as<FillAttrs>().value);
    throw EngineError(EngineError::Kind::Device, where, "the CUDA backend has no kernel for this operation");
}

}  // namespace lockstep
