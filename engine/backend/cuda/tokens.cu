#include "engine/ops/tokens.h"

#include "engine/backend/cuda/broadcast_add.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

template <class T>
struct Transpose {
    std::int64_t rows, columns;  // of x, in every sample
    const T* x;
    T* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const std::int64_t sample = i / (rows * columns), row = i % rows, column = i / rows % columns;
        y[i] = x[(sample * rows + row) * columns + column];
    }
};

template <class T>
struct Pad {
    std::int64_t count;
    const T* x;
    T* y;
    LOCKSTEP_CARD void operator()(std::int64_t i) const { y[i] = i < count ? x[i] : T(0.0f); }
};

// Lengths are 1 to `tokens`, as whoever makes batches sees to; others are taken for the nearest of these.
LOCKSTEP_CARD inline std::int64_t tokensOf(const std::int32_t* lengths, std::int64_t sample, std::int64_t tokens) {
    const std::int64_t length = lengths[sample];
    return length < 1 ? 1 : length > tokens ? tokens : length;
}

template <class T>
struct SequenceMean {
    std::int64_t tokens, channels;
    const T* x;
    const std::int32_t* lengths;
    T* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const std::int64_t sample = i / channels, c = i % channels, length = tokensOf(lengths, sample, tokens);
        float sum = 0;
        for (std::int64_t t = 0; t < length; ++t) sum += static_cast<float>(x[(sample * tokens + t) * channels + c]);
        y[i] = T(sum / static_cast<float>(length));
    }
};

template <class T>
struct SequenceMeanBackward {
    std::int64_t tokens, channels;
    const T* dy;
    const std::int32_t* lengths;
    T* dx;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const std::int64_t sample = i / (tokens * channels), token = i / channels % tokens, c = i % channels;
        const std::int64_t length = tokensOf(lengths, sample, tokens);
        dx[i] = T(token < length ? static_cast<float>(dy[sample * channels + c]) / static_cast<float>(length) : 0.0f);
    }
};

}  // namespace

std::unique_ptr<Kernel> makeTranspose(const Order& order) {
    const Shape& shape = order.inputShape(0);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [rows = shape[1], columns = shape[2], count = shape.count()](
                                           const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, count, Transpose<T>{rows, columns, in<T>(call, 0), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeBroadcastAdd(const Order& order) {
    const std::int64_t count = order.inputShape(0).count(), width = count / order.inputShape(0)[0];
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            launchPacks<T>(stream, count, width,
                           BroadcastAdd<T>{width, in<T>(call, 0), in<T>(call, 1), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makePad(const Order& order) {
    const std::int64_t count = order.inputShape(0).count(), whole = order.outputShape(0).count();
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, whole, Pad<T>{count, in<T>(call, 0), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeSequenceMean(const Order& order) {
    const Shape shape = order.inputShape(0);
    return withFloat(order.input(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [shape](const KernelCall& call, cudaStream_t stream) {
            launchElements(
                stream, shape[0] * shape[2],
                SequenceMean<T>{shape[1], shape[2], in<T>(call, 0), in<std::int32_t>(call, 1), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeSequenceMeanBackward(const Order& order) {
    const Shape shape = order.outputShape(0);
    return withFloat(order.output(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [shape](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, shape.count(),
                           SequenceMeanBackward<T>{shape[1], shape[2], in<T>(call, 0), in<std::int32_t>(call, 1),
                                                   out<T>(call, 0)});
        });
    });
}

}  // namespace lockstep::cuda
