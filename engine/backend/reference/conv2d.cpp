#include "engine/ops/conv2d.h"

#include <algorithm>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

// A convolution is bilinear: y is a sum of products x * w. So are its gradients, over the same triples of elements:
// dx[x] += dy[y] * w[w] and dw[w] += x[x] * dy[y].
struct Convolution {
    Extents x, w, y;  // N,C,H,W; K,C/groups,R,S; N,K,P,Q
    Conv2dAttrs attrs;

    // Calls product(x, w, y), the flat indices, for every triple; products with padding are left out.
    template <class Product>
    void forEachProduct(Product product) const {
        for (std::int64_t n = 0; n < y.n; ++n)
            for (std::int64_t k = 0; k < y.c; ++k)
                for (std::int64_t p = 0; p < y.h; ++p)
                    for (std::int64_t q = 0; q < y.w; ++q) forEachTap(n, k, p, q, product);
    }

private:
    template <class Product>
    void forEachTap(std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q, Product& product) const {
        const std::int64_t firstChannel = k / (y.c / attrs.groups) * w.c;
        const std::int64_t to = y.at(n, k, p, q);
        for (std::int64_t c = 0; c < w.c; ++c) {
            for (std::int64_t r = 0; r < w.h; ++r) {
                const std::int64_t row = p * attrs.stride[0] - attrs.padding[0] + r * attrs.dilation[0];
                if (row < 0 || row >= x.h) continue;
                for (std::int64_t s = 0; s < w.w; ++s) {
                    const std::int64_t column = q * attrs.stride[1] - attrs.padding[1] + s * attrs.dilation[1];
                    if (column < 0 || column >= x.w) continue;
                    product(x.at(n, firstChannel + c, row, column), w.at(k, c, r, s), to);
                }
            }
        }
    }
};

}  // namespace

std::unique_ptr<Kernel> makeConv2d(const Graph& graph, const Node& node) {
    const Convolution conv{extentsOf(inputShape(graph, node, 0)), extentsOf(inputShape(graph, node, 1)),
                           extentsOf(outputShape(graph, node, 0)), node.attrs.as<Conv2dAttrs>()};
    const bool hasBias = node.inputs.size() == 3;
    return kernelOf([conv, hasBias](const KernelCall& call) {
        const double *x = input(call, 0), *w = input(call, 1), *bias = hasBias ? input(call, 2) : nullptr;
        double* y = output(call, 0);
        const std::int64_t plane = conv.y.h * conv.y.w;
        for (std::int64_t i = 0; i < conv.y.count(); ++i) y[i] = bias ? bias[i / plane % conv.y.c] : 0;
        conv.forEachProduct([=](auto xi, auto wi, auto yi) { y[yi] += x[xi] * w[wi]; });
    });
}

std::unique_ptr<Kernel> makeConv2dBackwardData(const Graph& graph, const Node& node) {
    const Convolution conv{extentsOf(outputShape(graph, node, 0)), extentsOf(inputShape(graph, node, 1)),
                           extentsOf(inputShape(graph, node, 0)), node.attrs.as<Conv2dBackwardAttrs>().conv};
    return kernelOf([conv](const KernelCall& call) {
        const double *dy = input(call, 0), *w = input(call, 1);
        double* dx = output(call, 0);
        std::fill_n(dx, conv.x.count(), 0.0);
        conv.forEachProduct([=](auto xi, auto wi, auto yi) { dx[xi] += dy[yi] * w[wi]; });
    });
}

std::unique_ptr<Kernel> makeConv2dBackwardWeights(const Graph& graph, const Node& node) {
    const Convolution conv{extentsOf(inputShape(graph, node, 0)), extentsOf(outputShape(graph, node, 0)),
                           extentsOf(inputShape(graph, node, 1)), node.attrs.as<Conv2dBackwardAttrs>().conv};
    return kernelOf([conv](const KernelCall& call) {
        const double *x = input(call, 0), *dy = input(call, 1);
        double* dw = output(call, 0);
        std::fill_n(dw, conv.w.count(), 0.0);
        conv.forEachProduct([=](auto xi, auto wi, auto yi) { dw[wi] += x[xi] * dy[yi]; });
    });
}

std::unique_ptr<Kernel> makeConv2dBackwardBias(const Graph& graph, const Node& node) {
    const Extents y = extentsOf(inputShape(graph, node, 0));
    return kernelOf([y](const KernelCall& call) {
        const double* dy = input(call, 0);
        double* dbias = output(call, 0);
        std::fill_n(dbias, y.c, 0.0);
        const std::int64_t plane = y.h * y.w;
        for (std::int64_t i = 0; i < y.count(); ++i) dbias[i / plane % y.c] += dy[i];
    });
}

}  // namespace lockstep::reference
