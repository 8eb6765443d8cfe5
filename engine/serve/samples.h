#pragma once
#include <filesystem>
#include <optional>

#include "engine/data/augment.h"
#include "engine/serve/offers.h"

namespace lockstep {

// A few images of a dataset, one of each class first, with what is to be known about the whole; small enough to keep
// while a form is filled in.
struct Glimpse {
    struct Sample {
        std::int64_t index = 0;
        std::int32_t label = 0;
        std::vector<std::uint8_t> pixels;
    };
    DatasetInfo train, choosing;  // the latter is evaluated after each epoch, if nothing is held out
    DatasetReport report;
    std::vector<Sample> samples;
    std::shared_ptr<const Dataset> pictures = {};  // that images are cut from; null: they are what they are
};

// Of planar bytes, as large as a window shows it.
ShownImage shownImage(std::span<const std::uint8_t> pixels, const ImageShape& shape);

// Opens and inspects the dataset for a model and its augmentation, as `watch` says, and keeps up to `most` images.
// Problems: those of the entry.
Result<Glimpse> glimpseAt(const DatasetEntry& entry, const std::filesystem::path& path, const ParamValues& params,
                          const OpeningWatch& watch, int most);

// `count` of them at most, ordered by class. Partners to mix with are among them, where training takes any image.
SamplesAnswer shownSamples(const Glimpse& glimpse, int count, const Augmentation& how, std::uint64_t seed,
                           const ServeWords& words);

}  // namespace lockstep
