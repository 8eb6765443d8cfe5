#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "engine/backend/cuda/card.h"

// How kernels spread over a card, or over a host without one. A launch takes a function object, copies it to the card
// and calls it there; it returns before the work is done. Every reduction has one order, which depends on the extents
// alone, so results are the same bits from run to run, and a host adds up in the card's order.
namespace lockstep::cuda {

constexpr int kBlock = 256;  // threads of a block
constexpr int kWarp = 32;

// A team of threads that works on one thing, a row of a matrix for instance. Threads is 32, several teams then being a
// block, or a multiple of it, a block of its own.
template <int Threads>
class Team {
public:
    static_assert(Threads % kWarp == 0 && Threads <= 1024);
    LOCKSTEP_CARD explicit Team(std::int64_t index) : m_index(index) {}
    LOCKSTEP_CARD std::int64_t index() const { return m_index; }

    // f(i) for all i below count; the threads take them in turn.
    template <class F>
    LOCKSTEP_CARD void forEach(std::int64_t count, F f) const {
#if defined(__CUDA_ARCH__)
        for (std::int64_t i = threadIdx.x % Threads; i < count; i += Threads) f(i);
#else
        for (std::int64_t i = 0; i < count; ++i) f(i);
#endif
    }

    // What join makes of all f(i) and nothing, which changes none of them; known to all threads. T is copied freely.
    template <class T, class F, class Join>
    LOCKSTEP_CARD T reduce(std::int64_t count, T nothing, F f, Join join) const {
#if defined(__CUDA_ARCH__)
        T own = nothing;
        for (std::int64_t i = threadIdx.x % Threads; i < count; i += Threads) own = join(own, f(i));
        __shared__ T all[Threads == kWarp ? kBlock : Threads];
        T* const team = Threads == kWarp ? all + threadIdx.x / kWarp * kWarp : all;
        const int lane = threadIdx.x % Threads;
        barrier();  // whoever still reads the last result
        team[lane] = own;
        barrier();
        for (int half = Threads / 2; half > 0; half /= 2) {
            if (lane < half) team[lane] = join(team[lane], team[lane + half]);
            barrier();
        }
        return team[0];
#else
        T lanes[Threads];
        for (int lane = 0; lane < Threads; ++lane) lanes[lane] = nothing;
        for (std::int64_t i = 0; i < count; ++i) lanes[i % Threads] = join(lanes[i % Threads], f(i));
        for (int half = Threads / 2; half > 0; half /= 2)
            for (int lane = 0; lane < half; ++lane) lanes[lane] = join(lanes[lane], lanes[lane + half]);
        return lanes[0];
#endif
    }
    template <class T, class F>
    LOCKSTEP_CARD T sum(std::int64_t count, F f) const {
        return reduce(count, T{}, f, [](const T& a, const T& b) { return a + b; });
    }

    // What one thread wrote before, all threads of the team read behind it.
    LOCKSTEP_CARD void barrier() const {
#if defined(__CUDA_ARCH__)
        if constexpr (Threads == kWarp) __syncwarp();
        else __syncthreads();
#endif
    }
    // Memory that the team shares, `name` telling one from another; it holds what was there.
    template <class T, int Count, int name = 0>
    LOCKSTEP_CARD T* shared() const {
#if defined(__CUDA_ARCH__)
        static_assert(Threads != kWarp, "teams of one block would get the same memory");
        __shared__ T memory[Count];
#else
        static thread_local T memory[Count];
#endif
        return memory;
    }
    // In one thread only.
    template <class F>
    LOCKSTEP_CARD void once(F f) const {
#if defined(__CUDA_ARCH__)
        if (threadIdx.x % Threads == 0) f();
#else
        f();
#endif
    }

private:
    std::int64_t m_index;
};

// W neighbours in memory, read and written at once.
template <class T, int W>
struct alignas(sizeof(T) * W) Pack {
    T at[W];
};
template <int W, class T>
LOCKSTEP_CARD Pack<T, W> load(const T* from, std::int64_t i) {
    return *reinterpret_cast<const Pack<T, W>*>(from + i);
}
template <int W, class T>
LOCKSTEP_CARD void store(T* to, std::int64_t i, const Pack<T, W>& pack) {
    *reinterpret_cast<Pack<T, W>*>(to + i) = pack;
}

// K sums at once.
template <int K, class T = float>
struct Sums {
    T at[K] = {};
    LOCKSTEP_CARD Sums operator+(const Sums& other) const {
        Sums sum;
        for (int k = 0; k < K; ++k) sum.at[k] = at[k] + other.at[k];
        return sum;
    }
};

#if defined(__CUDACC__)

template <class Body>
__global__ void __launch_bounds__(kBlock) runElements(Body body, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x;
    if (i < count) body(i);
}

template <int W, class Body>
__global__ void __launch_bounds__(kBlock) runPacks(Body body, std::int64_t packs) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x;
    if (i < packs) body.template run<W>(i * W);
}

template <int Threads, class Body>
__global__ void __launch_bounds__(Threads == kWarp ? kBlock : Threads) runTeams(Body body, std::int64_t teams) {
    constexpr int kTeams = Threads == kWarp ? kBlock / kWarp : 1;
    const std::int64_t team = static_cast<std::int64_t>(blockIdx.x) * kTeams + threadIdx.x / Threads;
    if (team < teams) body(Team<Threads>(team));
}

// body(i) for all i below count.
template <class Body>
void launchElements(cudaStream_t stream, std::int64_t count, const Body& body) {
    if (count == 0) return;
    runElements<<<static_cast<unsigned>((count + kBlock - 1) / kBlock), kBlock, 0, stream>>>(body, count);
}

template <int W, class Body>
void launchPacksOf(cudaStream_t stream, std::int64_t packs, const Body& body) {
    if (packs == 0) return;
    runPacks<W><<<static_cast<unsigned>((packs + kBlock - 1) / kBlock), kBlock, 0, stream>>>(body, packs);
}

// body(team) for as many teams.
template <int Threads, class Body>
void launchTeams(cudaStream_t stream, std::int64_t teams, const Body& body) {
    if (teams == 0) return;
    constexpr int kTeams = Threads == kWarp ? kBlock / kWarp : 1;
    runTeams<Threads>
        <<<static_cast<unsigned>((teams + kTeams - 1) / kTeams), kTeams * Threads, 0, stream>>>(body, teams);
}

#else

template <class Body>
void launchElements(cudaStream_t stream, std::int64_t count, const Body& body) {
    launchOnHost(stream, [=] {
        for (std::int64_t i = 0; i < count; ++i) body(i);
    });
}

template <int W, class Body>
void launchPacksOf(cudaStream_t stream, std::int64_t packs, const Body& body) {
    launchOnHost(stream, [=] {
        for (std::int64_t i = 0; i < packs; ++i) body.template run<W>(i * W);
    });
}

template <int Threads, class Body>
void launchTeams(cudaStream_t stream, std::int64_t teams, const Body& body) {
    launchOnHost(stream, [=] {
        for (std::int64_t team = 0; team < teams; ++team) body(Team<Threads>(team));
    });
}

#endif

// body.run<W>(i) for the elements i to i + W - 1, over all below count: as many at once as 16 bytes hold of T where
// `whole`, a number of elements within which packs must not cross its end (a row, if all rows matter), is a multiple.
template <class T, class Body>
void launchPacks(cudaStream_t stream, std::int64_t count, std::int64_t whole, const Body& body) {
    constexpr int kWide = 16 / sizeof(T);
    if (whole % kWide == 0) return launchPacksOf<kWide>(stream, count / kWide, body);
    launchPacksOf<1>(stream, count, body);
}

}  // namespace lockstep::cuda
