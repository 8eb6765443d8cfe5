#include "engine/data/drawn_places.h"

#include <algorithm>
#include <utility>

#include "engine/core/random.h"

namespace lockstep {

std::vector<std::int64_t> drawnPlaces(std::int64_t count, std::int64_t wanted, std::uint64_t seed,
                                      std::uint64_t stream) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> numbered;
    numbered.reserve(static_cast<std::size_t>(count));
    for (std::int64_t place = 0; place < count; ++place)
        numbered.emplace_back(CounterRng(seed, stream, 0, static_cast<std::uint64_t>(place)).bits64(0), place);
    wanted = std::min(wanted, count);
    std::ranges::nth_element(numbered, numbered.begin() + wanted);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < wanted; ++i) places.push_back(numbered[static_cast<std::size_t>(i)].second);
    std::ranges::sort(places);
    return places;
}

}  // namespace lockstep
