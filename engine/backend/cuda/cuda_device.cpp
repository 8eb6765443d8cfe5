#include "engine/backend/cuda/cuda_device.h"

#include <cstring>

#include "engine/backend/cuda/cuda_recording.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/layout.h"

namespace lockstep::cuda {

CudaDevice::CudaDevice(DeviceChoice choice, std::shared_ptr<CudaShared> shared)
    : m_choice(std::move(choice)), m_shared(std::move(shared)) {
    check(cudaSetDevice(m_choice.index), m_choice.id);
    m_libraries = openLibraries(m_choice.id, m_shared->plans);
    for (auto& stream : m_streams) stream = std::make_unique<CudaStream>();
    m_scalars = allocate(sizeof(StepScalars));
    m_stagedScalars = allocateStaging(sizeof(StepScalars));
    m_shared->ranks.add(*this);
}

CudaDevice::~CudaDevice() { m_shared->ranks.remove(*this); }

Buffer CudaDevice::allocate(std::size_t bytes) {
    void* data = nullptr;
    check(cudaMalloc(&data, bytes == 0 ? 1 : bytes), m_choice.id + " allocating " + std::to_string(bytes) + " bytes");
    Buffer buffer(static_cast<std::byte*>(data), bytes, [](std::byte* at) { cudaFree(at); });
    stream(Lane::Copy).zero(buffer.data(), bytes);
    stream(Lane::Copy).synchronize();
    return buffer;
}

Buffer CudaDevice::allocateStaging(std::size_t bytes) {
    void* data = nullptr;
    check(cudaHostAlloc(&data, bytes == 0 ? 1 : bytes, cudaHostAllocPortable),
          m_choice.id + " pinning " + std::to_string(bytes) + " bytes of the host");
    std::memset(data, 0, bytes);
    return Buffer(static_cast<std::byte*>(data), bytes, [](std::byte* at) { cudaFreeHost(at); });
}

Buffer CudaDevice::upload(const void* data, std::size_t bytes) {
    Buffer buffer = allocate(bytes);
    stream(Lane::Copy).copyToDevice(buffer.data(), static_cast<const std::byte*>(data), bytes);
    stream(Lane::Copy).synchronize();
    return buffer;
}

void CudaDevice::beginStep(const StepScalars& scalars) {
    std::memcpy(m_stagedScalars.data(), &scalars, sizeof scalars);  // the last step has ended
    stream(Lane::Compute).copyToDevice(m_scalars.data(), m_stagedScalars.data(), sizeof scalars);
}

std::unique_ptr<Recording> CudaDevice::record(const std::function<void()>& work) {
    return std::make_unique<CudaRecording>(CudaStream::of(&stream(Lane::Compute)), work);
}

std::unique_ptr<Kernel> CudaDevice::prepare(const Graph& graph, const Node& node) {
    const Order order{*this, graph, node};
    const KernelEntry* entry = findKernel(*node.op);
    if (!entry)
        throw EngineError(EngineError::Kind::Device, order.where() + " on " + m_choice.id,
                          "CUDA has no kernel for this op");
    return entry->make(order);
}

std::unique_ptr<Kernel> CudaDevice::prepareFill(DType dtype, std::size_t count, double value) {
    return makeFill(dtype, count, value);
}
std::unique_ptr<Kernel> CudaDevice::prepareScale(DType dtype, std::size_t count, double factor) {
    return makeScale(dtype, count, factor);
}
std::unique_ptr<Kernel> CudaDevice::prepareAdd(DType dtype, std::size_t count) { return makeFlatAdd(dtype, count); }
std::unique_ptr<Kernel> CudaDevice::prepareSquareSum(DType dtype, std::size_t count) {
    return makeSquareSum(dtype, count);
}
std::unique_ptr<Kernel> CudaDevice::prepareGate(const UpdateRule& rule, std::size_t squareSums) {
    return makeGate(*this, rule, squareSums);
}
std::unique_ptr<Kernel> CudaDevice::prepareUpdate(const UpdateRule& rule, DType dtype, std::size_t,
                                                  std::span<const UpdateSegment> segments) {
    return makeUpdate(*this, rule, dtype, segments);
}
std::unique_ptr<Kernel> CudaDevice::prepareAverage(double decay, DType dtype, std::size_t count) {
    return makeAverage(*this, decay, dtype, count);
}
std::unique_ptr<Kernel> CudaDevice::prepareNarrow(DType dtype, std::size_t count) { return makeNarrow(dtype, count); }
std::unique_ptr<Kernel> CudaDevice::prepareCommit(DType dtype, std::size_t count) { return makeCommit(dtype, count); }

void CudaDevice::synchronize() {
    for (const auto& each : m_streams) each->synchronize();
}

HostTensor CudaDevice::readLogical(const Value& value, const std::byte* at) {
    HostTensor stored(value.type);
    synchronize();
    stream(Lane::Copy).copyToHost(stored.data(), at, stored.bytes());
    stream(Lane::Copy).synchronize();
    return toRowMajor(value, std::move(stored));
}

void CudaDevice::writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) {
    const HostTensor stored = toStored(value, tensor);
    synchronize();
    stream(Lane::Copy).copyToDevice(at, stored.data(), stored.bytes());
    stream(Lane::Copy).synchronize();
}

}  // namespace lockstep::cuda
