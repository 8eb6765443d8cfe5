#include "datasets/archive_pictures.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "datasets/archive_index.h"
#include "datasets/archive_members.h"
#include "datasets/image_kind.h"
#include "datasets/named_pictures.h"
#include "datasets/shard_members.h"
#include "datasets/split_names.h"
#include "engine/core/system_names.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

bool isSystemsMember(std::string_view name) { return std::ranges::any_of(partsOf(name), isSystemName); }

// "imagenet-val-0001.tar": the first word that is a split's name.
std::optional<Split> splitByName(const fs::path& archive) {
    std::string word;
    for (const char c : archive.stem().string() + '.') {
        if (std::isalpha(static_cast<unsigned char>(c)))
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (const auto split = splitOf(word)) return split;
        else word.clear();
    }
    return std::nullopt;
}

std::optional<Split> splitOfArchive(const fs::path& root, const fs::path& archive) {
    if (archive == root) return std::nullopt;
    if (archive.parent_path() != root) return splitOf(archive.parent_path().filename().string());
    return splitByName(archive);
}

// Archives whose names begin alike and end with a number, and how many there are where they say so.
struct Series {
    std::set<std::uint64_t> numbers;
    std::uint64_t total = 0;  // "s-00001-of-00008"; 0: not said
};

// The number that a text ends with, which is cut off it.
std::optional<std::uint64_t> takeNumber(std::string& text) {
    const std::size_t begin = text.find_last_not_of("0123456789") + 1;
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    if (begin == text.size() || std::from_chars(text.data() + begin, end, number).ec != std::errc()) return {};
    text.resize(begin);
    return number;
}

void addTo(std::map<std::string, Series>& all, const fs::path& archive) {
    constexpr std::string_view kOf = "-of-";
    std::string name = archive.stem().string();
    auto number = takeNumber(name), total = std::optional<std::uint64_t>(0);
    if (number && name.ends_with(kOf)) {
        name.resize(name.size() - kOf.size());
        total = std::exchange(number, takeNumber(name));
    }
    if (!number) return;
    Series& series = all[(archive.parent_path() / name).string()];
    series.numbers.insert(*number);
    series.total = std::max(series.total, *total);
}

// A download that was broken off leaves gaps. Where the series begins and ends is known of those that say how many
// there are.
void noteMissing(const std::vector<fs::path>& archives, std::vector<Problem>& notes) {
    std::map<std::string, Series> all;
    for (const fs::path& each : archives) addTo(all, each);
    for (const auto& [name, series] : all) {
        const std::set<std::uint64_t>& numbers = series.numbers;
        const std::uint64_t first = series.total > 0 ? std::min<std::uint64_t>(*numbers.begin(), 1) : *numbers.begin();
        const std::uint64_t last = std::max(*numbers.rbegin(), series.total > 0 ? first + series.total - 1 : 0);
        const std::uint64_t missing = last - first + 1 - numbers.size();
        std::uint64_t lowest = first;
        while (numbers.contains(lowest)) ++lowest;
        if ((numbers.size() > 1 || series.total > 0) && missing > 0)
            notes.push_back({name, "shard.missing", {std::to_string(lowest), std::to_string(missing)}});
    }
}

void addArchives(const fs::path& folder, std::vector<fs::path>& archives) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) return;
    for (const auto& item : fs::directory_iterator(folder)) {
        const bool isSystem = isSystemName(item.path().filename().string());
        if (!isSystem && isArchiveName(item.path()) && item.is_regular_file(ignored)) archives.push_back(item.path());
    }
}

// How many folders all images lie in, above those that tell their classes. Takes the names apart each time: those of a
// million would take much memory.
std::size_t commonDepth(const std::vector<const MemberPlace*>& pictures) {
    const auto first = pictures.empty() ? std::vector<std::string_view>() : partsOf(pictures.front()->name);
    for (std::size_t depth = 0;; ++depth) {
        bool isDeeper = false;
        for (const MemberPlace* each : pictures) {
            const auto parts = partsOf(each->name);
            if (parts.size() <= depth + 1 || parts[depth] != first[depth]) return depth;
            isDeeper = isDeeper || parts.size() > depth + 2;
        }
        if (!isDeeper) return depth;
    }
}

class Scanner {
public:
    Scanner(const fs::path& root, const Reading& reading) : m_root(root), m_reading(reading) {}

    void add(const fs::path& path, bool isAlone) {
        m_scan.watch(path);
        m_folders.clear();
        const RandomFile archive(path);
        m_archive = &archive;
        m_prefix = isAlone ? "" : path.lexically_relative(m_root).generic_string() + '/';
        m_split = splitOfArchive(m_root, path);
        m_members = indexArchive(archive, [&] {
            m_reading.goOn();
            m_reading.list(1);
        });
        std::erase_if(m_members, [&](const MemberPlace& member) { return passesOver(member); });
        const bool isOfSamples = isShard(m_members);
        m_hasShards = m_hasShards || isOfSamples;
        isOfSamples ? addShard() : addFolders();
        m_scan.archives.push_back(path);
    }

    FolderScan finish(double testShare) {
        if (m_passedOver > 0)
            m_scan.notes.push_back({m_firstPassedOver, "class-folder.passed-over", {std::to_string(m_passedOver)}});
        if (m_hasShards) noteMissing(m_scan.archives, m_scan.notes);
        if (m_splits.train.empty()) std::swap(m_splits.train, m_splits.test);  // one alone is all there is
        if (m_splits.train.empty()) std::swap(m_splits.train, m_splits.validation);
        if (m_splits.train.empty() && !m_archiveInside.empty())
            throw ProblemError({m_root.string(), "archive.of-archives", {m_archiveInside}});
        if (m_splits.train.empty()) throw ProblemError({m_root.string(), "archive.no-images", {}});
        addSplits(m_scan, std::move(m_splits), testShare);
        return std::move(m_scan);
    }

private:
    bool passesOver(const MemberPlace& member) {
        if (!isSystemsMember(member.name)) return false;
        if (m_passedOver++ == 0) m_firstPassedOver = pathOf(member).string();
        return true;
    }

    void addShard() {
        const auto skipped = [&](const MemberPlace& member, const char* code) { skip(member, code); };
        for (const ShardPicture& each : shardPictures(*m_archive, m_members, skipped)) {
            const MemberPlace& member = m_members[each.member];
            const auto parts = partsOf(member.name);
            addPicture(member,
                       m_split.value_or(parts.size() > 1 ? splitOf(parts[0]).value_or(Split::Train) : Split::Train),
                       each.className);
        }
    }

    void addFolders() {
        std::vector<const MemberPlace*> pictures;
        for (const MemberPlace& member : m_members) {
            if (isOfKind(member.name, imageFiles())) pictures.push_back(&member);
            else skip(member, imageFiles().codeOfOthers.c_str());
            if (m_archiveInside.empty() && isArchiveName(member.name)) m_archiveInside = member.name;
        }
        const std::size_t depth = commonDepth(pictures);
        m_hasSplits = std::ranges::any_of(pictures, [&](const MemberPlace* each) {
            const auto parts = partsOf(each->name);
            return parts.size() > depth + 2 && splitOf(parts[depth]) && parts[depth + 1] != "images";
        });
        for (const MemberPlace* each : pictures) {
            const auto parts = partsOf(each->name);
            addInFolder(*each, std::span(parts).subspan(depth));
        }
    }

    // split/class/image or class/image
    void addInFolder(const MemberPlace& member, std::span<const std::string_view> parts) {
        const auto split = m_split ? std::nullopt : splitOf(parts[0]);
        const bool isFlat = parts.size() == 2 || (parts.size() == 3 && parts[1] == "images");
        if (split && isFlat && m_hasSplits)
            throw ProblemError({m_archive->path().string(), "archive.flat-split", {member.name}});
        if (split && parts.size() > 2) parts = parts.subspan(1);
        if (parts.size() < 2) skip(member, "class-folder.no-class");
        else addPicture(member, m_split ? *m_split : split.value_or(Split::Train), std::string(parts[0]));
    }

    void addPicture(const MemberPlace& member, Split split, const std::string& className) {
        if (member.kind == MemberPlace::Kind::Packed)
            throw ProblemError({m_archive->path().string(), "archive.member-packed", {member.name}});
        if (member.kind == MemberPlace::Kind::Other) return skip(member, "file.not-regular");
        m_splits.of(split).add(entryOf(member), className);
    }

    FileEntry entryOf(const MemberPlace& member) {
        const std::size_t base = member.name.rfind('/') + 1;  // 0: it lies in no folder
        return {.bytes = member.bytes,
                .modifiedNs = m_archive->modifiedNs(),
                .changedNs = m_archive->changedNs(),
                .offset = member.offset,
                .name = m_scan.names->add(std::string_view(member.name).substr(base)),
                .folder = folderOf(member.name.substr(0, base))};
    }

    // `name` ends with '/', or is empty.
    std::uint32_t folderOf(const std::string& name) {
        const auto [known, isNew] = m_folders.emplace(name, 0);
        if (isNew) {
            const std::string path = m_archive->path().string() + '/' + name;
            known->second = m_scan.names->addFolder(
                {path.substr(0, path.size() - 1), m_prefix + name, std::ssize(m_scan.archives)});
        }
        return known->second;
    }

    fs::path pathOf(const MemberPlace& member) const { return m_archive->path() / member.name; }

    void skip(const MemberPlace& member, const char* code) {
        m_scan.skipped.push_back({pathOf(member), {pathOf(member).string(), code, {}}});
    }

    const fs::path& m_root;
    const Reading& m_reading;
    FolderScan m_scan;
    NamedSplits m_splits{m_scan.names};
    std::int64_t m_passedOver = 0;
    std::string m_firstPassedOver;
    std::string m_archiveInside;  // the first that is itself one
    bool m_hasShards = false;
    // Of the archive that is listed at the moment:
    const RandomFile* m_archive = nullptr;
    std::vector<MemberPlace> m_members;
    std::optional<Split> m_split;
    std::string m_prefix;
    bool m_hasSplits = false;                                  // split/class/image
    std::unordered_map<std::string, std::uint32_t> m_folders;  // of FileNames, by their names in it
};

}  // namespace

std::vector<fs::path> archivesAt(const fs::path& path) {
    std::error_code ignored;
    std::vector<fs::path> archives;
    if (fs::is_regular_file(path, ignored) && isArchiveName(path)) return {path};
    addArchives(path, archives);
    for (const SplitName& each : kSplitNames) addArchives(path / each.name, archives);
    std::ranges::sort(archives);
    std::set<fs::path> seen;  // by a link, or by another way of writing the folder's name, one is the same
    std::erase_if(archives, [&](const fs::path& each) { return !seen.insert(fs::canonical(each, ignored)).second; });
    return archives;
}

bool isOfImages(const fs::path& archive) {
    try {
        const RandomFile file(archive);
        const auto members = openMembers(file);
        for (int looks = 0; looks < 500; ++looks) {
            const auto member = members->next();
            if (!member) return false;
            if (isOfKind(member->name, imageFiles()) && !isSystemsMember(member->name)) return true;
        }
    } catch (const ProblemError&) {
    }
    return false;  // or opening it will say what is wrong
}

bool isRefused(const fs::path& archive) {
    try {
        const RandomFile file(archive);
        const auto first = openMembers(file)->next();
        return first && isArchiveName(first->name);
    } catch (const ProblemError&) {
        return true;
    }
}

FolderScan scanArchives(const fs::path& root, const std::vector<fs::path>& archives, double testShare,
                        const Reading& reading) {
    Scanner scanner(root, reading);
    for (const fs::path& each : archives) scanner.add(each, archives.size() == 1);
    return scanner.finish(testShare);
}

}  // namespace lockstep
