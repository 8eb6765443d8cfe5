#include "engine/backend/cuda/cuda_device.h"

#include "engine/backend/cuda/kernels.h"

namespace lockstep {

CudaDevice::CudaDevice(DeviceChoice choice) : m_choice(std::move(choice)) {
    check(cudaSetDevice(m_choice.index), m_choice.id);
    check(cublasLtCreate(&m_blas), m_choice.id);
    for (auto& stream : m_streams) stream = std::make_unique<CudaStream>();
}

CudaDevice::~CudaDevice() { cublasLtDestroy(m_blas); }

Buffer CudaDevice::allocate(std::size_t bytes) {
    void* data = nullptr;
    check(cudaMalloc(&data, bytes == 0 ? 1 : bytes), m_choice.id + " allocating " + std::to_string(bytes) + " bytes");
    check(cudaMemset(data, 0, bytes), m_choice.id);
    return {static_cast<std::byte*>(data), bytes, [](std::byte* at) { cudaFree(at); }};
}

std::unique_ptr<Kernel> CudaDevice::prepare(const Graph& graph, const Node& node) {
    const std::string_view name = node.op->name;
    if (name.starts_with("dense") || name == "cuda_dense_relu") return makeCudaDense(*this, graph, node);
    if (name.starts_with("dropout")) return makeCudaDropout(graph, node);
    if (name.starts_with("cross_entropy") || name == "top_k_count") return makeCudaLoss(graph, node);
    return makeCudaElementwise(graph, node);
}

namespace {
void requireFloat(DType dtype, const std::string& id) {
    if (dtype == DType::F32) return;
    throw EngineError(EngineError::Kind::Device, id,
                      "this flat step is f32 on CUDA, not " + std::string(text(dtype)));
}
}  // namespace

std::unique_ptr<Kernel> CudaDevice::prepareFill(DType dtype, std::size_t count, double value) {
    return makeCudaFill(dtype, count, value);
}
std::unique_ptr<Kernel> CudaDevice::prepareScale(DType dtype, std::size_t count, double factor) {
    return makeCudaScale(dtype, count, factor);
}
std::unique_ptr<Kernel> CudaDevice::prepareAdd(DType dtype, std::size_t count) {
    return makeCudaFlatAdd(dtype, count);
}
std::unique_ptr<Kernel> CudaDevice::prepareSquareSum(DType dtype, std::size_t count) {
    requireFloat(dtype, m_choice.id);
    return makeCudaSquareSum(count);
}
std::unique_ptr<Kernel> CudaDevice::prepareGate(const UpdateRule& rule, std::size_t squareSums) {
    return makeCudaGate(rule, squareSums);
}
std::unique_ptr<Kernel> CudaDevice::prepareUpdate(const UpdateRule& rule, DType dtype, std::size_t,
                                                  std::span<const UpdateSegment> segments) {
    requireFloat(dtype, m_choice.id);
    if (rule.needsWholeParameters())
        throw EngineError(EngineError::Kind::Device, m_choice.id, "CUDA has no such update: " + describe(rule));
    return makeCudaUpdate(rule, segments);
}
std::unique_ptr<Kernel> CudaDevice::prepareAverage(double decay, DType dtype, std::size_t count) {
    requireFloat(dtype, m_choice.id);
    return makeCudaAverage(decay, count);
}
std::unique_ptr<Kernel> CudaDevice::prepareCommit(DType dtype, std::size_t count) {
    requireFloat(dtype, m_choice.id);
    return makeCudaCommit(count);
}

HostTensor CudaDevice::readLogical(const Value& value, const std::byte* at) {
    HostTensor tensor(value.type);
    check(cudaDeviceSynchronize(), m_choice.id);
    check(cudaMemcpy(tensor.data(), at, tensor.bytes(), cudaMemcpyDeviceToHost), "reading " + value.name);
    return tensor;
}

void CudaDevice::writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) {
    check(cudaMemcpy(at, tensor.data(), tensor.bytes(), cudaMemcpyHostToDevice), "writing " + value.name);
}

}  // namespace lockstep
