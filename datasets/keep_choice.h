#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/cut_picture.h"
#include "datasets/reading.h"

namespace lockstep {

// Small pictures keep their size. Photographs become as large as the model is for, or else 64 x 64, which a workshop's
// laptop can train on.
constexpr int kSmall = 64;

// Where the decoded pictures are.
enum class Keep {
    Squares,  // in memory, as the model reads them
    Memory,   // in memory, as small as the cuts allow
    Cache,    // likewise, in a file
    Stream    // nowhere: decoded whenever they are read
};

struct KeepChoice {
    Keep keep = Keep::Squares;
    std::vector<Problem> words = {};  // what was chosen and why, or how much it takes
};

// The pictures that are to be kept: how many, some of their sizes, and how images are made of them.
struct KeptPictures {
    std::size_t train = 0, others = 0;  // others: of which the middle alone is read
    const std::vector<PictureSize>& sizes;
    const ImageRule& rule;
    bool isCut = false;  // at random

    // Of which parts smaller than the whole are read, and larger ones than images are: see StoreRule.
    int shortSide() const;
    std::uint64_t bytes(Keep keep) const;                     // about, of all
    std::uint64_t bytes(std::size_t count, bool cuts) const;  // of so many, which are cut at random or not

private:
    double pixelsOfStored() const;
};

// As the settings and whoever opens them say.
KeepChoice keepOf(const ParamValues& params, const KeptPictures& pictures, const Reading& reading);

}  // namespace lockstep
