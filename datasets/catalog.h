#pragma once
#include <filesystem>
#include <vector>

#include "engine/data/dataset.h"

namespace lockstep {

// The explicit list of the datasets we know: fashion-mnist, idx, cifar10, cifar100, image-folder, text,
// text-folder, text-csv, synthetic.
// `cacheFolder` is where decoded images may be kept (empty: memory only).
std::vector<DatasetEntry> builtinDatasets(const std::filesystem::path& cacheFolder);

// The entry that recognises a path best, or a problem "dataset.unrecognised" naming what was looked for,
// "dataset.archive-of-others".
Result<const DatasetEntry*> recogniseDataset(const std::vector<DatasetEntry>& entries,
                                             const std::filesystem::path& path);

}  // namespace lockstep
