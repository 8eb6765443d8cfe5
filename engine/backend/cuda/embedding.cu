#include "engine/ops/embedding.h"

#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

// A token that is no row of the table, which a batch does not have, reads not a number, so that the step is skipped,
// and adds to no row.
template <class T>
struct Embedding {
    std::int64_t vocabulary, width;
    const std::int32_t* tokens;
    const T* table;
    T* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const std::int64_t token = tokens[i / width];
        y[i] =
            token >= 0 && token < vocabulary ? table[token * width + i % width] : T(std::bit_cast<float>(0x7fc00000u));
    }
};

// Each element of the table looks through all tokens, in their order.
template <class T>
struct EmbeddingBackward {
    std::int64_t count, width;
    const std::int32_t* tokens;
    const T* dy;
    T* dtable;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const std::int64_t row = i / width, c = i % width;
        float sum = 0;
        for (std::int64_t place = 0; place < count; ++place)
            if (tokens[place] == row) sum += static_cast<float>(dy[place * width + c]);
        dtable[i] = T(sum);
    }
};

}  // namespace

std::unique_ptr<Kernel> makeEmbedding(const Order& order) {
    const Shape table = order.inputShape(1);
    const std::int64_t count = order.outputShape(0).count();
    return withFloat(order.output(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            launchElements(
                stream, count,
                Embedding<T>{table[0], table[1], in<std::int32_t>(call, 0), in<T>(call, 1), out<T>(call, 0)});
        });
    });
}

std::unique_ptr<Kernel> makeEmbeddingBackward(const Order& order) {
    const Shape table = order.outputShape(0);
    const std::int64_t count = order.inputShape(0).count();
    return withFloat(order.output(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(), [=](const KernelCall& call, cudaStream_t stream) {
            launchElements(
                stream, table.count(),
                EmbeddingBackward<T>{count, table[1], in<std::int32_t>(call, 0), in<T>(call, 1), out<T>(call, 0)});
        });
    });
}

}  // namespace lockstep::cuda
