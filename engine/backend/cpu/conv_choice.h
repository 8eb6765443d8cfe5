#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "engine/backend/cpu/conv_request.h"
#include "engine/graph/graph.h"

namespace lockstep::cpu {

// A pass of a convolution; x, w and y are the shapes of its forward pass.
struct ConvPass {
    onednn::Pass pass;
    Conv2dAttrs attrs;
    Shape x, w, y;
};

// What makes it. Direct: the library; in bf16 it reads operands that were rounded to it, and adds up in f32. Samples,
// Gathered, Padded and Joined: our own in bf16, with samples (sample_conv.cpp) or neighbouring pixels
// (gathered_conv.cpp, padded_conv.cpp, joined_conv.h) in the rows of tiles. The others are our own, on whole blocks of
// channels, and take in what is around them where that can be (fuse_conv.h).
enum class ConvAlgorithm { Direct, DirectBf16, Winograd, Pointwise, Samples, Gathered, Padded, Joined };
std::string text(ConvAlgorithm algorithm);  // "winograd", as programs name it
constexpr bool isOwn(ConvAlgorithm algorithm) {
    return algorithm == ConvAlgorithm::Winograd || algorithm == ConvAlgorithm::Pointwise;
}
inline constexpr std::array kOfTiles{ConvAlgorithm::Samples, ConvAlgorithm::Gathered, ConvAlgorithm::Padded,
                                     ConvAlgorithm::Joined};
constexpr bool isOfTiles(ConvAlgorithm algorithm) { return std::ranges::count(kOfTiles, algorithm) > 0; }
// Whether one of those of tiles can make a pass, and is worth trying; of all others false.
bool suits(ConvAlgorithm ofTiles, const ConvPass& pass);
inline constexpr const char* kDirectBf16 = "direct+bf16";
inline constexpr const char* kSamplesBf16 = "samples+bf16";
inline constexpr const char* kGatheredBf16 = "gathered+bf16";
inline constexpr const char* kPaddedBf16 = "padded+bf16";
inline constexpr const char* kJoinedBf16 = "joined+bf16";
// Pointwise, of pairs of bf16. Winograd's sums stay of floats: among its points errors grow tenfold.
inline constexpr const char* kPointwiseBf16 = "pointwise+bf16";
using ConvChoice = std::function<ConvAlgorithm(const ConvPass& pass)>;

// By the shape alone: the same in every run and on every machine with these blocks.
ConvAlgorithm chooseByRule(const ConvPass& pass);

}  // namespace lockstep::cpu
