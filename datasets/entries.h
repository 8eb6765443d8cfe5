#pragma once
#include <filesystem>

#include "engine/data/dataset.h"

namespace lockstep {

DatasetEntry fashionMnistEntry();
DatasetEntry idxEntry();
// CIFAR: sizes are checked before memory is taken; no allocation is larger than twice the files of a split.
DatasetEntry cifar10Entry();
DatasetEntry cifar100Entry();
DatasetEntry syntheticEntry();
// Text, for models that foretell the next byte; and texts with classes.
DatasetEntry textEntry();
DatasetEntry textFolderEntry();
DatasetEntry textCsvEntry();
// `cacheFolder`: where decoded images are kept, and the index of a folder (picture_index.h) of `manyFiles` or more;
// empty: nowhere.
constexpr std::size_t kManyFiles = 50'000;
DatasetEntry imageFolderEntry(const std::filesystem::path& cacheFolder, std::size_t manyFiles = kManyFiles);

}  // namespace lockstep
