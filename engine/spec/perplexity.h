#pragma once
#include <cmath>
#include <numbers>
#include <string_view>

namespace lockstep {

inline constexpr std::string_view kNextTokens = "next-tokens";  // RunStarted::task of models that foretell bytes

// How well such a model does by its loss, the mean cross-entropy of a byte in nats: it is as unsure as between so many
// bytes, all of them as likely; and a code made from it takes so many bits.
inline double perplexity(double loss) { return std::exp(loss); }
inline double bitsPerByte(double loss) { return loss / std::numbers::ln2; }

}  // namespace lockstep
