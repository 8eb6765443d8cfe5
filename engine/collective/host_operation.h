#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/dtype.h"

namespace lockstep {

// What one rank asks of a group operation. Ranks must agree on all of it.
struct HostCall {
    enum class Kind : std::uint8_t { AllReduce, ReduceScatter, AllGather, Broadcast, Barrier };
    Kind kind = Kind::Barrier;
    DType dtype = DType::U8;
    std::size_t count = 0;  // elements of dtype; per rank for reduce-scatter and all-gather
    int root = 0;           // broadcast
    bool operator==(const HostCall&) const = default;
};
std::string describe(const HostCall& call);  // "all-reduce of 10 f32"

struct HostPart {
    HostCall call;
    const std::byte* in = nullptr;
    std::byte* out = nullptr;
};

// The independent pieces of an operation over `ranks` ranks, and the work of one; any thread may do any piece, once.
std::size_t pieceCount(const HostCall& call, std::size_t ranks);
void runPiece(std::span<const HostPart> parts, std::size_t piece);

// A place in a group's ring, used again and again. Use u of the place begins when generation == u.
struct HostOperation {
    std::vector<HostPart> parts;  // by rank; written before arriving
    alignas(64) std::atomic<std::uint64_t> generation{0};
    std::atomic<std::uint64_t> arrived{0}, left{0};              // ranks, counted over all uses
    alignas(64) std::atomic<std::uint64_t> claimed{0}, done{0};  // pieces of this use
};

}  // namespace lockstep
