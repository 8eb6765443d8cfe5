#pragma once
#include <cstddef>

#include <omp.h>

// Work shared among the threads of a device, always cut in the same places, so that results do not depend on timing.
namespace lockstep::cpu {

inline std::size_t divideUp(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
inline std::size_t roundUp(std::size_t a, std::size_t b) { return divideUp(a, b) * b; }

constexpr std::size_t kSmallWork = 16 * 1024;  // floats: below this, waking the team costs more than it brings

struct Range {
    std::size_t begin, end;
};
inline Range partOf(std::size_t items, std::size_t part, std::size_t parts) {
    return {items * part / parts, items * (part + 1) / parts};
}

// body(begin, end) for consecutive parts of 0…items; `work` is the size of the whole in floats.
template <class Body>
void inParallel(int threads, std::size_t items, std::size_t work, Body body) {
    if (threads == 1 || items < 2 || work < kSmallWork) return body(std::size_t{0}, items);
#pragma omp parallel num_threads(threads)
    {
        const auto [begin, end] = partOf(items, static_cast<std::size_t>(omp_get_thread_num()),
                                         static_cast<std::size_t>(omp_get_num_threads()));
        if (begin < end) body(begin, end);
    }
}

// The same for `count` floats, cut at multiples of 16.
template <class Body>
void overFloats(int threads, std::size_t count, Body body) {
    inParallel(threads, (count + 15) / 16, count,
               [&](std::size_t begin, std::size_t end) { body(begin * 16, end * 16 < count ? end * 16 : count); });
}

// body(part, begin, end) for each of `parts` consecutive parts, whatever number of threads there are: for sums that are
// kept per part and added up in their order.
template <class Body>
void inParts(int parts, std::size_t items, Body body) {
    const auto all = static_cast<std::size_t>(parts);
#pragma omp parallel num_threads(parts) if (parts > 1 && items > 1)
    for (auto part = static_cast<std::size_t>(omp_get_thread_num()); part < all;
         part += static_cast<std::size_t>(omp_get_num_threads())) {
        const auto [begin, end] = partOf(items, part, all);
        body(part, begin, end);
    }
}

}  // namespace lockstep::cpu
