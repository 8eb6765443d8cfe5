// What this machine's processors can multiply and add right now, in GFLOP/s of f32: the ceiling of every figure of
// speed.
//   lockstep_fma_bench [THREADS]         the best of twenty slices of a few milliseconds
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kChains = 12;  // independent ones, so that the units' latency is hidden
constexpr long kRepeats = 1'000'000;

__attribute__((target("avx512f"))) void multiplyAndAdd512() {
    __m512 sums[kChains], x = _mm512_set1_ps(1.0f), y = _mm512_set1_ps(1e-9f);
    for (auto& sum : sums) sum = _mm512_setzero_ps();
    for (long i = 0; i < kRepeats; ++i) {
#pragma GCC unroll 12
        for (auto& sum : sums) {
            sum = _mm512_fmadd_ps(x, y, sum);
            asm volatile("" : "+v"(sum));
        }
    }
}

__attribute__((target("avx2,fma"))) void multiplyAndAdd256() {
    __m256 sums[kChains], x = _mm256_set1_ps(1.0f), y = _mm256_set1_ps(1e-9f);
    for (auto& sum : sums) sum = _mm256_setzero_ps();
    for (long i = 0; i < kRepeats; ++i) {
#pragma GCC unroll 12
        for (auto& sum : sums) {
            sum = _mm256_fmadd_ps(x, y, sum);
            asm volatile("" : "+x"(sum));
        }
    }
}

double secondsOf(void (*slice)(), int threads) {
    const auto begin = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> others;
        for (int i = 1; i < threads; ++i) others.emplace_back(slice);
        slice();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int count, char** arguments) {
    const int threads =
        count > 1 ? std::max(1, std::atoi(arguments[1])) : static_cast<int>(std::thread::hardware_concurrency());
    const bool wide = __builtin_cpu_supports("avx512f") != 0;
    if (!wide && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) {
        std::fprintf(stderr, "this processor has no fused multiply-add\n");
        return 1;
    }
    double best = 0;
    for (int i = 0; i < 20; ++i) {
        const double seconds = secondsOf(wide ? multiplyAndAdd512 : multiplyAndAdd256, threads);
        best = std::max(best, 2.0 * (wide ? 16 : 8) * kChains * kRepeats * threads / seconds * 1e-9);
    }
    std::printf("%.1f\n", best);
}
