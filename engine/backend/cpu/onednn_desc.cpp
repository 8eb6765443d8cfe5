#include <algorithm>
#include <cctype>
#include <numeric>

#include "engine/backend/cpu/onednn_objects.h"
#include "engine/backend/cpu/simd/table.h"

namespace lockstep::onednn {

namespace {

using dnnl::memory;

memory::data_type typeOf(DType dtype) {
    switch (dtype) {
        case DType::F32: return memory::data_type::f32;
        case DType::BF16: return memory::data_type::bf16;
        case DType::I32: return memory::data_type::s32;
        case DType::U8: return memory::data_type::u8;
        default: throw EngineError(EngineError::Kind::Internal, "oneDNN", "no such element type");
    }
}

memory::dims dimsOf(std::span<const std::int64_t> dims) { return {dims.begin(), dims.end()}; }

memory::dims rowMajorStrides(std::span<const std::int64_t> dims) {
    memory::dims strides(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<std::int64_t>(dims[i], 1);
    return strides;
}

const dnnl_blocking_desc_t& blockingOf(const memory::desc& desc) { return desc.data.format_desc.blocking; }

}  // namespace

int preferredBlock() {
    const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto wide = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
    return (isa & wide) == wide ? 16 : 8;
}

int instructionSet() { return static_cast<int>(dnnl::get_effective_cpu_isa()); }

Bf16Units bf16Units() {
    const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto has = [isa](dnnl::cpu_isa wanted) {
        return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
    };
    if (has(dnnl::cpu_isa::avx512_core_amx)) return Bf16Units::Tiles;
    return has(dnnl::cpu_isa::avx512_core_bf16) && cpu::arePairsFast() ? Bf16Units::Pairs : Bf16Units::None;
}

Desc Desc::rowMajor(std::span<const std::int64_t> dims, DType dtype) {
    return guarded([&] { return wrap(memory::desc(dimsOf(dims), typeOf(dtype), rowMajorStrides(dims))); });
}

Desc Desc::any(std::span<const std::int64_t> dims, DType dtype) {
    return guarded([&] { return wrap(memory::desc(dimsOf(dims), typeOf(dtype), memory::format_tag::any)); });
}

Desc Desc::blockedChannels(std::span<const std::int64_t> dims, int block, DType dtype) {
    const auto tag = block == 16 ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
    return guarded([&] { return wrap(memory::desc(dimsOf(dims), typeOf(dtype), tag)); });
}

Desc Desc::channelsLast(std::span<const std::int64_t> dims, DType dtype) {
    return guarded([&] { return wrap(memory::desc(dimsOf(dims), typeOf(dtype), memory::format_tag::nhwc)); });
}

Desc Desc::blockedFilters(std::span<const std::int64_t> dims, int block, DType dtype) {
    const auto tag = block == 16 ? memory::format_tag::OIhw16i16o : memory::format_tag::OIhw8i8o;
    return guarded([&] { return wrap(memory::desc(dimsOf(dims), typeOf(dtype), tag)); });
}

Desc Desc::productPanels(std::span<const std::int64_t> dims, int columnAxis) {
    constexpr std::int64_t kColumns = 32, kPair = 2;
    return guarded([&] {
        memory::desc desc(dimsOf(dims), memory::data_type::bf16, rowMajorStrides(dims));
        dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
        const int depthAxis = 1 - columnAxis;
        blocking.strides[depthAxis] = kColumns * kPair;
        blocking.strides[3] = dims[static_cast<std::size_t>(depthAxis)] * kColumns;
        blocking.strides[2] = blocking.strides[3] * dims[3];
        blocking.strides[columnAxis] = blocking.strides[2] * dims[2];
        blocking.inner_nblks = 2;
        blocking.inner_blks[0] = kColumns;
        blocking.inner_idxs[0] = columnAxis;
        blocking.inner_blks[1] = kPair;
        blocking.inner_idxs[1] = depthAxis;
        return wrap(desc);
    });
}

Desc Desc::pairedFilters(std::span<const std::int64_t> dims) {
    return guarded(
        [&] { return wrap(memory::desc(dimsOf(dims), memory::data_type::bf16, memory::format_tag::OIhw8i16o2i)); });
}

Desc Desc::rowPanels(std::span<const std::int64_t> dims, int width, DType dtype) {
    const std::int64_t together = dtype == DType::BF16 ? 2 : 1;  // of a row
    return guarded([&] {
        memory::desc desc(dimsOf(dims), typeOf(dtype), rowMajorStrides(dims));
        dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
        const auto roundUp = [](std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; };
        desc.data.padded_dims[0] = roundUp(dims[0], width);
        desc.data.padded_dims[1] = roundUp(dims[1], together);
        blocking.strides[0] = desc.data.padded_dims[1] * width;
        blocking.strides[1] = width * together;
        blocking.inner_nblks = together > 1 ? 2 : 1;
        blocking.inner_blks[0] = width;
        blocking.inner_idxs[0] = 0;
        if (together > 1) {
            blocking.inner_blks[1] = together;
            blocking.inner_idxs[1] = 1;
        }
        return wrap(desc);
    });
}

Desc Desc::sampleLanes(std::span<const std::int64_t> dims, DType dtype) {
    constexpr std::int64_t kLanes = 16;
    return guarded([&] {
        memory::desc desc(dimsOf(dims), typeOf(dtype), rowMajorStrides(dims));
        dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
        for (std::size_t axis = 0; axis < dims.size(); ++axis) blocking.strides[axis] *= kLanes;
        desc.data.padded_dims[0] = (dims[0] + kLanes - 1) / kLanes * kLanes;
        blocking.inner_nblks = 1;
        blocking.inner_blks[0] = kLanes;
        blocking.inner_idxs[0] = 0;
        return wrap(desc);
    });
}

Desc Desc::matrix(std::int64_t rows, std::int64_t columns, std::int64_t rowStride, std::int64_t columnStride,
                  DType dtype) {
    return guarded([&] {
        return wrap(memory::desc(memory::dims{rows, columns}, typeOf(dtype), memory::dims{rowStride, columnStride}));
    });
}

bool Desc::isSampleLanes() const { return dims().size() == 4 && *this == sampleLanes(dims(), dtype()); }

bool Desc::isChannelsLast() const { return dims().size() == 4 && *this == channelsLast(dims(), dtype()); }

Desc Desc::of(DType dtype) const {
    return guarded([&] {
        memory::desc desc = m_impl->desc;
        desc.data.data_type = memory::convert_to_c(typeOf(dtype));
        return wrap(desc);
    });
}

Desc Desc::transposed() const {
    return guarded([&] { return wrap(m_impl->desc.permute_axes({1, 0})); });
}

bool Desc::operator==(const Desc& other) const {
    if (!m_impl || !other.m_impl) return m_impl == other.m_impl;
    return m_impl->desc == other.m_impl->desc;
}

std::vector<std::int64_t> Desc::dims() const { return m_impl->desc.dims(); }

DType Desc::dtype() const {
    switch (m_impl->desc.data_type()) {
        case memory::data_type::s32: return DType::I32;
        case memory::data_type::u8: return DType::U8;
        case memory::data_type::bf16: return DType::BF16;
        default: return DType::F32;
    }
}

bool Desc::isRowMajor() const { return *this == rowMajor(dims(), dtype()); }

int Desc::channelBlock() const {
    if (isRowMajor()) return 1;
    if (dims().size() != 4) return 0;
    for (const int block : {16, 8}) {
        if (*this == blockedChannels(dims(), block, dtype())) return block;
    }
    return 0;
}

std::size_t Desc::bytes() const { return m_impl->desc.get_size(); }

std::string Desc::text(const char* axes) const {
    const memory::desc& desc = m_impl->desc;
    if (desc.data.format_kind != dnnl_blocked) return "opaque";
    const dnnl_blocking_desc_t& blocking = blockingOf(desc);
    std::vector<int> order(static_cast<std::size_t>(desc.data.ndims));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
    const auto isBlocked = [&](int axis) {
        return std::find(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks, axis) !=
               blocking.inner_idxs + blocking.inner_nblks;
    };
    std::string text;
    for (const int axis : order) text += isBlocked(axis) ? static_cast<char>(std::toupper(axes[axis])) : axes[axis];
    for (int i = 0; i < blocking.inner_nblks; ++i)
        text += std::to_string(blocking.inner_blks[i]) + axes[blocking.inner_idxs[i]];
    return text;
}

}  // namespace lockstep::onednn
