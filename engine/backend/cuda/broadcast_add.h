#pragma once
#include "engine/backend/cuda/grid.h"

namespace lockstep::cuda {

// y = x + table, which is repeated every `width` elements; y may be x.
template <class T>
struct BroadcastAdd {
    std::int64_t width;
    const T *x, *table;
    T* y;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        auto pack = load<W>(x, i);
        const auto added = load<W>(table, i % width);
        for (int k = 0; k < W; ++k) pack.at[k] = T(static_cast<float>(pack.at[k]) + static_cast<float>(added.at[k]));
        store(y, i, pack);
    }
};

}  // namespace lockstep::cuda
