#include "datasets/keep_choice.h"

#include <algorithm>
#include <cmath>

#include "datasets/memory_dataset.h"
#include "engine/core/bytes_text.h"

namespace lockstep {

int KeptPictures::shortSide() const { return static_cast<int>(std::lround(rule.size / rule.share)); }

std::uint64_t KeptPictures::bytes(Keep keep) const {
    return bytes(train, isCut && keep != Keep::Squares) + bytes(others, false);
}

std::uint64_t KeptPictures::bytes(std::size_t count, bool cuts) const {
    const double each = cuts ? pixelsOfStored() : static_cast<double>(rule.size) * rule.size;
    return static_cast<std::uint64_t>(each * rule.channels * static_cast<double>(count));
}

double KeptPictures::pixelsOfStored() const {
    double pixels = 0;  // of one picture, on average
    for (const PictureSize& each : sizes) {
        const double scale = std::min(1.0, static_cast<double>(shortSide()) / std::min(each.height, each.width));
        pixels += scale * scale * each.height * each.width / static_cast<double>(sizes.size());
    }
    return pixels;
}

// Random parts of what has been made smaller are less sharp than those of the pictures themselves: nobody gets them who
// has not asked for them.
KeepChoice keepOf(const ParamValues& params, const KeptPictures& pictures, const Reading& reading) {
    const std::string& keep = params.string("keep");
    const ImageRule& rule = pictures.rule;
    const bool isPlain = rule.share == 1 && rule.interpolation == Interpolation::Bilinear;
    const Keep memory = pictures.isCut || !isPlain ? Keep::Memory : Keep::Squares;
    const auto words = [&](const char* code, Keep kept) {
        return std::vector<Problem>{{"dataset.keep", code, {bytesText(pictures.bytes(kept))}}};
    };
    constexpr std::size_t kMany = 4096;
    const bool isMany = pictures.train + pictures.others > kMany;
    const bool isGlance = reading.glances() && (memory == Keep::Memory || keep == "cache");
    if (keep == "stream" || isGlance || (reading.sparesMany() && isMany)) return {Keep::Stream};
    if (keep == "cache") return {Keep::Cache, words("image-folder.cached", Keep::Cache)};
    if (keep == "memory") return {memory};
    const auto isMadeSmaller = [&](const PictureSize& size) {
        return std::min(size.height, size.width) > pictures.shortSide();
    };
    if (pictures.isCut && (pictures.sizes.empty() || std::ranges::any_of(pictures.sizes, isMadeSmaller)))
        return {Keep::Stream, words("image-folder.streamed-for-cuts", Keep::Cache)};
    const std::uint64_t bytes = pictures.bytes(memory);
    if (fitsInMemory(memory == Keep::Memory ? 2 * bytes : bytes))
        return {memory,
                words(memory == Keep::Squares ? "image-folder.in-memory-and-cache" : "image-folder.in-memory", memory)};
    return {Keep::Stream, words("image-folder.streamed", memory)};
}

}  // namespace lockstep
