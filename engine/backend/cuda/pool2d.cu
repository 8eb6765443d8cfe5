#include "engine/ops/pool2d.h"

#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/image.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

// The part of a window along one extent that lies inside the image.
struct Reach {
    std::int64_t start, begin, end;  // start: of the whole window, padding included
};

struct Pooling {
    Image x, y;
    int window[2], stride[2], padding[2];
    bool countPadding;

    Pooling(const Value& big, const Value& small, const Pool2dAttrs& attrs)
        : x(big),
          y(small),
          window{attrs.window[0], attrs.window[1]},
          stride{attrs.stride[0], attrs.stride[1]},
          padding{attrs.padding[0], attrs.padding[1]},
          countPadding(attrs.countPadding) {}

    LOCKSTEP_CARD Reach rows(std::int64_t p) const { return reach(p, 0, x.h); }
    LOCKSTEP_CARD Reach columns(std::int64_t q) const { return reach(q, 1, x.w); }
    LOCKSTEP_CARD float share(const Reach& rows, const Reach& columns) const {
        const std::int64_t area = (rows.end - rows.begin) * (columns.end - columns.begin);
        return 1 / static_cast<float>(countPadding ? window[0] * window[1] : area);
    }
    // visit(p, q) for every window that reaches pixel (row, column).
    template <class Visit>
    LOCKSTEP_CARD void forEachWindowOver(std::int64_t row, std::int64_t column, Visit visit) const {
        for (std::int64_t p = first(row, 0); p < y.h && p * stride[0] - padding[0] <= row; ++p)
            for (std::int64_t q = first(column, 1); q < y.w && q * stride[1] - padding[1] <= column; ++q) visit(p, q);
    }

private:
    LOCKSTEP_CARD Reach reach(std::int64_t at, int axis, std::int64_t extent) const {
        const std::int64_t start = at * stride[axis] - padding[axis], end = start + window[axis];
        return {start, start > 0 ? start : 0, end < extent ? end : extent};
    }
    // The first window that ends behind a pixel.
    LOCKSTEP_CARD std::int64_t first(std::int64_t pixel, int axis) const {
        const std::int64_t before = pixel + padding[axis] - window[axis] + 1;
        return before <= 0 ? 0 : (before + stride[axis] - 1) / stride[axis];
    }
};

// The first of the largest elements; a NaN counts as larger than all, so that it is not lost.
template <class T>
struct MaxPool {
    Pooling pool;
    const T* x;
    T* y;
    std::int32_t* argmax;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place at = pool.y.placeOf(i);
        const Reach rows = pool.rows(at.h), columns = pool.columns(at.w);
        float best = 0;
        std::int64_t where = -1;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            for (std::int64_t column = columns.begin; column < columns.end; ++column) {
                const float value = x[pool.x.at(at.n, at.c, row, column)];
                if (where >= 0 && !(value > best) && (value == value || best != best)) continue;
                best = value;
                where = (row - rows.start) * pool.window[1] + column - columns.start;
            }
        }
        y[i] = T(best);
        argmax[i] = static_cast<std::int32_t>(where);
    }
};

template <class T>
struct MaxPoolBackward {
    Pooling pool;
    const T* dy;
    const std::int32_t* argmax;
    T* dx;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place at = pool.x.placeOf(i);
        float sum = 0;
        pool.forEachWindowOver(at.h, at.w, [&](std::int64_t p, std::int64_t q) {
            const std::int64_t from = pool.y.at(at.n, at.c, p, q);
            const std::int64_t own = (at.h - pool.rows(p).start) * pool.window[1] + at.w - pool.columns(q).start;
            if (argmax[from] == own) sum += static_cast<float>(dy[from]);
        });
        dx[i] = T(sum);
    }
};

template <class T>
struct AveragePool {
    Pooling pool;
    const T* x;
    T* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place at = pool.y.placeOf(i);
        const Reach rows = pool.rows(at.h), columns = pool.columns(at.w);
        float sum = 0;
        for (std::int64_t row = rows.begin; row < rows.end; ++row)
            for (std::int64_t column = columns.begin; column < columns.end; ++column)
                sum += static_cast<float>(x[pool.x.at(at.n, at.c, row, column)]);
        y[i] = T(sum * pool.share(rows, columns));
    }
};

template <class T>
struct AveragePoolBackward {
    Pooling pool;
    const T* dy;
    T* dx;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place at = pool.x.placeOf(i);
        float sum = 0;
        pool.forEachWindowOver(at.h, at.w, [&](std::int64_t p, std::int64_t q) {
            sum += static_cast<float>(dy[pool.y.at(at.n, at.c, p, q)]) * pool.share(pool.rows(p), pool.columns(q));
        });
        dx[i] = T(sum);
    }
};

template <class T>
struct GlobalAverage {
    Image image;
    const T* x;
    T* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const std::int64_t n = i / image.c, c = i % image.c;
        float sum = 0;
        for (std::int64_t row = 0; row < image.h; ++row)
            for (std::int64_t column = 0; column < image.w; ++column)
                sum += static_cast<float>(x[image.at(n, c, row, column)]);
        y[i] = T(sum / static_cast<float>(image.h * image.w));
    }
};

template <class T>
struct GlobalAverageBackward {
    Image image;
    const T* dy;
    T* dx;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place at = image.placeOf(i);
        dx[i] = T(static_cast<float>(dy[at.n * image.c + at.c]) / static_cast<float>(image.h * image.w));
    }
};

}  // namespace

std::unique_ptr<Kernel> makeMaxPool2d(const Order& order) {
    const Pooling pool(order.input(0), order.output(0), order.node.attrs.as<Pool2dAttrs>());
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [pool](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, pool.y.count(),
                           MaxPool<T>{pool, in<T>(call, 0), out<T>(call, 0), out<std::int32_t>(call, 1)});
        });
    });
}

std::unique_ptr<Kernel> makeMaxPool2dBackward(const Order& order) {
    const Pooling pool(order.output(0), order.input(0), order.node.attrs.as<Pool2dBackwardAttrs>().pool);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [pool](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, pool.x.count(),
                           MaxPoolBackward<T>{pool, in<T>(call, 0), in<std::int32_t>(call, 1), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeAveragePool2d(const Order& order) {
    const Pooling pool(order.input(0), order.output(0), order.node.attrs.as<Pool2dAttrs>());
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [pool](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, pool.y.count(), AveragePool<T>{pool, in<T>(call, 0), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeAveragePool2dBackward(const Order& order) {
    const Pooling pool(order.output(0), order.input(0), order.node.attrs.as<Pool2dBackwardAttrs>().pool);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [pool](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, pool.x.count(), AveragePoolBackward<T>{pool, in<T>(call, 0), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeGlobalAveragePool2d(const Order& order) {
    const Image image(order.input(0));
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [image](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, image.n * image.c, GlobalAverage<T>{image, in<T>(call, 0), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeGlobalAveragePool2dBackward(const Order& order) {
    const Image image(order.output(0));
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [image](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, image.count(), GlobalAverageBackward<T>{image, in<T>(call, 0), out<T>(call, 0)});
        });
    });
}

}  // namespace lockstep::cuda
