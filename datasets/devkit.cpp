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

constexpr int kMostSynsets = 100'000;
constexpr const char* kList = "ILSVRC2012_validation_ground_truth.txt";

// One number, or else nothing.
std::optional<int> numberIn(const matvar_t* cell) {
    double number = 0;
    const auto take = [&]<class T>(T) {
        if (cell->nbytes >= sizeof(T)) number = static_cast<double>(*static_cast<const T*>(cell->data));
    };
    if (!cell || !cell->data || cell->isComplex) return std::nullopt;
    switch (cell->data_type) {
        case MAT_T_DOUBLE: take(double()); break;
        case MAT_T_SINGLE: take(float()); break;
        case MAT_T_INT64: take(std::int64_t()); break;
        case MAT_T_UINT64: take(std::uint64_t()); break;
        case MAT_T_INT32: take(std::int32_t()); break;
        case MAT_T_UINT32: take(std::uint32_t()); break;
        case MAT_T_INT16: take(std::int16_t()); break;
        case MAT_T_UINT16: take(std::uint16_t()); break;
        case MAT_T_INT8: take(std::int8_t()); break;
        case MAT_T_UINT8: take(std::uint8_t()); break;
        default: break;
    }
    return number >= 1 && number <= kMostSynsets ? std::optional(static_cast<int>(number)) : std::nullopt;
}

std::string textIn(const matvar_t* cell) {
    std::string text;
    if (!cell || cell->class_type != MAT_C_CHAR || !cell->data || cell->isComplex || cell->data_size < 1) return text;
    const auto unit = static_cast<std::size_t>(cell->data_size);  // ASCII in units of one or two bytes
    for (std::size_t i = 0; i + unit <= cell->nbytes; i += unit) text += static_cast<const char*>(cell->data)[i];
    return text;
}

// The struct array "synsets": inner nodes of the hierarchy follow the classes, with numbers of their own.
std::map<int, Synset> readMeaning(const fs::path& file) {
    std::map<int, Synset> ids;
    const std::unique_ptr<mat_t, int (*)(mat_t*)> opened(Mat_Open(file.c_str(), MAT_ACC_RDONLY), &Mat_Close);
    if (!opened) return ids;
    const std::unique_ptr<matvar_t, void (*)(matvar_t*)> synsets(Mat_VarRead(opened.get(), "synsets"), &Mat_VarFree);
    if (!synsets || synsets->class_type != MAT_C_STRUCT || synsets->rank != 2) return ids;
    const auto count = static_cast<double>(synsets->dims[0]) * static_cast<double>(synsets->dims[1]);
    if (!synsets->data || count > kMostSynsets) return ids;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const auto number = numberIn(Mat_VarGetStructFieldByName(synsets.get(), "ILSVRC2012_ID", i));
        const std::string id = textIn(Mat_VarGetStructFieldByName(synsets.get(), "WNID", i));
        const std::string words = textIn(Mat_VarGetStructFieldByName(synsets.get(), "words", i));
        if (number && isSynsetId(id)) ids.emplace(*number, Synset{id, words.substr(0, words.find(','))});
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

std::vector<Synset> readDevkitSynsets(const fs::path& list) {
    std::vector<Synset> synsets;
    for (auto& [number, synset] : readMeaning(devkitMeaning(list)))
        if (!synset.name.empty()) synsets.push_back(synset);
    return synsets;
}

std::vector<ListedLabel> readDevkitList(const fs::path& file) {
    const auto ids = readMeaning(devkitMeaning(file));
    if (ids.empty()) throw ProblemError({file.string(), "devkit.no-meaning", {devkitMeaning(file).string()}});
    std::istringstream text(readText(file));
    std::vector<ListedLabel> labels;
    for (std::string line; std::getline(text, line);) {
        if (line.find_first_not_of(" \t\r") == line.npos) continue;
        const std::int64_t number = std::ssize(labels) + 1;
        int label = 0;
        std::from_chars(line.data(), line.data() + line.size(), label);
        const auto id = ids.find(label);
        if (id == ids.end())
            throw ProblemError(
                {file.string(), "devkit.unknown-number", {std::to_string(number), line, devkitMeaning(file).string()}});
        char name[40];
        std::snprintf(name, sizeof name, "ILSVRC2012_val_%08lld", static_cast<long long>(number));
        labels.push_back({name, id->second.id, number});
    }
    return labels;
}

}  // namespace lockstep
