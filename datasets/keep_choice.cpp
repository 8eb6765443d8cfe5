#include "datasets/keep_choice.h"

#include <cmath>

#include "datasets/memory_dataset.h"

namespace lockstep {

int shortSideOf(const ImageRule& rule) { return static_cast<int>(std::lround(rule.size / rule.share)); }

// About as large as pictures of the usual shape are.
std::uint64_t storedBytes(std::size_t count, const ImageRule& rule) {
    constexpr double kLongSide = 1.4;
    const double side = shortSideOf(rule);
    return static_cast<std::uint64_t>(static_cast<double>(count) * kLongSide * side * side * rule.channels);
}

KeepChoice keepOf(const ParamValues& params, const ImageRule& rule, std::size_t count, const Reading& reading) {
    const std::string& keep = params.string("keep");
    const bool isPlain = rule.share == 1 && rule.interpolation == Interpolation::Bilinear;
    const bool areCut = (reading.cuts() && rule.size > kSmall) || !isPlain;
    constexpr std::size_t kMany = 4096;
    const bool isGlance = reading.glances() && (count > kMany || areCut || keep == "cache");
    if (keep == "stream" || isGlance) return {Keep::Stream};
    if (keep == "cache") return {Keep::Cache};
    if (keep == "memory") return {areCut ? Keep::Memory : Keep::Squares};
    const std::size_t square =
        static_cast<std::size_t>(rule.channels * rule.size) * static_cast<std::size_t>(rule.size);
    const std::uint64_t bytes = areCut ? storedBytes(count, rule) : count * square;
    if (fitsInMemory(areCut ? 2 * bytes : bytes)) return {areCut ? Keep::Memory : Keep::Squares};
    return {Keep::Stream, {{"dataset.keep", "image-folder.streamed", {std::to_string(bytes >> 20)}}}};
}

}  // namespace lockstep
