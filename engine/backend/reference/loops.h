#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/backend/body_kernel.h"
#include "engine/graph/graph.h"

namespace lockstep::reference {

template <class T = double>
const T* input(const KernelCall& call, std::size_t i) {
    return reinterpret_cast<const T*>(call.inputs[i]);
}

template <class T = double>
T* output(const KernelCall& call, std::size_t i) {
    return reinterpret_cast<T*>(call.outputs[i]);
}

// log(sum(exp(z))), with the largest logit taken out so that exp cannot overflow.
inline double logSumExp(const double* z, std::int64_t classes) {
    const double largest = *std::max_element(z, z + classes);
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(z[c] - largest);
    return largest + std::log(sum);
}

// The extents of an image batch, or of its filters; a tensor of rank 2 is an image of 1 x 1.
struct Extents {
    std::int64_t n = 1, c = 1, h = 1, w = 1;

    std::int64_t count() const { return n * c * h * w; }
    std::int64_t at(std::int64_t in, std::int64_t ic, std::int64_t ih, std::int64_t iw) const {
        return ((in * c + ic) * h + ih) * w + iw;
    }
};

inline Extents extentsOf(const Shape& shape) {
    return {shape[0], shape[1], shape.rank() == 4 ? shape[2] : 1, shape.rank() == 4 ? shape[3] : 1};
}

// Calls visit(flat index) for every element of channel c.
template <class Visit>
void forEachInChannel(const Extents& x, std::int64_t c, Visit visit) {
    for (std::int64_t n = 0; n < x.n; ++n) {
        const std::int64_t begin = x.at(n, c, 0, 0);
        for (std::int64_t i = begin; i < begin + x.h * x.w; ++i) visit(i);
    }
}

// A running statistic after one more batch.
inline double blend(double momentum, double running, double fresh) {
    return (1 - momentum) * running + momentum * fresh;
}

inline const Shape& inputShape(const Graph& graph, const Node& node, std::size_t i) {
    return graph.typeOf(node.inputs[i]).shape;
}

inline const Shape& outputShape(const Graph& graph, const Node& node, std::size_t i) {
    return graph.typeOf(node.outputs[i]).shape;
}

}  // namespace lockstep::reference
