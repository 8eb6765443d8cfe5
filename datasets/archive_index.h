#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/random_file.h"

namespace lockstep {

// Where a member of an archive lies in it, so that it can be read in place.
struct MemberPlace {
    enum class Kind { File, Packed, Other };  // Packed: compressed or encrypted; Other: a link, a device…

    std::string name;  // "cat/1.jpg", without "./" before it
    std::uint64_t offset = 0, bytes = 0;
    Kind kind = Kind::File;
};

// The members of a tar (ustar, GNU's long names, pax) or a zip (also zip64) that is not compressed as a whole, one
// after the other, without folders; reads headers alone. Owned by one thread. The archive outlives it. All throw
// ProblemError: "archive.packed" (compressed), "archive.unknown" (something else), "archive.cut-short",
// "archive.damaged", "file.*".
class MemberReader {
public:
    virtual ~MemberReader() = default;
    virtual std::optional<MemberPlace> next() = 0;  // nothing: it was the last
};
std::unique_ptr<MemberReader> openMembers(const RandomFile& archive);

// The folders of a member's name and the name in them, without empty ones and ".".
std::vector<std::string_view> partsOf(std::string_view name);

// All of them. Also throws "archive.unsafe-name" (absolute, or with ".."), "archive.named-twice" and what `goOn`
// throws.
std::vector<MemberPlace> indexArchive(const RandomFile& archive, const std::function<void()>& goOn);

}  // namespace lockstep
