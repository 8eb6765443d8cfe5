#include "engine/search/search_points.h"

#include "engine/core/random.h"
#include "engine/search/sobol.h"

namespace lockstep {

std::vector<double> searchPoint(std::string_view method, std::uint64_t seed, std::uint32_t index,
                                std::size_t dimensions) {
    if (method == "sobol") return scrambledSobolPoint(seed, index, static_cast<int>(dimensions));
    const CounterRng rng(seed, streamOf("random search"), 0, index);
    std::vector<double> point;
    for (std::uint32_t i = 0; i < dimensions; ++i) point.push_back(rng.uniform(i));
    return point;
}

}  // namespace lockstep
