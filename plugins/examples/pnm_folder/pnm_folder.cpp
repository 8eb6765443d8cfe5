// A dataset plugin: a folder of binary PGM or PPM images, one sub-folder per class (train/<class>/x.pgm and
// test/<class>/x.pgm; without these two, every `hold_out`-th image of each class is kept for testing).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "lockstep_plugin.h"
#include "pnm_image.h"

namespace fs = std::filesystem;

namespace {

enum : std::int32_t { kImage, kLabel, kFieldCount };

}  // namespace

struct lockstep_dataset {
    lockstep_field fields[kFieldCount];
    std::vector<std::string> classes;
    std::vector<const char*> classNames;
    std::vector<pnm::Image> images;
    std::vector<std::int32_t> labels;
};

namespace {

std::vector<fs::path> sortedEntries(const fs::path& folder, bool folders) {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (folders ? entry.is_directory() : entry.is_regular_file() && pnm::hasKnownEnding(entry.path())) {
            entries.push_back(entry.path());
        }
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

// The engine sends every setting, so a plain search for an integer's key serves.
int integerSetting(const std::string& json, const std::string& name, int fallback) {
    const auto key = json.find("\"" + name + "\"");
    const auto colon = key == std::string::npos ? key : json.find(':', key);
    return colon == std::string::npos ? fallback : std::atoi(json.c_str() + colon + 1);
}

void addImage(lockstep_dataset& dataset, const fs::path& file, std::int32_t label) {
    dataset.images.push_back(pnm::read(file));
    dataset.labels.push_back(label);
    const pnm::Image& first = dataset.images.front();
    const pnm::Image& image = dataset.images.back();
    if (image.channels != first.channels || image.height != first.height || image.width != first.width) {
        throw std::runtime_error(file.string() + ": its size or colours differ from those of the first image");
    }
}

void load(lockstep_dataset& dataset, const fs::path& root, bool train, int holdOut) {
    const bool divided = fs::is_directory(root / "train") && fs::is_directory(root / "test");
    for (const auto& folder : sortedEntries(divided ? root / "train" : root, true)) {
        dataset.classes.push_back(folder.filename().string());
    }
    const fs::path base = divided ? root / (train ? "train" : "test") : root;
    for (std::size_t label = 0; label < dataset.classes.size(); ++label) {
        const auto files = sortedEntries(base / dataset.classes[label], false);
        for (std::size_t i = 0; i < files.size(); ++i) {
            const bool held = i % static_cast<std::size_t>(holdOut) == 0;
            if (divided || held != train) addImage(dataset, files[i], static_cast<std::int32_t>(label));
        }
    }
    if (dataset.images.empty())
        throw std::runtime_error(base.string() + ": no PGM or PPM image in folders named after classes");
    for (const auto& name : dataset.classes) dataset.classNames.push_back(name.c_str());
    const pnm::Image& first = dataset.images.front();
    dataset.fields[kImage] = {
        sizeof(lockstep_field), LOCKSTEP_U8, "image", 3, {first.channels, first.height, first.width}};
    dataset.fields[kLabel] = {sizeof(lockstep_field), LOCKSTEP_I32, "label", 1, {1}};
}

int explain(lockstep_message message, const char* why, int code) {
    std::snprintf(message.text, message.capacity, "%s", why);
    return code;
}

int openSplit(const lockstep_host*, const char* path, const char* settings, int split, lockstep_dataset** dataset,
              lockstep_message message) {
    auto* fresh = new (std::nothrow) lockstep_dataset;
    if (!fresh) return explain(message, "no memory", LOCKSTEP_NO_MEMORY);
    try {
        load(*fresh, path, split == LOCKSTEP_TRAIN, std::max(2, integerSetting(settings, "hold_out", 5)));
        *dataset = fresh;
        return LOCKSTEP_OK;
    } catch (const std::exception& error) {
        delete fresh;
        return explain(message, error.what(), LOCKSTEP_BAD_INPUT);
    }
}

int describe(lockstep_dataset* dataset, lockstep_dataset_info* info, lockstep_message) {
    info->fields = dataset->fields;
    info->field_count = kFieldCount;
    info->classes = static_cast<std::int32_t>(dataset->classes.size());
    info->class_names = dataset->classNames.data();
    info->count = static_cast<std::int64_t>(dataset->images.size());
    return LOCKSTEP_OK;
}

int readSample(lockstep_dataset* dataset, std::int64_t index, void* const* into, lockstep_message message) {
    if (index < 0 || index >= static_cast<std::int64_t>(dataset->images.size())) {
        return explain(message, "there is no such image", LOCKSTEP_BAD_INPUT);
    }
    const auto at = static_cast<std::size_t>(index);
    std::memcpy(into[kImage], dataset->images[at].pixels.data(), dataset->images[at].pixels.size());
    *static_cast<std::int32_t*>(into[kLabel]) = dataset->labels[at];
    return LOCKSTEP_OK;
}

void closeSplit(lockstep_dataset* dataset) { delete dataset; }

int recognise(const char* path) {
    try {
        const fs::path base = fs::is_directory(fs::path(path) / "train") ? fs::path(path) / "train" : fs::path(path);
        if (!fs::is_directory(base)) return 0;
        const auto classes = sortedEntries(base, true);
        return classes.size() >= 2 && !sortedEntries(classes.front(), false).empty() ? 90 : 0;
    } catch (const std::exception&) {
        return 0;
    }
}

const lockstep_setting kSettings[] = {
    {sizeof(lockstep_setting), LOCKSTEP_INTEGER, "hold_out", "5", 2, 1000,
     "Without a test folder, every so-many-th image of a class is kept for testing."}};
const lockstep_dataset_kind kFolder = {sizeof(lockstep_dataset_kind),
                                       "pnm-folder",
                                       "Folder of PGM or PPM images",
                                       "Binary PGM or PPM images of one size, one folder per class.",
                                       kSettings,
                                       1,
                                       openSplit,
                                       describe,
                                       readSample,
                                       closeSplit,
                                       recognise};
const lockstep_dataset_kind* const kDatasets[] = {&kFolder};
const lockstep_plugin kPlugin = {sizeof(lockstep_plugin), LOCKSTEP_PLUGIN_ABI, "pnm-folder", "1.0", kDatasets, 1};

}  // namespace

const lockstep_plugin* lockstep_plugin_entry(const lockstep_host*) { return &kPlugin; }
