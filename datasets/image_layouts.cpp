#include "datasets/image_layouts.h"

#include <algorithm>
#include <optional>
#include <span>

#include "datasets/archive_pictures.h"
#include "datasets/ascii.h"
#include "datasets/byte_stream.h"
#include "datasets/devkit.h"
#include "datasets/image_kind.h"
#include "datasets/label_list.h"
#include "datasets/listed_pictures.h"
#include "datasets/picture_files.h"
#include "datasets/picture_members.h"
#include "datasets/split_names.h"
#include "datasets/synsets.h"
#include "engine/core/system_names.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// Where the splits are, and the folders in which lists for them may lie.
struct Places {
    fs::path data;
    std::vector<fs::path> lists;
};

// Kaggle's ImageNet has its splits in ILSVRC/Data/CLS-LOC and its lists at the top.
Places placesOf(const fs::path& root) {
    Places places{root, {}};
    for (const char* below : {"Data/CLS-LOC", "ILSVRC/Data/CLS-LOC"}) {
        std::error_code ignored;
        if (fs::is_directory(root / below / "train", ignored)) places.data = root / below;
    }
    fs::path folder = places.data;
    places.lists.push_back(folder);
    for (int above = 0; above < 3 && places.data.filename() == "CLS-LOC"; ++above) {
        folder = folder.parent_path();
        places.lists.push_back(folder);
    }
    return places;
}

bool holdsPictures(const fs::path& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) return false;
    return std::ranges::any_of(fs::directory_iterator(folder), [&](const fs::directory_entry& item) {
        const bool isSystems = isSystemName(item.path().filename().string());
        return !isSystems && isOfKind(item.path(), imageFiles()) && item.is_regular_file(ignored);
    });
}

bool isFlat(const fs::path& folder) { return holdsPictures(folder) || holdsPictures(folder / "images"); }

std::vector<std::string> namesOf(Split split) {
    std::vector<std::string> names;
    for (const SplitName& each : kSplitNames) {
        if (each.split == split) names.push_back(each.name);
    }
    return names;
}

bool hasClasses(const fs::path& data, Split split) {
    return std::ranges::any_of(namesOf(split),
                               [&](const std::string& name) { return !classFolders(data / name).empty(); });
}

// A split whose pictures lie in one folder, and what says their classes.
struct FlatSplit {
    fs::path folder;
    std::optional<fs::path> list;
};

std::optional<fs::path> commonList(const Places& places) {
    const auto list =
        std::ranges::find_if(places.lists, [](const fs::path& at) { return fs::exists(at / "labels.csv"); });
    if (list == places.lists.end()) return std::nullopt;
    return *list / "labels.csv";
}

std::optional<fs::path> listOf(const fs::path& folder, const Places& places, Split split) {
    std::vector<fs::path> folders{folder};
    folders.insert(folders.end(), places.lists.begin(), places.lists.end());
    for (const std::string& name : namesOf(split)) {
        if (auto list = findLabelList(folders, name)) return list;
    }
    return fs::exists(folder / "labels.csv") ? folder / "labels.csv" : onlyCsv(folder);
}

std::optional<FlatSplit> flatSplit(const Places& places, Split split) {
    for (const std::string& name : namesOf(split)) {
        const fs::path folder = places.data / name;
        if (isFlat(folder) && classFolders(folder).empty()) return FlatSplit{folder, listOf(folder, places, split)};
    }
    return std::nullopt;
}

// Its list may be one of names alone.
std::optional<FlatSplit> flatTest(const Places& places) {
    auto test = flatSplit(places, Split::Test);
    if (test && test->list && !hasLabels(*test->list)) test->list.reset();
    return test;
}

bool hasFoldersBesideSplits(const fs::path& data) {
    return std::ranges::any_of(classFolders(data), [](const std::string& name) { return !splitOf(name); });
}

// One split alone may lie there, with the list of its name.
std::optional<fs::path> listOfAny(const Places& places) {
    for (const SplitName& each : kSplitNames) {
        if (auto list = findLabelList(places.lists, each.name)) return list;
    }
    return std::nullopt;
}

// Pictures to train on of which a list says the classes, and no folders.
std::optional<FlatSplit> listedTraining(const Places& places) {
    if (hasClasses(places.data, Split::Train)) return std::nullopt;
    const fs::path& data = places.data;
    auto split = flatSplit(places, Split::Train);
    if (!split && isFlat(data)) split = FlatSplit{data, listOfAny(places)};
    if (split && !split->list) split->list = commonList(places);
    if (split && !split->list && !hasFoldersBesideSplits(data)) split->list = onlyCsv(data);
    return split && split->list ? split : std::nullopt;
}

class Layout {
public:
    Layout(const Places& places, double testShare, const Reading& reading)
        : m_places(places), m_testShare(testShare), m_reading(reading) {}

    FolderScan listed(const FlatSplit& train) {
        FolderScan scan;
        const auto test = flatTest(m_places), validation = flatSplit(m_places, Split::Validation);
        if (train.folder == m_places.data || (!test && !validation)) {  // the list may divide what lies in one folder
            addSplits(scan, listedSplits(train.folder, *train.list, imageFiles(), m_reading, scan), m_testShare);
            return scan;
        }
        NamedSplits splits(scan.names);
        splits.train = pictures(train, scan);
        splits.test = pictures(test, scan);
        splits.validation = pictures(validation, scan);
        addSplits(scan, std::move(splits), m_testShare);
        return scan;
    }

    FolderScan folders() {
        if (!hasClasses(m_places.data, Split::Train)) return classes(m_testShare);
        const auto test = flatTest(m_places);
        auto validation = flatSplit(m_places, Split::Validation);
        if (validation && !validation->list) validation->list = commonList(m_places);
        if (validation && !validation->list) validation->list = findDevkitList(m_places.lists);
        if (validation && !validation->list)
            throw ProblemError(
                {validation->folder.string(), "label-list.missing", {validation->folder.filename().string()}});
        const bool isListed = validation || (test && test->list);
        FolderScan scan = classes(isListed ? 0 : m_testShare);
        FileList tested = named(pictures(test, scan), test, scan).labelled(scan.classes);
        FileList validated = named(pictures(validation, scan), validation, scan).labelled(scan.classes);
        if (!tested.empty()) std::swap(scan.test, tested);
        if (!tested.empty()) scan.validation = std::move(tested);  // folders for validation, which were all there was
        if (!validated.empty()) (scan.test.empty() ? scan.test : scan.validation) = std::move(validated);
        return scan;
    }

private:
    FolderScan classes(double share) {
        FolderScan scan = scanClassFolders(m_places.data, imageFiles(), share, m_reading);
        std::erase_if(scan.skipped, isOfBoxes);
        return scan;
    }

    NamedPictures pictures(const std::optional<FlatSplit>& split, FolderScan& scan) {
        if (!split) return NamedPictures(scan.names);
        if (split->list) return listedPictures(split->folder, *split->list, imageFiles(), m_reading, scan);
        scan.notes.push_back({split->folder.string(), "label-list.unlabelled-split", {}});
        return NamedPictures(scan.names);
    }

    // Labels that are numbers count the classes in a list of them, from 0.
    NamedPictures named(NamedPictures pictures, const std::optional<FlatSplit>& split, const FolderScan& scan) {
        const auto isOther = [&](const std::string& name) {
            return isNumber(name) && !std::ranges::binary_search(scan.classes, name);
        };
        auto& names = pictures.classNames();
        if (pictures.empty() || !std::ranges::all_of(names, isOther)) return pictures;
        const SynsetList list = findSynsets(m_places.lists);
        const bool beginsAt0 = std::ranges::find(names, "0") != names.end();
        for (std::string& each : names) {
            const std::size_t number = each.size() < 9 ? std::stoul(each) : list.synsets.size();
            if (!list.isOfClasses || !beginsAt0 || number >= list.synsets.size())
                throw ProblemError({split->list->string(), "label-list.numbers", {each}});
            each = list.synsets[number].id;
        }
        return pictures;
    }

    // Tiny-ImageNet has one beside the images of each class.
    static bool isOfBoxes(const SkippedFile& file) { return file.file.string().ends_with("_boxes.txt"); }

    const Places& m_places;
    double m_testShare;
    const Reading& m_reading;
};

bool startsLikeAnImage(const fs::path& file) {
    std::uint8_t magic[2] = {};
    try {
        if (openPlain(file)->read(magic) < 2) return false;
    } catch (const ProblemError&) {
        return false;
    }
    return (magic[0] == 0xff && magic[1] == 0xd8) || (magic[0] == 0x89 && magic[1] == 'P');
}

constexpr int kDeepest = 3;  // folders

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

bool holdsClassFolders(const fs::path& path) {
    if (!fs::is_directory(path)) return false;
    int budget = 500;
    std::error_code ignored;
    for (const auto& item : fs::directory_iterator(path)) {
        if (isSystemName(item.path().filename().string())) continue;
        if (item.is_directory(ignored) && holdsImages(item.path(), kDeepest - 1, budget)) return true;
    }
    return false;
}

// Archives only where nothing lies unpacked: it may have come out of them.
FolderScan scanAs(const fs::path& root, const Places& places, double testShare, const Reading& reading) {
    Layout layout(places, testShare, reading);
    if (const auto train = listedTraining(places)) return layout.listed(*train);
    const auto archives = holdsClassFolders(places.data) ? std::vector<fs::path>() : archivesAt(root);
    if (!archives.empty()) return scanArchives(root, archives, testShare, reading);
    if (!fs::is_directory(root)) throw ProblemError({root.string(), "dataset.not-found", {}});
    return layout.folders();
}

// What says something of pictures or classes: it may be written anew without a change of its folder.
void watchLists(const fs::path& folder, const Reading& reading, std::vector<WatchedPath>& all) {
    if (!fs::is_directory(folder)) return;
    for (const auto& item : fs::directory_iterator(folder)) {
        reading.goOn();
        const fs::path ending = item.path().extension();
        if (ending == ".csv" || ending == ".CSV" || ending == ".txt") all.push_back(watched(item.path()));
    }
}

// What the layout and the names of classes depend on, beside the folders that are listed.
std::vector<WatchedPath> watchedFor(const fs::path& root, const Places& places, const Reading& reading) {
    std::vector<fs::path> folders = places.lists;
    for (const char* below : {"Data", "Data/CLS-LOC", "ILSVRC", "ILSVRC/Data", "ILSVRC/Data/CLS-LOC", "images"})
        folders.push_back(root / below);
    for (const SplitName& each : kSplitNames)
        for (const fs::path& data : {root, places.data})
            folders.push_back(data / each.name), folders.push_back(data / each.name / "images");
    std::vector<WatchedPath> all{watched(root)};
    for (const fs::path& each : folders) {
        all.push_back(watched(each));
        watchLists(each, reading, all);
    }
    return all;
}

// Beside archives: images in folders would come before them.
void watchFolders(const fs::path& folder, int depth, std::vector<WatchedPath>& watched) {
    if (depth == 0 || !fs::is_directory(folder)) return;
    for (const auto& item : fs::directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
        std::error_code ignored;
        if (!item.is_directory(ignored)) continue;
        watched.push_back(lockstep::watched(item.path()));
        watchFolders(item.path(), depth - 1, watched);
    }
}

std::vector<Synset> namesOfSynsets(const Places& places) {
    auto synsets = findSynsets(places.lists).synsets;
    if (!synsets.empty()) return synsets;
    const auto devkit = findDevkitList(places.lists);
    return devkit ? readDevkitSynsets(*devkit) : synsets;
}

}  // namespace

FolderScan scanImages(const fs::path& root, double testShare, const Reading& reading) {
    const std::int64_t begun = nowNs();
    const Places places = placesOf(root);
    auto watched = watchedFor(root, places, reading);
    FolderScan scan = scanAs(root, places, testShare, reading);
    if (!scan.archives.empty()) watchFolders(root, kDeepest, watched);
    scan.watched.insert(scan.watched.end(), watched.begin(), watched.end());
    scan.begunNs = begun;
    if (reading.trains()) requireClasses(root, scan);
    if (std::ranges::any_of(scan.classes, isSynsetId)) nameClasses(scan.classes, namesOfSynsets(places));
    return scan;
}

PictureSplits picturesOf(const std::shared_ptr<const FolderScan>& scan) {
    const auto of = [&](const FileList& split) { return std::shared_ptr<const FileList>(scan, &split); };
    if (scan->archives.empty())
        return {std::make_shared<PictureFiles>(of(scan->train), scan->index),
                std::make_shared<PictureFiles>(of(scan->test), scan->index),
                std::make_shared<PictureFiles>(of(scan->validation), scan->index)};
    const auto archives = std::make_shared<const OpenArchives>(scan->archives);
    return {std::make_shared<PictureMembers>(of(scan->train), archives, scan->index),
            std::make_shared<PictureMembers>(of(scan->test), archives, scan->index),
            std::make_shared<PictureMembers>(of(scan->validation), archives, scan->index)};
}

int recogniseImages(const fs::path& path) {
    const Places places = placesOf(path);
    if (listedTraining(places)) return 80;
    if (holdsClassFolders(places.data)) return 70;
    const auto archives = archivesAt(path);
    if (archives.empty()) return 0;
    if (isRefused(archives.front())) return 10;  // so that opening it says why, and what to do
    return isOfImages(archives.front()) ? 70 : 0;
}

}  // namespace lockstep
