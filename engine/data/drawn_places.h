#pragma once
#include <cstdint>
#include <vector>

namespace lockstep {

// `wanted` of `count` places, at most all of them, by hash: those with the smallest random numbers of (seed, stream),
// in their order. More places that come behind the others change few of those that are drawn.
std::vector<std::int64_t> drawnPlaces(std::int64_t count, std::int64_t wanted, std::uint64_t seed,
                                      std::uint64_t stream);

}  // namespace lockstep
