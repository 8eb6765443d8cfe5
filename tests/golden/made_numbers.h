#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>

#include "engine/core/tensor.h"

namespace lockstep {

// The numbers that make_goldens.py and make_torchvision.py start from: between -0.5 and 0.5.
inline double uniform(std::uint64_t stream, std::uint64_t i) {
    std::uint32_t mixed = static_cast<std::uint32_t>(i * 2654435761u + stream * 40503u + 12345u);
    mixed = (mixed ^ (mixed >> 15)) * 2246822519u;
    return mixed / 4294967296.0 - 0.5;
}

// Weights of several axes about zero; of one about one (`aroundOne`) or zero.
template <class T>
void fillMade(HostTensor& tensor, std::uint64_t stream, bool aroundOne) {
    const Shape& shape = tensor.type().shape;
    const double scale = shape.rank() >= 2 ? std::sqrt(24.0 / static_cast<double>(shape.count() / shape[0])) : 0.2;
    const double shift = shape.rank() < 2 && aroundOne ? 1 : 0;
    std::uint64_t i = 0;
    for (T& value : tensor.as<T>()) value = static_cast<T>(shift + scale * uniform(stream, i++));
}

}  // namespace lockstep
