#pragma once
#include <cstdint>

namespace lockstep {

// engine/core/random on the card: the same bits from the same key (see there for the source).
struct DeviceRng {
    std::uint32_t key[2];
    std::uint32_t counter[3];
};

__device__ inline std::uint64_t mixBits(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

__device__ inline DeviceRng deviceRng(std::uint64_t seed, std::uint64_t stream, std::uint64_t epoch, std::uint64_t index) {
    const std::uint64_t key = mixBits(seed + 0x9e3779b97f4a7c15ull) ^ mixBits(stream);
    const std::uint64_t where = mixBits(mixBits(epoch + 0x632be59bd9b4e019ull) ^ key) + index;
    return {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)},
            {static_cast<std::uint32_t>(where), static_cast<std::uint32_t>(where >> 32), static_cast<std::uint32_t>(index)}};
}

__device__ inline std::uint32_t bitsOf(const DeviceRng& rng, std::uint32_t element) {
    std::uint32_t c[4] = {element / 4, rng.counter[0], rng.counter[1], rng.counter[2]};
    std::uint32_t k0 = rng.key[0], k1 = rng.key[1];
    for (int round = 0; round < 10; ++round) {
        const std::uint32_t high0 = __umulhi(0xD2511F53u, c[0]), low0 = 0xD2511F53u * c[0];
        const std::uint32_t high1 = __umulhi(0xCD9E8D57u, c[2]), low1 = 0xCD9E8D57u * c[2];
        c[0] = high1 ^ c[1] ^ k0;
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ k1;
        c[3] = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c[element % 4];
}

}  // namespace lockstep
