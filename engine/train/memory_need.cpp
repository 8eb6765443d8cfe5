#include "engine/train/memory_need.h"

#include <algorithm>
#include <cmath>

#include "engine/core/bytes_text.h"

namespace lockstep {

namespace {

// What a card's driver and libraries take for themselves, beside the arenas: contexts, workspaces, code.
constexpr std::size_t kLibraryBytes = std::size_t{600} << 20;

struct SharedMemory {
    std::string name;
    std::size_t freeBytes = 0;
    MemoryUse use;  // of all ranks on it
};

std::string parts(const MemoryUse& use) {
    return bytesText(use.weights) + " for weights, gradients and what the optimizer keeps, " +
           bytesText(use.activations) + " for activations, " + bytesText(use.batches) + " for batches" +
           (use.dataset > 0 ? ", " + bytesText(use.dataset) + " for the dataset's images" : "");
}

// The first that has less free than its ranks need; those that nothing is known of have enough.
std::optional<SharedMemory> shortOne(const ResolvedSpec& resolved, const RunPlan& plan) {
    const bool isHost = resolved.backend->hostMemory();
    for (const DeviceInfo& info : resolved.backend->devices()) {
        SharedMemory memory{isHost ? "this machine" : info.id, info.facts.freeBytes, {}};
        if (memory.freeBytes == 0) continue;
        for (std::size_t rank = 0; rank < plan.memory.size(); ++rank) {
            if (isHost || resolved.devices[rank].id == info.id) memory.use += plan.memory[rank];
        }
        if (!isHost) memory.freeBytes -= std::min(memory.freeBytes, kLibraryBytes);
        if (memory.use.total() > memory.freeBytes) return memory;
    }
    return std::nullopt;
}

// Some batch below the run's that fits, with a sample for each pass; 0: none. What grows does so next to evenly: a try
// or two find it.
std::int64_t batchThatFits(ResolvedSpec resolved, SharedMemory memory, const DatasetInfo& train,
                           const DatasetInfo& test) {
    const std::int64_t least = leastBatch(resolved);
    for (;;) {
        const std::size_t fixed = memory.use.weights + memory.use.dataset;
        const std::size_t left = memory.freeBytes - std::min(memory.freeBytes, fixed);
        const double share = static_cast<double>(left) / static_cast<double>(memory.use.total() - fixed);
        resolved.spec.batch = static_cast<std::int64_t>(std::floor(share * static_cast<double>(resolved.spec.batch)));
        if (resolved.spec.batch < least) return 0;
        const auto next = shortOne(resolved, planRun(resolved, train, test));
        if (!next) return resolved.spec.batch;
        memory = *next;
    }
}

}  // namespace

std::optional<Problem> shortOfMemory(const ResolvedSpec& resolved, const RunPlan& plan, const DatasetInfo& train,
                                     const DatasetInfo& test) {
    const auto memory = shortOne(resolved, plan);
    if (!memory) return std::nullopt;
    std::vector<std::string> args{memory->name, bytesText(memory->use.total()), bytesText(memory->freeBytes),
                                  parts(memory->use)};
    const std::int64_t whole = resolved.spec.batch, batch = batchThatFits(resolved, *memory, train, test);
    if (batch == 0) return Problem{"model", "run.memory-at-any-batch", std::move(args)};
    args.push_back(std::to_string(batch));
    args.push_back(std::to_string(resolved.spec.accumulation * ((whole + batch - 1) / batch)));
    return Problem{"batch", "run.memory", std::move(args)};
}

bool fitsMemory(const ResolvedSpec& resolved, const RunPlan& plan) { return !shortOne(resolved, plan); }

std::int64_t leastBatch(const ResolvedSpec& resolved) {
    if (resolved.spec.reproducible()) return resolved.spec.shards;
    return std::ssize(resolved.devices) * resolved.spec.accumulation;
}

std::string memoryText(const ResolvedSpec& resolved, const RunPlan& plan, int rank) {
    const auto at = static_cast<std::size_t>(std::max(rank, 0));
    if (at >= plan.memory.size()) return {};
    const std::int64_t half = std::max<std::int64_t>(1, resolved.spec.batch / 2);
    return resolved.devices[at].id + " was to hold " + parts(plan.memory[at]) + "; with batch " + std::to_string(half) +
           " the latter two are about half of that";
}

}  // namespace lockstep
