#include "datasets/class_folders.h"

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

bool isOf(const FileKind& kind, const fs::path& file) {
    std::string ending = file.extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::ranges::find(kind.endings, ending) != kind.endings.end();
}

std::vector<LabelledFile> listFiles(const fs::path& split, const FileKind& kind, const std::string& className,
                                    std::int32_t label, std::vector<SkippedFile>& skipped) {
    std::vector<LabelledFile> files;
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
        } else if (!isOf(kind, at->path())) {
            skipped.push_back({at->path(), {file, kind.codeOfOthers, {}}});
        } else {
            const auto modified = at->last_write_time().time_since_epoch();
            files.push_back({at->path(), at->path().lexically_relative(split).generic_string(), label, at->file_size(),
                             std::chrono::duration_cast<std::chrono::nanoseconds>(modified).count()});
        }
    }
    std::ranges::sort(files, {}, &LabelledFile::name);
    return files;
}

std::optional<fs::path> firstWithClasses(const fs::path& root, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        if (!classFolders(root / name).empty()) return root / name;
    }
    return std::nullopt;
}

double placeOf(std::string_view name) { return CounterRng(0, streamOf(name), 0, 0).uniform(0); }

// Moves the held-out share of one class to `test`.
void holdOut(std::vector<LabelledFile> files, double share, FolderScan& scan) {
    std::vector<std::string_view> names;
    for (const LabelledFile& each : files) names.push_back(each.name);
    const std::vector<bool> out = heldOut(names, share);
    for (std::size_t i = 0; i < files.size(); ++i) (out[i] ? scan.test : scan.train).push_back(files[i]);
}

void scanTest(const fs::path& folder, const FileKind& kind, FolderScan& scan) {
    for (const std::string& name : classFolders(folder)) {
        const auto known = std::ranges::lower_bound(scan.classes, name);
        if (known == scan.classes.end() || *known != name) {
            throw ProblemError({(folder / name).string(), "class-folder.unknown-class", {name}});
        }
        const auto files =
            listFiles(folder, kind, name, static_cast<std::int32_t>(known - scan.classes.begin()), scan.skipped);
        scan.test.insert(scan.test.end(), files.begin(), files.end());
    }
}

}  // namespace

std::vector<bool> heldOut(std::span<const std::string_view> names, double share) {
    const auto keep = std::ranges::max_element(names, {}, placeOf);
    std::vector<bool> out;
    for (auto name = names.begin(); name != names.end(); ++name) out.push_back(placeOf(*name) < share && name != keep);
    return out;
}

FolderScan scanClassFolders(const fs::path& root, const FileKind& kind, double testShare) {
    if (!fs::is_directory(root)) throw ProblemError({root.string(), "dataset.not-found", {}});
    const auto train = firstWithClasses(root, {"train", "training"});
    const auto test = train ? firstWithClasses(root, {"test", "testing", "val", "valid", "validation"}) : std::nullopt;
    const fs::path folder = train.value_or(root);

    FolderScan scan;
    scan.classes = classFolders(folder);
    if (scan.classes.empty()) throw ProblemError({folder.string(), "class-folder.no-classes", {}});
    for (std::size_t label = 0; label < scan.classes.size(); ++label) {
        auto files = listFiles(folder, kind, scan.classes[label], static_cast<std::int32_t>(label), scan.skipped);
        if (!test) {
            holdOut(std::move(files), testShare, scan);
        } else {
            scan.train.insert(scan.train.end(), files.begin(), files.end());
        }
    }
    if (test) scanTest(*test, kind, scan);
    return scan;
}

bool hasClassFolders(const fs::path& root, const FileKind& kind) {
    constexpr int kMostLooks = 500, kDeepest = 2;  // split/class/file, and one more for nested classes
    if (!fs::is_directory(root)) return false;
    const auto options = fs::directory_options::skip_permission_denied;
    int looks = 0;
    for (auto at = fs::recursive_directory_iterator(root, options);
         at != fs::recursive_directory_iterator() && looks < kMostLooks; ++at, ++looks) {
        if (at.depth() > kDeepest) at.disable_recursion_pending();
        if (at.depth() > 0 && at->is_regular_file() && isOf(kind, at->path())) return true;
    }
    return false;
}

}  // namespace lockstep
