#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/image_codec.h"
#include "engine/core/result.h"

namespace lockstep {

constexpr std::uint64_t kLargestFile = 256 << 20;  // of an encoded picture, in bytes

// Pictures of any size, by number, wherever they are kept. Const calls are safe from many threads.
class PictureSource {
public:
    virtual ~PictureSource() = default;
    virtual std::int64_t count() const = 0;
    // Throws ProblemError naming the file.
    virtual void read(std::int64_t index, const DecodeWish& wish, DecodedPart& into) const = 0;
    virtual std::string fileOf(std::int64_t index) const = 0;
    // To know them again, wherever they lie: a hash of what the files are called within their split and how large they
    // are; and of one what it holds, as far as it can be read.
    virtual std::uint64_t identity() const = 0;
    virtual std::optional<std::uint64_t> contentOf(std::int64_t index) const = 0;
    // See Dataset::takeRemarks().
    virtual std::vector<Problem> takeRemarks() const { return {}; }
};

// Whether that is why a picture cannot be read however often one tries, until its file is another: damaged, too large,
// not permitted. Else it is of the moment.
bool isOfContent(const Problem& problem);

// Those whose encoded bytes are at hand.
class EncodedPictures : public PictureSource {
public:
    // Uses the memory of `into`, which may be larger. Throws ProblemError naming the file.
    virtual std::span<const std::uint8_t> encoded(std::int64_t index, std::vector<std::uint8_t>& into) const = 0;
    void read(std::int64_t index, const DecodeWish& wish, DecodedPart& into) const final;
    std::optional<std::uint64_t> contentOf(std::int64_t index) const final;
};

}  // namespace lockstep
