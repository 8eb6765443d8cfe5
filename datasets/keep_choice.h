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
    std::vector<Problem> reason = {};  // of `auto`, where it is worth a word
};

// Of `count` pictures, as the settings and whoever opens them say.
KeepChoice keepOf(const ParamValues& params, const ImageRule& rule, std::size_t count, const Reading& reading);

// Of pictures that are kept as small as the cuts allow: their shorter side, and about how many bytes all of them take.
int shortSideOf(const ImageRule& rule);
std::uint64_t storedBytes(std::size_t count, const ImageRule& rule);

}  // namespace lockstep
