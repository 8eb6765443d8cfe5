#pragma once
#include <tuple>

#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

// to[i] = f(from[i]...), computed in float (in double among doubles), with f a function object.
template <class F, class To, class... From>
struct Map {
    F f;
    To* to;
    std::tuple<const From*...> from;

    template <int W>
    LOCKSTEP_CARD void run(std::int64_t i) const {
        std::apply([&](const From*... each) { apply<W>(i, load<W>(each, i)...); }, from);
    }

private:
    template <int W>
    LOCKSTEP_CARD void apply(std::int64_t i, const Pack<From, W>&... x) const {
        Pack<To, W> y;
        for (int k = 0; k < W; ++k) y.at[k] = static_cast<To>(f(static_cast<Computed<From>>(x.at[k])...));
        store(to, i, y);
    }
};

template <class F, class To, class... From>
void launchMap(cudaStream_t stream, std::int64_t count, const F& f, To* to, const From*... from) {
    launchPacks<To>(stream, count, count, Map<F, To, From...>{f, to, {from...}});
}

// Of a node that is f of its first Inputs inputs, all of the output's type.
template <int Inputs, class F>
std::unique_ptr<Kernel> mapKernel(const Order& order, F f) {
    return withFloat(order.output(0).type.dtype, order.where(), [&]<class T>(T) {
        return kernelOf(order.where(),
                        [f, count = order.outputShape(0).count()](const KernelCall& call, cudaStream_t stream) {
                            if constexpr (Inputs == 1) launchMap(stream, count, f, out<T>(call, 0), in<T>(call, 0));
                            else launchMap(stream, count, f, out<T>(call, 0), in<T>(call, 0), in<T>(call, 1));
                        });
    });
}

}  // namespace lockstep::cuda
