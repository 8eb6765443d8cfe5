#include "datasets/picture_source.h"

#include "engine/core/content_hash.h"
#include "engine/core/result.h"
#include "engine/data/load_times.h"

namespace lockstep {

void EncodedPictures::read(std::int64_t index, const DecodeWish& wish, DecodedPart& into) const {
    static thread_local std::vector<std::uint8_t> memory;
    const auto bytes = timed(LoadPart::Read, [&] { return encoded(index, memory); });
    countBytesRead(bytes.size());
    const LoadTimer timer(LoadPart::Decode);
    decodeImage(bytes, fileOf(index), wish, into);
}

std::optional<std::uint64_t> EncodedPictures::contentOf(std::int64_t index) const {
    std::vector<std::uint8_t> memory;
    ContentHash hash;
    try {
        hash.add(encoded(index, memory));
    } catch (const ProblemError&) {
        return std::nullopt;
    }
    return hash.value();
}

}  // namespace lockstep
