#include "datasets/picture_source.h"

#include "engine/data/load_times.h"

namespace lockstep {

void EncodedPictures::read(std::int64_t index, const DecodeWish& wish, DecodedPart& into) const {
    static thread_local std::vector<std::uint8_t> memory;
    const auto bytes = timed(LoadPart::Read, [&] { return encoded(index, memory); });
    countBytesRead(bytes.size());
    const LoadTimer timer(LoadPart::Decode);
    decodeImage(bytes, fileOf(index), wish, into);
}

}  // namespace lockstep
