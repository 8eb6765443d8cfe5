#include "engine/ops/pool2d.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

namespace {

// The part of one window that lies inside the image.
struct Window {
    std::int64_t plane;      // index of the first element of its image plane in x
    std::int64_t top, left;  // of the whole window, padding included
    std::int64_t rowBegin, rowEnd, columnBegin, columnEnd;
};

struct Pooling {
    Extents x, y;
    Pool2dAttrs attrs;

    // Calls visit(y index, window) for every element of y.
    template <class Visit>
    void forEachWindow(Visit visit) const {
        for (std::int64_t n = 0; n < y.n; ++n)
            for (std::int64_t c = 0; c < y.c; ++c)
                for (std::int64_t p = 0; p < y.h; ++p)
                    for (std::int64_t q = 0; q < y.w; ++q) visit(y.at(n, c, p, q), windowAt(n, c, p, q));
    }

    // Calls visit(x index) for every element of the image inside the window.
    template <class Visit>
    void forEachElement(const Window& window, Visit visit) const {
        for (std::int64_t row = window.rowBegin; row < window.rowEnd; ++row)
            for (std::int64_t column = window.columnBegin; column < window.columnEnd; ++column)
                visit(window.plane + row * x.w + column);
    }

    double divisor(const Window& window) const {
        if (attrs.countPadding) return static_cast<double>(attrs.window[0] * attrs.window[1]);
        return static_cast<double>((window.rowEnd - window.rowBegin) * (window.columnEnd - window.columnBegin));
    }

    std::int64_t positionIn(const Window& window, std::int64_t xIndex) const {
        const std::int64_t row = (xIndex - window.plane) / x.w, column = (xIndex - window.plane) % x.w;
        return (row - window.top) * attrs.window[1] + column - window.left;
    }

    std::int64_t elementAt(const Window& window, std::int64_t position) const {
        const std::int64_t row = window.top + position / attrs.window[1],
                           column = window.left + position % attrs.window[1];
        return window.plane + row * x.w + column;
    }

private:
    Window windowAt(std::int64_t n, std::int64_t c, std::int64_t p, std::int64_t q) const {
        const std::int64_t top = p * attrs.stride[0] - attrs.padding[0], left = q * attrs.stride[1] - attrs.padding[1];
        return {x.at(n, c, 0, 0),
                top,
                left,
                std::max<std::int64_t>(top, 0),
                std::min(top + attrs.window[0], x.h),
                std::max<std::int64_t>(left, 0),
                std::min(left + attrs.window[1], x.w)};
    }
};

Pooling forwardPooling(const Graph& graph, const Node& node) {
    return {extentsOf(inputShape(graph, node, 0)), extentsOf(outputShape(graph, node, 0)),
            node.attrs.as<Pool2dAttrs>()};
}

Pooling backwardPooling(const Graph& graph, const Node& node) {
    return {extentsOf(outputShape(graph, node, 0)), extentsOf(inputShape(graph, node, 0)),
            node.attrs.as<Pool2dBackwardAttrs>().pool};
}

// The first of the largest elements. A NaN counts as larger than all, so that it is not lost.
std::int64_t largestIn(const Pooling& pool, const Window& window, const double* x) {
    std::int64_t best = -1;
    pool.forEachElement(window, [&](std::int64_t i) {
        if (best < 0 || x[i] > x[best] || (std::isnan(x[i]) && !std::isnan(x[best]))) best = i;
    });
    return best;
}

}  // namespace

std::unique_ptr<Kernel> makeMaxPool2d(const Graph& graph, const Node& node) {
    return kernelOf([pool = forwardPooling(graph, node)](const KernelCall& call) {
        const double* x = input(call, 0);
        double* y = output(call, 0);
        auto* argmax = output<std::int32_t>(call, 1);
        pool.forEachWindow([&](std::int64_t i, const Window& window) {
            const std::int64_t best = largestIn(pool, window, x);
            y[i] = x[best];
            argmax[i] = static_cast<std::int32_t>(pool.positionIn(window, best));
        });
    });
}

std::unique_ptr<Kernel> makeMaxPool2dBackward(const Graph& graph, const Node& node) {
    return kernelOf([pool = backwardPooling(graph, node)](const KernelCall& call) {
        const double* dy = input(call, 0);
        const auto* argmax = input<std::int32_t>(call, 1);
        double* dx = output(call, 0);
        std::fill_n(dx, pool.x.count(), 0.0);
        pool.forEachWindow(
            [&](std::int64_t i, const Window& window) { dx[pool.elementAt(window, argmax[i])] += dy[i]; });
    });
}

std::unique_ptr<Kernel> makeAveragePool2d(const Graph& graph, const Node& node) {
    return kernelOf([pool = forwardPooling(graph, node)](const KernelCall& call) {
        const double* x = input(call, 0);
        double* y = output(call, 0);
        pool.forEachWindow([&](std::int64_t i, const Window& window) {
            double sum = 0;
            pool.forEachElement(window, [&](std::int64_t j) { sum += x[j]; });
            y[i] = sum / pool.divisor(window);
        });
    });
}

std::unique_ptr<Kernel> makeAveragePool2dBackward(const Graph& graph, const Node& node) {
    return kernelOf([pool = backwardPooling(graph, node)](const KernelCall& call) {
        const double* dy = input(call, 0);
        double* dx = output(call, 0);
        std::fill_n(dx, pool.x.count(), 0.0);
        pool.forEachWindow([&](std::int64_t i, const Window& window) {
            const double share = dy[i] / pool.divisor(window);
            pool.forEachElement(window, [&](std::int64_t j) { dx[j] += share; });
        });
    });
}

std::unique_ptr<Kernel> makeGlobalAveragePool2d(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(inputShape(graph, node, 0));
    return kernelOf([extents](const KernelCall& call) {
        const double* x = input(call, 0);
        double* y = output(call, 0);
        const std::int64_t plane = extents.h * extents.w;
        for (std::int64_t i = 0; i < extents.n * extents.c; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < plane; ++j) sum += x[i * plane + j];
            y[i] = sum / static_cast<double>(plane);
        }
    });
}

std::unique_ptr<Kernel> makeGlobalAveragePool2dBackward(const Graph& graph, const Node& node) {
    const Extents extents = extentsOf(outputShape(graph, node, 0));
    return kernelOf([extents](const KernelCall& call) {
        const double* dy = input(call, 0);
        double* dx = output(call, 0);
        const std::int64_t plane = extents.h * extents.w;
        for (std::int64_t i = 0; i < extents.count(); ++i) dx[i] = dy[i / plane] / static_cast<double>(plane);
    });
}

}  // namespace lockstep::reference
