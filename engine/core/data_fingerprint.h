#pragma once
#include <cstdint>

namespace lockstep {

// What the samples of a split are, to know them again: see Dataset::fingerprint().
struct SplitFingerprint {
    std::int64_t samples = 0;
    std::uint64_t content = 0;
    bool operator==(const SplitFingerprint&) const = default;
};
struct DataFingerprint {
    SplitFingerprint train = {}, test = {};
    SplitFingerprint validation = {};  // without samples: the dataset has no such split of its own
    bool operator==(const DataFingerprint&) const = default;
};

}  // namespace lockstep
