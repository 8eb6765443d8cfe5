#include "engine/collective/host_operation.h"

#include <algorithm>
#include <cstring>

#include "engine/core/error.h"

namespace lockstep {

namespace {

constexpr std::size_t kLine = 64;              // bytes of a cache line: no two ranks write to the same one
constexpr std::size_t kGrainBytes = 16 << 10;  // smaller slices cost more in waking than they save in summing
constexpr std::size_t kBlockBytes = 4 << 10;   // partial sums stay in the first-level cache
constexpr std::size_t kMaxTreeDepth = 16;      // levels of the tree that may be open: 2^16 ranks

struct Range {
    std::size_t begin = 0, end = 0;
};

Range sliceOf(std::size_t bytes, std::size_t slices, std::size_t slice) {
    const std::size_t lines = (bytes + kLine - 1) / kLine;
    const auto bound = [&](std::size_t s) { return std::min(bytes, lines * s / slices * kLine); };
    return {bound(slice), slice + 1 == slices ? bytes : bound(slice + 1)};
}

std::size_t slicesOf(std::size_t bytes, std::size_t ranks) {
    return std::clamp<std::size_t>(bytes / kGrainBytes, bytes > 0 ? 1 : 0, ranks);
}

template <class T>
void add(T* __restrict sum, const T* __restrict a, const T* __restrict b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

template <class T>
void addTo(T* __restrict sum, const T* __restrict x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sum[i] += x[i];
}

// Sums one block over the ranks in the tree of collective.h. `stack` has a block for each level that is not yet whole.
template <class T>
class TreeSum {
public:
    explicit TreeSum(std::span<const HostPart> parts) : m_parts(parts) {}

    const T* operator()(std::size_t at, std::size_t n) {
        std::size_t depth = 0;
        for (std::size_t rank = 0; rank < m_parts.size(); rank += 2) {
            T* top = m_stack[depth++];
            if (rank + 1 < m_parts.size()) add(top, input(rank, at), input(rank + 1, at), n);
            else std::memcpy(top, input(rank, at), n * sizeof(T));
            const bool last = rank + 2 >= m_parts.size();
            for (std::size_t pair = rank / 2; depth > 1 && (last || pair % 2 == 1); pair /= 2) {
                addTo(m_stack[depth - 2], m_stack[depth - 1], n);
                --depth;
            }
        }
        return m_stack[0];
    }

private:
    const T* input(std::size_t rank, std::size_t at) const { return reinterpret_cast<const T*>(m_parts[rank].in + at); }

    std::span<const HostPart> m_parts;
    alignas(kLine) T m_stack[kMaxTreeDepth][kBlockBytes / sizeof(T)];
};

// The sum over ranks of `range` of every part's input, handed to `write` block by block.
template <class T, class Write>
void sum(std::span<const HostPart> parts, Range range, const Write& write) {
    TreeSum<T> treeSum(parts);
    for (std::size_t at = range.begin; at < range.end; at += kBlockBytes) {
        const std::size_t bytes = std::min(kBlockBytes, range.end - at);
        const T* const block = treeSum(at, bytes / sizeof(T));
        write(at, reinterpret_cast<const std::byte*>(block), bytes);
    }
}

// Integers wrap around: unsigned arithmetic gives the same bits without undefined overflow.
template <class Write>
void sumAs(DType dtype, std::span<const HostPart> parts, Range range, const Write& write) {
    switch (dtype) {
        case DType::F32: return sum<float>(parts, range, write);
        case DType::F64: return sum<double>(parts, range, write);
        case DType::I32: return sum<std::uint32_t>(parts, range, write);
        case DType::I64: return sum<std::uint64_t>(parts, range, write);
        case DType::U8: return sum<std::uint8_t>(parts, range, write);
        case DType::F16:
        case DType::BF16: return;  // refused when they are asked for
    }
}

void allReducePiece(std::span<const HostPart> parts, std::size_t piece) {
    const HostCall& call = parts[0].call;
    const std::size_t bytes = call.count * sizeOf(call.dtype);
    const Range range = sliceOf(bytes, pieceCount(call, parts.size()), piece);
    sumAs(call.dtype, parts, range, [&](std::size_t at, const std::byte* block, std::size_t n) {
        for (const HostPart& part : parts) std::memcpy(part.out + at, block, n);
    });
}

void reduceScatterPiece(std::span<const HostPart> parts, std::size_t piece) {
    const HostCall& call = parts[0].call;
    const std::size_t bytes = call.count * sizeOf(call.dtype);
    const std::size_t begin = piece * bytes;
    sumAs(call.dtype, parts, {begin, begin + bytes}, [&](std::size_t at, const std::byte* block, std::size_t n) {
        std::memcpy(parts[piece].out + (at - begin), block, n);
    });
}

void allGatherPiece(std::span<const HostPart> parts, std::size_t piece) {
    const std::size_t bytes = parts[0].call.count;
    for (const HostPart& part : parts) {
        std::byte* const to = part.out + piece * bytes;
        if (bytes > 0 && to != parts[piece].in) std::memcpy(to, parts[piece].in, bytes);
    }
}

void broadcastPiece(std::span<const HostPart> parts, std::size_t piece) {
    const HostCall& call = parts[0].call;
    const Range range = sliceOf(call.count, pieceCount(call, parts.size()), piece);
    const HostPart& root = parts[static_cast<std::size_t>(call.root)];
    for (const HostPart& part : parts) {
        if (&part != &root) std::memcpy(part.out + range.begin, root.in + range.begin, range.end - range.begin);
    }
}

}  // namespace

std::string describe(const HostCall& call) {
    const std::string size = std::to_string(call.count) + " " + std::string(text(call.dtype));
    switch (call.kind) {
        case HostCall::Kind::AllReduce: return "all-reduce of " + size;
        case HostCall::Kind::ReduceScatter: return "reduce-scatter of " + size + " per rank";
        case HostCall::Kind::AllGather: return "all-gather of " + std::to_string(call.count) + " bytes per rank";
        case HostCall::Kind::Broadcast:
            return "broadcast of " + std::to_string(call.count) + " bytes from rank " + std::to_string(call.root);
        case HostCall::Kind::Barrier: return "barrier";
    }
    return "?";
}

std::size_t pieceCount(const HostCall& call, std::size_t ranks) {
    switch (call.kind) {
        case HostCall::Kind::AllReduce: return ranks == 1 ? 0 : slicesOf(call.count * sizeOf(call.dtype), ranks);
        case HostCall::Kind::Broadcast: return ranks == 1 ? 0 : slicesOf(call.count, ranks);
        case HostCall::Kind::ReduceScatter:
        case HostCall::Kind::AllGather: return call.count > 0 ? ranks : 0;
        case HostCall::Kind::Barrier: return 0;
    }
    return 0;
}

void runPiece(std::span<const HostPart> parts, std::size_t piece) {
    switch (parts[0].call.kind) {
        case HostCall::Kind::AllReduce: return allReducePiece(parts, piece);
        case HostCall::Kind::ReduceScatter: return reduceScatterPiece(parts, piece);
        case HostCall::Kind::AllGather: return allGatherPiece(parts, piece);
        case HostCall::Kind::Broadcast: return broadcastPiece(parts, piece);
        case HostCall::Kind::Barrier: return;
    }
}

}  // namespace lockstep
