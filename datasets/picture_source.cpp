#include "datasets/picture_source.h"

#include <cerrno>
#include <cstring>

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

bool isOfContent(const Problem& problem) {
    const bool isForbidden = problem.code == "file.unreadable" && !problem.args.empty() &&
                             problem.args.front() == std::strerror(EACCES);  // to permit it changes the file's time
    return isForbidden || (problem.code != "file.unreadable" && !problem.code.starts_with("picture-index."));
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
