#include "engine/train/find_batch.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/train/memory_need.h"
#include "engine/train/trainer.h"

namespace lockstep {

namespace {

double best(std::span<const BatchSpeed> speeds) {
    return std::ranges::max(speeds, {}, &BatchSpeed::samplesPerSecond).samplesPerSecond;
}

}  // namespace

std::int64_t largestThatFits(const std::function<bool(std::int64_t)>& fits, std::int64_t unit, std::int64_t most) {
    most = most / unit * unit;
    std::int64_t fitting = 0, tooLarge = most + unit;
    for (std::int64_t batch = unit; fitting < most; batch = std::min(2 * batch, most)) {
        if (!fits(batch)) {
            tooLarge = batch;
            break;
        }
        fitting = batch;
    }
    while (tooLarge - fitting > unit) {
        const std::int64_t middle = (fitting + tooLarge) / 2 / unit * unit;
        (fits(middle) ? fitting : tooLarge) = middle;
    }
    return fitting;
}

std::int64_t largestBatch(const ResolvedSpec& resolved, const DatasetInfo& train, const DatasetInfo& test) {
    ResolvedSpec tried = resolved;
    const auto fits = [&](std::int64_t batch) {
        tried.spec.batch = batch;
        return fitsMemory(tried, planRun(tried, train, test));
    };
    return largestThatFits(fits, leastBatch(resolved), train.count);
}

BatchSpeed kneeOf(const std::vector<BatchSpeed>& speeds) {
    const double enough = kKneeShare * best(speeds);
    BatchSpeed knee;
    for (const BatchSpeed& each : speeds) {
        if (each.samplesPerSecond >= enough && (knee.batch == 0 || each.batch < knee.batch)) knee = each;
    }
    return knee;
}

bool hasFlattened(const std::vector<BatchSpeed>& speeds) {
    constexpr std::size_t kLooks = 2;
    constexpr double kFaster = 1.05;
    if (speeds.size() <= kLooks) return false;
    const std::span all(speeds);
    return best(all.last(kLooks)) < kFaster * best(all.first(speeds.size() - kLooks));
}

BatchSpeed timeBatch(ResolvedSpec resolved, const DatasetInfo& train, std::int64_t batch, double seconds) {
    resolved.spec.batch = batch;
    const ModelInput input = modelInput(*resolved.model, train, batch, resolved.spec.labelSmoothing);
    return {batch, benchmark({resolved, input, 1, 1, seconds}).samplesPerSecond};
}

}  // namespace lockstep
