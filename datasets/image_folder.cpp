#include <algorithm>
#include <cstdio>

#include "datasets/byte_stream.h"
#include "datasets/class_folders.h"
#include "datasets/decoded.h"
#include "datasets/entries.h"
#include "datasets/image_codec.h"
#include "datasets/loading.h"
#include "datasets/memory_dataset.h"
#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/core/system_names.h"
#include "engine/data/normalisation.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// Small pictures keep their size; photographs become 64 x 64, which a workshop's laptop can train on.
constexpr int kSmall = 64;
constexpr std::uint64_t kLargestProbed = 64 << 20;

// The headers of up to 256 images, spread evenly; unreadable ones are left out.
std::vector<PictureSize> probe(const std::vector<LabelledFile>& files, const Reading& reading) {
    constexpr std::size_t kMost = 256;
    std::vector<PictureSize> sizes;
    const std::size_t taken = std::min(files.size(), kMost);
    for (std::size_t i = 0; i < taken; ++i) {
        reading.goOn();
        const fs::path& file = files[i * files.size() / taken].file;
        try {
            sizes.push_back(sizeOfImage(readWhole(file, kLargestProbed), file));
        } catch (const ProblemError&) {
            continue;  // decoding it will say why
        }
    }
    return sizes;
}

DecodedFormat chooseFormat(const std::vector<LabelledFile>& files, const ParamValues& params, const Reading& reading) {
    const std::string& colour = params.string("colour");
    DecodedFormat format{static_cast<int>(params.integer("size")), colour == "grey" ? 1 : 3};
    if (format.size > 0 && colour != "auto") return format;
    const auto sizes = probe(files, reading);
    const auto shortSide = [](const PictureSize& size) { return std::min(size.height, size.width); };
    const auto small = [&](const PictureSize& size) { return shortSide(size) <= kSmall; };
    if (format.size == 0)
        format.size = !sizes.empty() && std::ranges::all_of(sizes, small) ? shortSide(sizes.front()) : kSmall;
    if (colour == "auto") {
        const auto grey = [](const PictureSize& size) { return size.channels == 1; };
        format.channels = !sizes.empty() && std::ranges::all_of(sizes, grey) ? 1 : 3;
    }
    return format;
}

fs::path cacheFile(const fs::path& folder, const fs::path& root, const char* split, const DecodedFormat& format) {
    char name[80];
    std::snprintf(name, sizeof name, "%016llx-%s-%dx%d.decoded",
                  static_cast<unsigned long long>(streamOf(root.string())), split, format.channels, format.size);
    return folder / name;
}

// The images of a split, from the cache or decoded; a cache that cannot be written costs time only.
DecodedImages decoded(const fs::path& cacheFolder, const fs::path& root, const char* split,
                      const std::vector<LabelledFile>& files, const DecodedFormat& format, Reading& reading,
                      std::int64_t before, std::vector<Problem>& warnings) {
    if (cacheFolder.empty()) return decodeAll(files, format, reading, before);
    const fs::path cache = cacheFile(cacheFolder, root, split, format);
    const std::uint64_t key = decodedKey(root, files, format);
    if (auto kept = loadDecoded(cache, key, files, format)) return std::move(*kept);
    DecodedImages images = decodeAll(files, format, reading, before);
    try {
        fs::create_directories(cacheFolder);
        storeDecoded(cache, key, images);
    } catch (const std::runtime_error& error) {  // EngineError of the file, filesystem_error of the folder
        warnings.push_back({cache.string(), "image-folder.cache-not-written", {error.what()}});
    }
    return images;
}

// Of the images that could be decoded.
struct GoodFiles {
    std::vector<std::int32_t> labels;
    std::vector<std::string> paths;
};

GoodFiles goodOf(const std::vector<LabelledFile>& files, const DecodedImages& images,
                 std::vector<SkippedFile>& skipped) {
    GoodFiles good;
    auto failure = images.failures.begin();
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (failure != images.failures.end() && failure->index == static_cast<std::int64_t>(i)) {
            skipped.push_back({files[i].file, failure->reason});
            ++failure;
        } else {
            good.labels.push_back(files[i].label);
            good.paths.push_back(files[i].file.string());
        }
    }
    return good;
}

Loaded load(const fs::path& cacheFolder, const fs::path& path, const ParamValues& params, Reading& reading) {
    const fs::path root = fs::weakly_canonical(path);
    FolderScan scan =
        scanClassFolders(root, {{".jpg", ".jpeg", ".png"}, "image.unknown-kind"}, params.number("test_share"), reading);
    const DecodedFormat format = chooseFormat(scan.train, params, reading);
    const std::size_t all = scan.train.size() + scan.test.size() + scan.validation.size();
    requireMemory(path.string(), all * format.bytes());

    Loaded loaded;
    loaded.skipped = std::move(scan.skipped);
    loaded.notes = std::move(scan.notes);
    DatasetInfo info;
    info.id = "image-folder";
    info.fields = imageFields({format.channels, format.size, format.size});
    info.classes = scan.classes;
    reading.describe(info);
    reading.expect(static_cast<std::int64_t>(all));
    const auto split = [&](const char* name, const std::vector<LabelledFile>& files, std::size_t before) {
        DecodedImages images = decoded(cacheFolder, root, name, files, format, reading,
                                       static_cast<std::int64_t>(before), loaded.warnings);
        GoodFiles good = goodOf(files, images, loaded.skipped);
        if (info.mean.empty()) measureNormalisation(info, images.pixels);
        return std::make_shared<MemoryDataset>(info, std::move(images.pixels), std::move(good.labels), images.content,
                                               std::move(good.paths));
    };
    loaded.train = split("train", scan.train, 0);
    if (loaded.train->info().count == 0 && !loaded.skipped.empty()) {
        const SkippedFile& first = loaded.skipped.front();
        throw ProblemError({path.string(),
                            "image-folder.none-readable",
                            {std::to_string(loaded.skipped.size()), first.file.string(), first.reason.code}});
    }
    loaded.test = split("test", scan.test, scan.train.size());
    if (!scan.validation.empty())
        loaded.validation = split("validation", scan.validation, scan.train.size() + scan.test.size());
    return loaded;
}

bool startsLikeAnImage(const fs::path& file) {
    std::uint8_t magic[2] = {};
    try {
        if (openPlain(file)->read(magic) < 2) return false;
    } catch (const ProblemError&) {
        return false;
    }
    return (magic[0] == 0xff && magic[1] == 0xd8) || (magic[0] == 0x89 && magic[1] == 'P');
}

// Looks at a few files, three folders deep: split/class/image, and one more for nested classes.
bool holdsImages(const fs::path& folder, int depth, int& budget) {
    std::error_code ignored;
    for (const auto& item : fs::directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
        if (--budget < 0) return false;
        if (isSystemName(item.path().filename().string())) continue;
        if (item.is_directory(ignored) ? depth > 0 && holdsImages(item.path(), depth - 1, budget)
                                       : item.is_regular_file(ignored) && startsLikeAnImage(item.path())) {
            return true;
        }
    }
    return false;
}

int recogniseFolder(const fs::path& path) {
    if (!fs::is_directory(path)) return 0;
    int budget = 500;
    std::error_code ignored;
    for (const auto& item : fs::directory_iterator(path)) {
        if (isSystemName(item.path().filename().string())) continue;
        if (item.is_directory(ignored) && holdsImages(item.path(), 2, budget)) return 70;
    }
    return 0;
}

}  // namespace

DatasetEntry imageFolderEntry(const fs::path& cacheFolder) {
    DatasetEntry entry;
    entry.id = "image-folder";
    entry.title = "Image folder";
    entry.meaning =
        "A folder with one sub-folder of JPEG or PNG images per class, or train, test and perhaps val folders of such.";
    entry.params = {
        {"size",
         std::int64_t{0},
         0,
         1024,
         {},
         "pixels",
         "Side of the squares that images are cropped and scaled to; 0: as they are if small, else 64."},
        {"colour",
         std::string("auto"),
         {},
         {},
         {"auto", "grey", "rgb"},
         "",
         "auto: grey if all images looked at are grey."},
        {"test_share",
         0.2,
         0.01,
         0.9,
         {},
         "",
         "Share of the images held out for testing where there is no test folder."},
    };
    entry.remedy = "Sort the images into one folder per class and give the folder above them.";
    entry.recognise = recogniseFolder;
    loadBy(entry, [cacheFolder](const fs::path& path, const ParamValues& params, Reading& reading) {
        return load(cacheFolder, path, params, reading);
    });
    return entry;
}

}  // namespace lockstep
