#pragma once

namespace lockstep {

// See activation.h; apart from it for loops that include no more than plain headers.
enum class ActivationKind { Gelu, Silu };

}  // namespace lockstep
