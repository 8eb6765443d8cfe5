#include "datasets/devkit.h"

#include <matio.h>

#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "datasets/synsets.h"
#include "datasets/text_file.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr const char* kList = "ILSVRC2012_validation_ground_truth.txt";

// One number, or else nothing.
std::optional<int> numberIn(const matvar_t* cell) {
    if (!cell || cell->class_type != MAT_C_DOUBLE || cell->data_type != MAT_T_DOUBLE || !cell->data)
        return std::nullopt;
    if (cell->nbytes < sizeof(double)) return std::nullopt;
    return static_cast<int>(*static_cast<const double*>(cell->data));
}

std::string textIn(const matvar_t* cell) {
    std::string text;
    if (!cell || cell->class_type != MAT_C_CHAR || !cell->data || cell->data_size < 1) return text;
    const auto unit = static_cast<std::size_t>(cell->data_size);  // ASCII in units of one or two bytes
    for (std::size_t i = 0; i + unit <= cell->nbytes; i += unit) text += static_cast<const char*>(cell->data)[i];
    return text;
}

// The struct array "synsets": inner nodes of the hierarchy follow the classes, with numbers of their own.
std::map<int, std::string> readMeaning(const fs::path& file) {
    std::map<int, std::string> ids;
    const std::unique_ptr<mat_t, int (*)(mat_t*)> opened(Mat_Open(file.c_str(), MAT_ACC_RDONLY), &Mat_Close);
    if (!opened) return ids;
    const std::unique_ptr<matvar_t, void (*)(matvar_t*)> synsets(Mat_VarRead(opened.get(), "synsets"), &Mat_VarFree);
    if (!synsets || synsets->class_type != MAT_C_STRUCT || synsets->rank != 2) return ids;
    const std::size_t count = synsets->dims[0] * synsets->dims[1];
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = numberIn(Mat_VarGetStructFieldByName(synsets.get(), "ILSVRC2012_ID", i));
        const std::string id = textIn(Mat_VarGetStructFieldByName(synsets.get(), "WNID", i));
        if (number && isSynsetId(id)) ids.emplace(*number, id);
    }
    return ids;
}

}  // namespace

std::optional<fs::path> findDevkitList(std::span<const fs::path> folders) {
    for (const fs::path& folder : folders) {
        for (const char* below : {".", "data", "ILSVRC2012_devkit_t12/data"}) {
            fs::path file = (folder / below / kList).lexically_normal();
            std::error_code ignored;
            if (fs::is_regular_file(file, ignored)) return file;
        }
    }
    return std::nullopt;
}

bool isDevkitList(const fs::path& file) { return file.filename() == kList; }

fs::path devkitMeaning(const fs::path& list) { return list.parent_path() / "meta.mat"; }

std::vector<ListedLabel> readDevkitList(const fs::path& file) {
    const auto ids = readMeaning(devkitMeaning(file));
    if (ids.empty()) throw ProblemError({file.string(), "devkit.no-meaning", {devkitMeaning(file).string()}});
    std::istringstream text(readText(file));
    std::vector<ListedLabel> labels;
    for (std::string line; std::getline(text, line);) {
        const std::int64_t number = std::ssize(labels) + 1;
        int label = 0;
        std::from_chars(line.data(), line.data() + line.size(), label);
        const auto id = ids.find(label);
        if (id == ids.end())
            throw ProblemError(
                {file.string(), "devkit.unknown-number", {std::to_string(number), line, devkitMeaning(file).string()}});
        char name[40];
        std::snprintf(name, sizeof name, "ILSVRC2012_val_%08lld", static_cast<long long>(number));
        labels.push_back({name, id->second, number});
    }
    return labels;
}

}  // namespace lockstep
