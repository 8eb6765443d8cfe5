#include <cstdio>
#include <cstdlib>

#include "engine/data/sampler.h"

// lockstep_sample_order COUNT SEED: which sample stands at each position of the first epoch, one a line, for scripts
// that let a peer train on the same batches.
int main(int count, char** words) {
    const std::int64_t samples = count > 2 ? std::atoll(words[1]) : 0;
    if (samples < 1) {
        std::fprintf(stderr, "usage: %s COUNT SEED\n", words[0]);
        return 2;
    }
    const lockstep::Sampler sampler(samples, 1, std::strtoull(words[2], nullptr, 10),
                                    lockstep::Sampler::Order::Shuffled);
    for (std::int64_t i = 0; i < samples; ++i) std::printf("%lld\n", static_cast<long long>(sampler.sampleAt(0, i)));
    return 0;
}
