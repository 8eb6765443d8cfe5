#include "engine/backend/reference/device.h"

#include <cstring>

#include "engine/backend/reference/kernels.h"
#include "engine/core/error.h"

namespace lockstep::reference {

namespace {

void requireDouble(DType dtype, const char* step) {
    if (dtype != DType::F64)
        throw EngineError(EngineError::Kind::Device, step,
                          "the reference backend computes in f64 only, not in " + std::string(text(dtype)));
}

void requireSameType(const Value& value, const TensorType& given) {
    if (given != value.type)
        throw EngineError(EngineError::Kind::Internal, value.name,
                          "is " + value.type.text() + ", was given " + given.text());
}

}  // namespace

std::unique_ptr<Kernel> ReferenceDevice::prepare(const Graph& graph, const Node& node) {
    const KernelEntry* entry = findKernel(*node.op);
    if (entry == nullptr)
        throw EngineError(EngineError::Kind::Device,
                          std::string(node.op->name) + " " + node.scope + " on " + m_choice.id,
                          "the reference backend has no kernel for this op");
    return entry->make(graph, node);
}

std::unique_ptr<Kernel> ReferenceDevice::prepareFill(DType dtype, std::size_t count, double value) {
    requireDouble(dtype, "fill");
    return makeFill(count, value);
}

std::unique_ptr<Kernel> ReferenceDevice::prepareScale(DType dtype, std::size_t count, double factor) {
    requireDouble(dtype, "scale");
    return makeScale(count, factor);
}

std::unique_ptr<Kernel> ReferenceDevice::prepareAdd(DType dtype, std::size_t count) {
    requireDouble(dtype, "add");
    return makeFlatAdd(count);
}

std::unique_ptr<Kernel> ReferenceDevice::prepareSquareSum(DType dtype, std::size_t count) {
    requireDouble(dtype, "square sum");
    return makeSquareSum(count);
}

std::unique_ptr<Kernel> ReferenceDevice::prepareGate(const UpdateRule& rule, std::size_t squareSums) {
    return makeGate(rule, squareSums);
}

std::unique_ptr<Kernel> ReferenceDevice::prepareUpdate(const UpdateRule& rule, DType dtype, std::size_t,
                                                       std::span<const UpdateSegment> segments) {
    requireDouble(dtype, "update");
    return makeUpdate(rule, segments);
}

std::unique_ptr<Kernel> ReferenceDevice::prepareAverage(double decay, DType dtype, std::size_t count) {
    requireDouble(dtype, "average");
    return makeAverage(decay, count);
}

std::unique_ptr<Kernel> ReferenceDevice::prepareCommit(DType dtype, std::size_t count) {
    requireDouble(dtype, "commit");
    return makeCommit(count);
}

HostTensor ReferenceDevice::readLogical(const Value& value, const std::byte* at) {
    HostTensor tensor(value.type);
    std::memcpy(tensor.data(), at, tensor.bytes());
    return tensor;
}

void ReferenceDevice::writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) {
    requireSameType(value, tensor.type());
    std::memcpy(at, tensor.data(), tensor.bytes());
}

}  // namespace lockstep::reference
