#include "datasets/label_list.h"

#include <sstream>
#include <string_view>

#include "datasets/ascii.h"
#include "datasets/csv.h"
#include "datasets/devkit.h"
#include "datasets/text_file.h"
#include "engine/core/result.h"
#include "engine/core/system_names.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrediction = "predictionstring";  // Kaggle's: "n01440764 13 64 300 200"
constexpr std::string_view kFileColumns[] = {"filename", "file_name", "file",    "image_path", "filepath", "path",
                                             "image",    "img",       "imageid", "image_id",   "id"};
constexpr std::string_view kLabelColumns[] = {"label", "class",  "category", "label_name", "class_name",
                                              "wnid",  "target", "breed",    kPrediction};
constexpr std::string_view kSplitColumns[] = {"split", "subset"};
constexpr std::string_view kSpace = " \t\r";

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(kSpace);
    return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// The first of the names that a cell has.
std::optional<std::size_t> columnOf(const std::vector<std::string>& cells, std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (lowered(trimmed(cells[i])) == name) return i;
        }
    }
    return std::nullopt;
}

struct Columns {
    std::size_t file = 0, label = 1;
    bool named = false, isPrediction = false;
    std::optional<std::size_t> split = {};
};

[[noreturn]] void failColumn(const fs::path& file, const char* column, const std::vector<std::string>& header) {
    std::string all;
    for (const std::string& cell : header) all += (all.empty() ? "" : ", ") + cell;
    throw ProblemError({file.string(), "label-list.no-column", {column, all}});
}

// Of two columns, one that is named names the other.
Columns columnsOf(const fs::path& file, const std::vector<std::string>& first) {
    auto name = columnOf(first, kFileColumns), label = columnOf(first, kLabelColumns);
    if (first.size() < 2) failColumn(file, "label", first);
    if (!name && !label) return {};
    const auto split = columnOf(first, kSplitColumns);
    if (first.size() == 2 && !split && !name) name = 1 - *label;
    if (first.size() == 2 && !split && !label) label = 1 - *name;
    if (!name) failColumn(file, "file", first);
    if (!label) failColumn(file, "label", first);
    return {*name, *label, true, lowered(trimmed(first[*label])) == kPrediction, split};
}

std::vector<ListedLabel> readCsv(const fs::path& file) {
    const std::string text = readText(file);
    CsvReader reader(text, file.string());
    std::vector<ListedLabel> labels;
    std::vector<std::string> cells;
    if (!reader.next(cells)) return labels;
    const Columns columns = columnsOf(file, cells);
    for (bool more = !columns.named || reader.next(cells); more; more = reader.next(cells)) {
        std::string label = trimmed(cells[columns.label]);
        if (columns.isPrediction) label = label.substr(0, label.find(' '));
        labels.push_back({trimmed(cells[columns.file]), std::move(label), reader.line()});
        if (columns.split) labels.back().split = trimmed(cells[*columns.split]);
    }
    return labels;
}

ListedLabel readLine(const fs::path& file, const std::string& line, std::int64_t number) {
    const std::size_t tab = line.find('\t'), end = tab == line.npos ? line.rfind(' ') : tab;
    if (end == line.npos) throw ProblemError({file.string(), "label-list.no-label", {std::to_string(number)}});
    std::string label = line.substr(end + 1);
    label = label.substr(0, label.find('\t'));  // Tiny-ImageNet's box follows
    return {trimmed(line.substr(0, end)), trimmed(label), number};
}

std::vector<ListedLabel> readTextList(const fs::path& file) {
    std::istringstream text(readText(file));
    std::vector<ListedLabel> labels;
    std::int64_t number = 0;
    for (std::string line; std::getline(text, line);) {
        ++number;
        line = trimmed(line);
        if (!line.empty()) labels.push_back(readLine(file, line, number));
    }
    return labels;
}

bool isCsv(const fs::path& file) { return lowered(file.extension().string()) == ".csv"; }

}  // namespace

std::vector<ListedLabel> readLabelList(const fs::path& file) {
    if (isDevkitList(file)) return readDevkitList(file);
    return isCsv(file) ? readCsv(file) : readTextList(file);
}

bool hasLabels(const fs::path& file) {
    if (!isCsv(file)) return true;
    const std::string text = readText(file);
    std::vector<std::string> cells;
    CsvReader(text, file.string()).next(cells);
    return cells.size() > 1 && (columnOf(cells, kLabelColumns) || cells.size() == 2);
}

std::optional<fs::path> findLabelList(std::span<const fs::path> folders, const std::string& split) {
    const std::string names[] = {split + "_annotations.txt",
                                 "LOC_" + split + "_solution.csv",
                                 split + ".csv",
                                 split + "_labels.csv",
                                 split + ".txt",
                                 "labels.csv"};
    std::error_code ignored;
    for (const fs::path& folder : folders) {
        for (const std::string& name : names) {
            if (fs::is_regular_file(folder / name, ignored)) return folder / name;
        }
    }
    return std::nullopt;
}

std::optional<fs::path> onlyCsv(const fs::path& folder) {
    std::optional<fs::path> found;
    for (const auto& item : fs::directory_iterator(folder)) {
        std::error_code ignored;
        if (!isCsv(item.path()) || isSystemName(item.path().filename().string())) continue;
        if (!item.is_regular_file(ignored)) continue;
        if (found) return std::nullopt;
        found = item.path();
    }
    return found;
}

}  // namespace lockstep
