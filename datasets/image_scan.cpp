#include "datasets/image_scan.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>

#include "engine/core/random.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

bool hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

std::vector<std::string> classFolders(const fs::path& folder) {
    std::vector<std::string> names;
    if (!fs::is_directory(folder)) return names;
    for (const auto& item : fs::directory_iterator(folder)) {
        if (item.is_directory() && !hidden(item.path())) names.push_back(item.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
}

bool namedLikeAnImage(const fs::path& file) {
    std::string extension = file.extension().string();
    std::ranges::transform(extension, extension.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

std::vector<ImageFile> listImages(const fs::path& split, const std::string& className, std::int32_t label,
                                  std::vector<SkippedFile>& skipped) {
    std::vector<ImageFile> files;
    for (auto at = fs::recursive_directory_iterator(split / className); at != fs::recursive_directory_iterator();
         ++at) {
        if (hidden(at->path())) {
            at.disable_recursion_pending();
            continue;
        }
        if (at->is_directory()) continue;
        const std::string file = at->path().string();
        if (!at->is_regular_file()) {
            skipped.push_back({at->path(), {file, "file.not-regular", {}}});
        } else if (!namedLikeAnImage(at->path())) {
            skipped.push_back({at->path(), {file, "image.unknown-kind", {}}});
        } else {
            const auto modified = at->last_write_time().time_since_epoch();
            files.push_back({at->path(), at->path().lexically_relative(split).generic_string(), label, at->file_size(),
                             std::chrono::duration_cast<std::chrono::nanoseconds>(modified).count()});
        }
    }
    std::ranges::sort(files, {}, &ImageFile::name);
    return files;
}

std::optional<fs::path> firstWithClasses(const fs::path& root, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        if (!classFolders(root / name).empty()) return root / name;
    }
    return std::nullopt;
}

double placeOf(const ImageFile& file) { return CounterRng(0, streamOf(file.name), 0, 0).uniform(0); }

// Moves the held-out share of one class to `test`. The last in the order of places stays, so that no class is tested
// only.
void holdOut(std::vector<ImageFile> files, double share, ImageScan& scan) {
    const auto keep = std::ranges::max_element(files, {}, placeOf);
    for (auto file = files.begin(); file != files.end(); ++file) {
        const bool out = placeOf(*file) < share && file != keep;
        (out ? scan.test : scan.train).push_back(*file);
    }
}

void scanTest(const fs::path& folder, ImageScan& scan) {
    for (const std::string& name : classFolders(folder)) {
        const auto known = std::ranges::lower_bound(scan.classes, name);
        if (known == scan.classes.end() || *known != name) {
            throw ProblemError({(folder / name).string(), "image-folder.unknown-class", {name}});
        }
        const auto files =
            listImages(folder, name, static_cast<std::int32_t>(known - scan.classes.begin()), scan.skipped);
        scan.test.insert(scan.test.end(), files.begin(), files.end());
    }
}

}  // namespace

ImageScan scanImageFolder(const fs::path& root, double testShare) {
    if (!fs::is_directory(root)) throw ProblemError({root.string(), "dataset.not-found", {}});
    const auto train = firstWithClasses(root, {"train", "training"});
    const auto test = train ? firstWithClasses(root, {"test", "testing", "val", "valid", "validation"}) : std::nullopt;
    const fs::path folder = train.value_or(root);

    ImageScan scan;
    scan.classes = classFolders(folder);
    if (scan.classes.empty()) throw ProblemError({folder.string(), "image-folder.no-classes", {}});
    for (std::size_t label = 0; label < scan.classes.size(); ++label) {
        auto files = listImages(folder, scan.classes[label], static_cast<std::int32_t>(label), scan.skipped);
        if (!test) {
            holdOut(std::move(files), testShare, scan);
        } else {
            scan.train.insert(scan.train.end(), files.begin(), files.end());
        }
    }
    if (test) scanTest(*test, scan);
    return scan;
}

}  // namespace lockstep
