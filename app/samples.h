#pragma once
#include <filesystem>
#include <optional>

#include "app/listing.h"
#include "engine/data/augment.h"

namespace lockstep {

// A few images of a dataset, one of each class first, with what is to be known about the whole; small enough to keep
// while a form is filled in.
struct Glimpse {
    struct Sample {
        std::int64_t index = 0;
        std::int32_t label = 0;
        std::vector<std::uint8_t> pixels;
    };
    DatasetInfo train, test;
    DatasetReport report;
    std::vector<Sample> samples;
};

// Opens and inspects the dataset, keeps up to `most` images. Problems: those of the entry.
Result<Glimpse> glimpseAt(const DatasetEntry& entry, const std::filesystem::path& path, const ParamValues& params,
                          int most);

// {"classes", "train_per_class", …} of reportJson and "samples", `count` at most: [{"label", "before", "after"}], where
// an image is
// {"channels", "height", "width", "pixels": planar bytes in base64}, made smaller to at most 64 pixels a side. `after`
// is what the first epoch would see, without the normalisation; mixup's partners are among these images.
Json samplesJson(const Glimpse& glimpse, int count, const Augmentation& how, std::uint64_t seed, const Words& words);

}  // namespace lockstep
