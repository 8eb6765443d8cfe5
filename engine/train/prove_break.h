#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "engine/train/plan_run.h"

namespace lockstep {

// Ways to get data parallelism wrong, done on purpose to the devices' side of a proof, never in training itself:
//   LocalNorm           each device normalises over its own images;
//   NoDivide            the sum over N devices is not divided by N;
//   AverageOfAverages   each device divides by the weight of its own samples, then the devices are averaged;
//   DoubleCount         rank 1 takes rank 0's first samples once more, in place of as many of its own.
enum class ProofBreak : std::uint8_t { LocalNorm, NoDivide, AverageOfAverages, DoubleCount };
inline constexpr std::array kProofBreaks{ProofBreak::LocalNorm, ProofBreak::NoDivide, ProofBreak::AverageOfAverages,
                                         ProofBreak::DoubleCount};
std::string_view text(ProofBreak how);  // "local-norm", "no-divide", …
std::optional<ProofBreak> proofBreakFrom(std::string_view name);

// What a proof says of a difference that `how` has made, and how to see the run unbroken.
Problem explain(ProofBreak how, const ResolvedSpec& resolved);

// Averages of averages are right as long as all devices have equally many samples. A global batch, the spec's or the
// next larger, at which `how` shows.
std::int64_t batchShowing(ProofBreak how, const ResolvedSpec& resolved);

// What the devices' side is compiled from, and what becomes of its programs.
ResolvedSpec brokenSpec(ProofBreak how, ResolvedSpec resolved);
RunPlan brokenPlan(ProofBreak how, RunPlan plan, const ResolvedSpec& resolved, std::int64_t lastBatch);

// DoubleCount: rank 1's batch, once both are loaded.
struct LoadedBatch {
    std::byte* data = nullptr;
    std::int64_t count = 0;
};
void countTwice(const BatchLayout& layout, const LoadedBatch& from, const LoadedBatch& to);

}  // namespace lockstep
