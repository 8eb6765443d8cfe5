#include "engine/backend/cpu/cpu_device.h"

#include <cstring>

#include <immintrin.h>
#include <omp.h>

namespace lockstep::cpu {

namespace {

constexpr unsigned kFlushDenormals = 0x8040;  // flush-to-zero and denormals-are-zero

void requireF32(const char* step, DType dtype) {
    if (dtype != DType::F32)
        throw EngineError(EngineError::Kind::Device, step,
                          "the CPU computes in f32, not in " + std::string(text(dtype)));
}

void reorder(const onednn::Engine& engine, const onednn::Desc& from, const onednn::Desc& to, const std::byte* source,
             std::byte* target) {
    const onednn::Plan plan = onednn::planReorder(engine, from, to);
    const Buffer scratch = allocateHost(plan.scratchBytes);
    const std::array<std::byte*, 2> pointers{const_cast<std::byte*>(source), target};
    onednn::Primitive(engine, plan).run(pointers, scratch.data());
}

}  // namespace

TeamOf::TeamOf(int threads) : m_before(omp_get_max_threads()) { omp_set_num_threads(threads); }
TeamOf::~TeamOf() { omp_set_num_threads(m_before); }

CpuDevice::CpuDevice(const DeviceChoice& choice)
    : m_choice(choice), m_teamBefore(omp_get_max_threads()), m_modeBefore(_mm_getcsr()) {
    omp_set_num_threads(choice.threads);
    m_machine.simd = &bestSimd();
    m_machine.bf16 = bestBf16();
    m_machine.multipliesPairs = m_machine.bf16 && onednn::bf16Units() != onednn::Bf16Units::None;
    if (m_machine.bf16) m_machine.gemmRows.multiply = m_machine.bf16->gemmRows;
    if (onednn::bf16Units() == onednn::Bf16Units::Tiles) m_machine.gemmRows = v4_amx::kGemmRows;
    m_machine.threads = choice.threads;
#pragma omp parallel num_threads(choice.threads)
    _mm_setcsr(_mm_getcsr() | kFlushDenormals);
}

CpuDevice::~CpuDevice() {
    omp_pause_resource(omp_pause_soft, omp_get_initial_device());  // ends the team's threads
    omp_set_num_threads(m_teamBefore);
    _mm_setcsr(m_modeBefore);
}

std::unique_ptr<Kernel> CpuDevice::prepare(const Graph& graph, const Node& node) {
    const Order order{m_machine, graph, node};
    const KernelEntry* entry = findKernel(*node.op);
    if (!entry)
        throw EngineError(EngineError::Kind::Device, order.where() + " on " + m_choice.id,
                          "the CPU has no kernel for this op");
    return entry->make(order);
}

std::unique_ptr<Kernel> CpuDevice::prepareFill(DType dtype, std::size_t count, double value) {
    return makeFlatFill(m_machine, dtype, count, value);
}

std::unique_ptr<Kernel> CpuDevice::prepareScale(DType dtype, std::size_t count, double factor) {
    return makeFlatScale(m_machine, dtype, count, factor);
}

std::unique_ptr<Kernel> CpuDevice::prepareAdd(DType dtype, std::size_t count) {
    return makeFlatAdd(m_machine, dtype, count);
}

std::unique_ptr<Kernel> CpuDevice::prepareSquareSum(DType dtype, std::size_t count) {
    requireF32("square sum", dtype);
    return makeSquareSum(m_machine, count);
}

std::unique_ptr<Kernel> CpuDevice::prepareGate(const UpdateRule& rule, std::size_t squareSums) {
    return makeGate(rule, squareSums);
}

std::unique_ptr<Kernel> CpuDevice::prepareUpdate(const UpdateRule& rule, DType dtype, std::size_t count,
                                                 std::span<const UpdateSegment> segments) {
    requireF32("update", dtype);
    return makeUpdate(m_machine, rule, count, segments);
}

std::unique_ptr<Kernel> CpuDevice::prepareAverage(double decay, DType dtype, std::size_t count) {
    requireF32("average", dtype);
    return makeAverage(m_machine, decay, count);
}

std::unique_ptr<Kernel> CpuDevice::prepareCommit(DType dtype, std::size_t count) {
    requireF32("commit", dtype);
    return makeCommit(m_machine, count);
}

HostTensor CpuDevice::readLogical(const Value& value, const std::byte* at) {
    HostTensor tensor(value.type);
    if (!value.layout) {
        std::memcpy(tensor.data(), at, tensor.bytes());
        return tensor;
    }
    const onednn::Desc stored = descOf(value);
    reorder(m_machine.engine, stored, onednn::Desc::rowMajor(stored.dims(), stored.dtype()), at, tensor.data());
    return tensor;
}

void CpuDevice::writeLogical(const Value& value, const HostTensor& tensor, std::byte* at) {
    if (tensor.type() != value.type)
        throw EngineError(EngineError::Kind::Internal, value.name,
                          "is " + value.type.text() + ", was given " + tensor.type().text());
    if (!value.layout) {
        std::memcpy(at, tensor.data(), tensor.bytes());
        return;
    }
    const onednn::Desc stored = descOf(value);
    std::memset(at, 0, stored.bytes());
    reorder(m_machine.engine, onednn::Desc::rowMajor(stored.dims(), stored.dtype()), stored, tensor.data(), at);
}

}  // namespace lockstep::cpu
