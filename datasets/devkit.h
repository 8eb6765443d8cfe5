#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "datasets/label_list.h"
#include "datasets/synsets.h"

namespace lockstep {

// What ILSVRC ships beside its pictures: the classes of those for validation, as numbers, one in each line, in the
// order of the pictures' names; and meta.mat, which says what the numbers mean.

// The list of numbers in one of the folders, or in the devkit as it is unpacked there.
std::optional<std::filesystem::path> findDevkitList(std::span<const std::filesystem::path> folders);
bool isDevkitList(const std::filesystem::path& file);
std::filesystem::path devkitMeaning(const std::filesystem::path& list);    // meta.mat beside it
std::vector<Synset> readDevkitSynsets(const std::filesystem::path& list);  // by their numbers; none: meta.mat is absent
// By the synsets' ids. Throws ProblemError "devkit.no-meaning" (meta.mat is absent or no such file),
// "devkit.unknown-number", and those of texts.
std::vector<ListedLabel> readDevkitList(const std::filesystem::path& file);

}  // namespace lockstep
