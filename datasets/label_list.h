#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

// A picture and its class, as a list has them.
struct ListedLabel {
    std::string file, label;  // either may be empty
    std::int64_t line = 0;
    std::string split = {};  // what a column of splits says, whatever that is
};

// A CSV whose first line names a column of files (file, filename, image, path, id…) and one of labels (label, class,
// category…), or names nothing and has them in this order; of Kaggle's PredictionString the first word. A column split
// (or subset) is read, too. A text (.txt): in each line a name and, behind a tab or the last
// space, a label; or ILSVRC's devkit (devkit.h). Throws ProblemError "label-list.no-column", "label-list.no-label",
// "csv.*", "text.*", "file.*".
std::vector<ListedLabel> readLabelList(const std::filesystem::path& file);
bool hasLabels(const std::filesystem::path& file);  // or is it a list of names alone

// The list of a split ("train", "val"…) by its usual names, in the first of the folders that has one.
std::optional<std::filesystem::path> findLabelList(std::span<const std::filesystem::path> folders,
                                                   const std::string& split);
// The only CSV in a folder.
std::optional<std::filesystem::path> onlyCsv(const std::filesystem::path& folder);

}  // namespace lockstep
