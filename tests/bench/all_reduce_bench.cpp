#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "engine/collective/host_group.h"

// lockstep_all_reduce_bench [MEGABYTES] [RANKS] [ROUNDS] [BUCKETS]: milliseconds of one exchange of gradients between
// ranks that are threads, all buckets in flight at once, as a step's end has them. Median, best and worst of the
// rounds.

using namespace lockstep;
using Clock = std::chrono::steady_clock;

namespace {

double number(int argc, char** argv, int at, double fallback) { return argc > at ? std::atof(argv[at]) : fallback; }

std::vector<double> rounds(Collective& group, std::size_t floats, int buckets, int count) {
    std::vector<float> gradients(floats, 1.0f / static_cast<float>(group.size()));
    std::vector<double> milliseconds;
    for (int round = -3; round < count; ++round) {
        group.barrier();
        const auto begin = Clock::now();
        Ticket last;
        for (int bucket = 0; bucket < buckets; ++bucket) {
            const std::size_t from = floats * static_cast<std::size_t>(bucket) / static_cast<std::size_t>(buckets);
            const std::size_t to = floats * static_cast<std::size_t>(bucket + 1) / static_cast<std::size_t>(buckets);
            last = group.allReduce(gradients.data() + from, to - from, DType::F32);
        }
        group.wait(last);
        group.barrier();
        if (round >= 0) milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
        std::ranges::fill(gradients, 1.0f / static_cast<float>(group.size()));
    }
    std::ranges::sort(milliseconds);
    return milliseconds;
}

}  // namespace

int main(int argc, char** argv) {
    const auto floats = static_cast<std::size_t>(number(argc, argv, 1, 44.7) * 1e6 / sizeof(float));
    const int ranks = static_cast<int>(number(argc, argv, 2, 2)), count = static_cast<int>(number(argc, argv, 3, 50));
    const int buckets = static_cast<int>(number(argc, argv, 4, 11));
    const auto group = makeHostGroup(ranks);
    std::vector<double> result;
    std::vector<std::jthread> threads;
    for (const auto& endpoint : group) {
        threads.emplace_back([&, own = endpoint.get()] {
            auto milliseconds = rounds(*own, floats, buckets, count);
            if (own->rank() == 0) result = std::move(milliseconds);
        });
    }
    threads.clear();
    std::printf("%.1f MB, %d ranks, %d buckets: median %.2f ms, best %.2f, worst %.2f\n",
                static_cast<double>(floats) * sizeof(float) / 1e6, ranks, buckets, result[result.size() / 2],
                result.front(), result.back());
}
