#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "engine/graph/graph_builder.h"
#include "engine/ops/activation_kind.h"

namespace lockstep {

// Smooth activations. Backward reads x, for y does not tell it.
extern const OpDef kGelu;          // (x) -> y = x Phi(x) = x (1 + erf(x / sqrt 2)) / 2   (arXiv 1606.08415)
extern const OpDef kGeluBackward;  // (x, dy) -> dx
extern const OpDef kSilu;          // (x) -> y = x / (1 + exp(-x))                        (arXiv 1702.03118)
extern const OpDef kSiluBackward;  // (x, dy) -> dx

// All of them: lists of ops and of kernels take them from here, kernels switch over the kind.
struct Activation {
    ActivationKind kind;
    const OpDef *forward, *backward;
};
inline constexpr auto kActivations = std::to_array<Activation>({
    {ActivationKind::Gelu, &kGelu, &kGeluBackward},
    {ActivationKind::Silu, &kSilu, &kSiluBackward},
});
ActivationKind activationKind(const OpDef& op);  // of one of them, forward or backward

// Entries {op, what makes its kernel} of a backend's list.
template <class Entry, class Make>
constexpr auto activationEntries(Make forward, Make backward) {
    std::array<Entry, 2 * kActivations.size()> entries{};
    auto* next = entries.data();
    for (const Activation& each : kActivations) {
        *next++ = {each.forward, forward};
        *next++ = {each.backward, backward};
    }
    return entries;
}

ValueId gelu(GraphBuilder& b, ValueId x, const std::string& name);
ValueId silu(GraphBuilder& b, ValueId x, const std::string& name);

}  // namespace lockstep
