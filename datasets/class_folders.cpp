#include "datasets/class_folders.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "datasets/ascii.h"
#include "datasets/file_time.h"
#include "datasets/split_names.h"
#include "engine/core/random.h"
#include "engine/core/system_names.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

std::string nameOf(const fs::path& path) { return path.filename().string(); }

// A link to a folder that it lies in would be gone through without end.
bool leadsUpwards(const fs::directory_entry& item) {
    if (!item.is_symlink()) return false;
    std::error_code failed;
    const auto there = fs::canonical(item.path(), failed), here = fs::canonical(item.path().parent_path());
    if (failed) return failed == std::errc::too_many_symbolic_link_levels;
    return std::ranges::mismatch(there, here).in1 == there.end();
}

// Lists what a scan finds, and remembers what it leaves out.
class Lister {
public:
    Lister(const FileKind& kind, const Reading& reading, FolderScan& scan)
        : m_kind(kind), m_reading(reading), m_scan(scan) {}

    // Of a folder in it, or of all of it.
    FileList filesOf(const fs::path& split, const std::string& className, std::int32_t label) {
        FileList files(m_scan.names);
        if (className.empty()) list(split, "", label, files);
        else list(split / className, className + '/', label, files);
        files.sort();
        return files;
    }

    // What lies beside the class folders.
    void lookBeside(const fs::path& folder) {
        for (const auto& item : fs::directory_iterator(folder)) {
            std::error_code ignored;
            watchIfDangling(item);
            if (isSystemName(nameOf(item.path()))) passOver(item.path());
            else if (item.is_symlink() && leadsUpwards(item)) skip(item, "folder.loop");
            else if (item.is_regular_file(ignored) && isOfKind(item.path(), m_kind))
                skip(item, "class-folder.no-class");
        }
    }

    void finish() {
        if (m_passedOver == 0) return;
        m_scan.notes.push_back(
            {m_firstPassedOver.string(), "class-folder.passed-over", {std::to_string(m_passedOver)}});
    }

private:
    void list(const fs::path& folder, const std::string& prefix, std::int32_t label, FileList& files) {
        m_scan.watch(folder);
        const std::uint32_t number = m_scan.names->addFolder({folder.string(), prefix});
        for (const auto& item : fs::directory_iterator(folder)) {
            const std::string name = nameOf(item.path());
            m_reading.goOn();
            if (isSystemName(name)) passOver(item.path());
            else if (isFolder(item)) list(item.path(), prefix + name + '/', label, files);
            else if (isFile(item)) files.add(entryOf(item, name, number, label)), m_reading.list(1);
        }
    }

    // One that is a link is none.
    static bool isFolder(const fs::directory_entry& item) {
        std::error_code ignored;
        return !item.is_symlink(ignored) && item.is_directory(ignored);
    }

    // A folder may appear where a link leads, and no time says so of the folder that the link lies in.
    void watchIfDangling(const fs::directory_entry& item) {
        std::error_code ignored;
        if (item.is_symlink(ignored) && !item.exists(ignored)) m_scan.watch(item.path());
    }

    bool isFile(const fs::directory_entry& item) {
        std::error_code failed;
        watchIfDangling(item);
        const bool isFolder = item.is_directory(failed);
        if (isFolder) skip(item, leadsUpwards(item) ? "folder.loop" : "folder.link");
        if (isFolder) return false;
        const bool isLoop = failed == std::errc::too_many_symbolic_link_levels;
        if (isLoop || !item.is_regular_file(failed)) skip(item, isLoop ? "folder.loop" : "file.not-regular");
        else if (!isOfKind(item.path(), m_kind)) skip(item, m_kind.codeOfOthers);
        else return true;
        return false;
    }

    FileEntry entryOf(const fs::directory_entry& item, const std::string& name, std::uint32_t folder,
                      std::int32_t label) {
        struct stat status {};
        if (::stat(item.path().c_str(), &status) != 0)
            throw fs::filesystem_error("stat", item.path(), std::error_code(errno, std::generic_category()));
        return {.bytes = static_cast<std::uint64_t>(status.st_size),
                .modifiedNs = nanoseconds(status.st_mtim),
                .changedNs = nanoseconds(status.st_ctim),
                .name = m_scan.names->add(name),
                .folder = folder,
                .label = label};
    }

    void skip(const fs::directory_entry& item, const std::string& code) {
        m_scan.skipped.push_back({item.path(), {item.path().string(), code, {}}});
    }

    void passOver(const fs::path& path) {
        if (m_passedOver++ == 0) m_firstPassedOver = path;
    }

    const FileKind& m_kind;
    const Reading& m_reading;
    FolderScan& m_scan;
    std::int64_t m_passedOver = 0;
    fs::path m_firstPassedOver;
};

// Of a system that does not tell small letters from capitals one folder has several of the names.
std::optional<fs::path> folderOf(const fs::path& root, Split split) {
    std::optional<fs::path> found;
    for (const SplitName& each : kSplitNames) {
        const fs::path folder = root / each.name;
        std::error_code ignored;
        if (each.split != split || classFolders(folder).empty()) continue;
        if (found && !fs::equivalent(*found, folder, ignored))
            throw ProblemError({folder.string(), "class-folder.split-twice", {found->string()}});
        if (!found) found = folder;
    }
    return found;
}

double placeOf(std::string_view name) { return CounterRng(0, streamOf(name), 0, 0).uniform(0); }

void scanSplit(const fs::path& folder, Lister& lister, FolderScan& scan, FileList& split) {
    for (const std::string& name : classFolders(folder)) {
        const auto known = std::ranges::lower_bound(scan.classes, name);
        if (known == scan.classes.end() || *known != name) {
            throw ProblemError({(folder / name).string(), "class-folder.unknown-class", {name}});
        }
        split.add(lister.filesOf(folder, name, static_cast<std::int32_t>(known - scan.classes.begin())));
    }
    lister.lookBeside(folder);
}

}  // namespace

std::vector<std::string> classFolders(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) return names;
    for (const auto& item : fs::directory_iterator(folder)) {
        if (item.is_directory(ignored) && !isSystemName(nameOf(item.path())) && !leadsUpwards(item))
            names.push_back(nameOf(item.path()));
    }
    if (names == std::vector<std::string>{"images"}) names.clear();
    std::ranges::sort(names);
    return names;
}

bool isOfKind(const fs::path& file, const FileKind& kind) {
    return std::ranges::find(kind.endings, lowered(file.extension().string())) != kind.endings.end();
}

void holdOut(const FileList& files, double share, FolderScan& scan) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < files.size(); ++i) names.push_back(files.nameOf(i));
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::vector<bool> out = heldOut(views, share);
    for (std::size_t i = 0; i < files.size(); ++i) (out[i] ? scan.test : scan.train).add(files.entry(i));
}

std::vector<bool> heldOut(std::span<const std::string_view> names, double share) {
    const auto keep = std::ranges::max_element(names, {}, placeOf);
    std::vector<bool> out;
    for (auto name = names.begin(); name != names.end(); ++name) out.push_back(placeOf(*name) < share && name != keep);
    return out;
}

void requireClasses(const fs::path& folder, const FolderScan& scan) {
    if (scan.train.empty()) return;
    const std::int32_t first = scan.train.entry(0).label;
    const auto isFirst = [first](const FileEntry& each) { return each.label == first; };
    if (std::ranges::all_of(scan.train.entries(), isFirst))
        throw ProblemError(
            {folder.string(), "dataset.too-few-classes", {scan.classes[static_cast<std::size_t>(first)]}});
}

FolderScan scanClassFolders(const fs::path& root, const FileKind& kind, double testShare, const Reading& reading) {
    if (!fs::is_directory(root)) throw ProblemError({root.string(), "dataset.not-found", {}});
    FolderScan scan;
    scan.watch(root);
    for (const SplitName& each : kSplitNames) scan.watch(root / each.name);
    const auto train = folderOf(root, Split::Train);
    auto test = train ? folderOf(root, Split::Test) : std::nullopt;
    auto validation = train ? folderOf(root, Split::Validation) : std::nullopt;
    if (!test) std::swap(test, validation);
    const fs::path folder = train.value_or(root);

    Lister lister(kind, reading, scan);
    scan.classes = classFolders(folder);
    if (scan.classes.empty()) throw ProblemError({folder.string(), "class-folder.no-classes", {}});
    for (std::size_t label = 0; label < scan.classes.size(); ++label) {
        const FileList files = lister.filesOf(folder, scan.classes[label], static_cast<std::int32_t>(label));
        if (!test) holdOut(files, testShare, scan);
        else scan.train.add(files);
    }
    lister.lookBeside(folder);
    if (train) lister.lookBeside(root);
    if (test) scanSplit(*test, lister, scan, scan.test);
    if (validation) scanSplit(*validation, lister, scan, scan.validation);
    lister.finish();
    if (reading.trains()) requireClasses(folder, scan);
    return scan;
}

FileList filesBelow(const fs::path& folder, const FileKind& kind, const Reading& reading, FolderScan& scan) {
    Lister lister(kind, reading, scan);
    auto files = lister.filesOf(folder, "", 0);
    lister.finish();
    return files;
}

bool hasClassFolders(const fs::path& root, const FileKind& kind) {
    constexpr int kMostLooks = 500, kDeepest = 2;  // split/class/file, and one more for nested classes
    if (!fs::is_directory(root)) return false;
    const auto options = fs::directory_options::skip_permission_denied;
    int looks = 0;
    for (auto at = fs::recursive_directory_iterator(root, options);
         at != fs::recursive_directory_iterator() && looks < kMostLooks; ++at, ++looks) {
        std::error_code ignored;
        const bool isSystem = isSystemName(nameOf(at->path()));
        if (isSystem || at.depth() > kDeepest) at.disable_recursion_pending();
        if (!isSystem && at.depth() > 0 && at->is_regular_file(ignored) && isOfKind(at->path(), kind)) return true;
    }
    return false;
}

}  // namespace lockstep
