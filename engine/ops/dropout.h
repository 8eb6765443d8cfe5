#pragma once
#include <cstdint>
#include <string>

#include "engine/core/random.h"
#include "engine/graph/graph_builder.h"

namespace lockstep {

// Inverted dropout (Srivastava et al., JMLR 2014): y = x * keep / (1 - rate). Whether element e of the sample with id s
// is kept is a pure function of (run seed, epoch, s, stream, e), see dropoutKeeps(): independent of rank, thread and
// batch.
struct DropoutAttrs {
    double rate = 0.5;
    std::uint64_t stream = 0;  // streamOf(scope)
    bool operator==(const DropoutAttrs&) const = default;
};
std::string describe(const DropoutAttrs& attrs);

extern const OpDef kDropout;          // (x: N,…; ids: N, i64) -> y
extern const OpDef kDropoutBackward;  // (dy, ids) -> dx: the same mask again

// The definition all backends follow. `element` counts logical elements within the sample, row-major.
constexpr bool dropoutKeeps(std::uint64_t seed, std::int64_t epoch, const DropoutAttrs& attrs, std::int64_t sampleId,
                            std::uint32_t element) {
    const CounterRng rng(seed, attrs.stream, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(sampleId));
    return rng.uniform(element) >= attrs.rate;
}

// In evaluation: x itself.
ValueId dropout(GraphBuilder& b, ValueId x, ValueId ids, double rate, const std::string& name);

}  // namespace lockstep
