#include "datasets/listed_pictures.h"

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/ascii.h"
#include "datasets/devkit.h"
#include "datasets/label_list.h"
#include "datasets/split_names.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

bool isDocument(const fs::path& file) {
    constexpr std::string_view kEndings[] = {".csv", ".json", ".mat", ".md", ".tsv", ".txt", ".xml", ".yaml"};
    return std::ranges::find(kEndings, file.extension().string()) != std::end(kEndings);
}

// What says something of the pictures lies beside them rightly.
FileList picturesBelow(const fs::path& folder, const FileKind& kind, const Reading& reading, FolderScan& scan) {
    const auto before = std::ssize(scan.skipped);
    FileList files = filesBelow(folder, kind, reading, scan);
    const auto documents = std::remove_if(scan.skipped.begin() + before, scan.skipped.end(), [&](const auto& each) {
        return each.reason.code == kind.codeOfOthers && isDocument(each.file);
    });
    scan.skipped.erase(documents, scan.skipped.end());
    return files;
}

class Matching {
public:
    Matching(const fs::path& folder, const fs::path& list, FileList files)
        : m_list(list), m_bases{list.parent_path(), folder, folder / "images"}, m_files(std::move(files)) {
        m_labels.assign(m_files.size(), kNone);
        m_splits.assign(m_files.size(), Split::Train);
        m_places.reserve(2 * m_files.size());
        for (std::uint32_t i = 0; i < m_files.size(); ++i)
            for (const bool isWhole : {true, false}) m_places.push_back({hashOf(nameOf(i, isWhole)), !isWhole, i});
        std::ranges::sort(m_places);
    }

    void take(const ListedLabel& row, Split split, FolderScan& scan) {
        const auto place = find(row.file);
        if (!place && isOfAnotherFolder(row.file)) return;
        const std::uint32_t label = row.label.empty() ? kNone : numberOf(row.label);
        if (!place || label == kNone || m_labels[*place] == label) {
            const char* code = !place           ? codeOfAbsent(row.file)
                               : label == kNone ? "label-list.empty-label"
                                                : "label-list.named-twice";
            const fs::path file = place ? fs::path(m_files.fileOf(*place)) : m_bases[1] / row.file;
            return scan.skipped.push_back({file, {file.string(), code, {m_list.string(), std::to_string(row.line)}}});
        }
        if (const std::uint32_t other = m_labels[*place]; other != kNone)
            throw ProblemError({m_list.string(),
                                "label-list.contradiction",
                                {std::to_string(row.line), row.file, m_labelNames[other], row.label}});
        m_labels[*place] = label;
        m_splits[*place] = split;
    }

    NamedSplits finish(FolderScan& scan) {
        NamedSplits named(scan.names);
        for (std::size_t i = 0; i < m_files.size(); ++i) {
            if (m_labels[i] == kNone) scan.skipped.push_back({m_files.fileOf(i), notListed(m_files.fileOf(i))});
            else named.of(m_splits[i]).add(m_files.entry(i), m_labelNames[m_labels[i]]);
        }
        return named;
    }

private:
    static bool isBelow(const fs::path& file, const fs::path& folder) {
        const fs::path below = file.lexically_normal().lexically_relative(folder.lexically_normal());
        return !below.empty() && *below.begin() != "..";
    }

    // One list may be of several splits' folders.
    bool isOfAnotherFolder(const std::string& name) const {
        const fs::path file = m_bases[0] / name;
        std::error_code ignored;
        return isBelow(file, m_bases[0]) && !isBelow(file, m_bases[1]) && fs::is_regular_file(file, ignored);
    }

    // It may be there, and yet be none of these pictures.
    const char* codeOfAbsent(const std::string& name) const {
        return isBelow(m_bases[1] / name, m_bases[1]) ? "label-list.absent-file" : "label-list.outside-file";
    }

    Problem notListed(const std::string& file) const { return {file, "label-list.not-listed", {m_list.string()}}; }

    // A picture by the hash of its path, or of that without the ending.
    struct Place {
        std::size_t hash = 0;
        bool isWithoutEnding = false;
        std::uint32_t file = 0;
        auto operator<=>(const Place&) const = default;
    };

    static constexpr std::uint32_t kNone = ~0u;

    std::uint32_t numberOf(const std::string& label) {
        const auto [known, isNew] = m_numbers.emplace(label, static_cast<std::uint32_t>(m_labelNames.size()));
        if (isNew) m_labelNames.push_back(label);
        return known->second;
    }

    static std::size_t hashOf(const std::string& name) { return std::hash<std::string>()(name); }
    std::string nameOf(std::size_t file, bool isWhole) const {
        return isWhole ? m_files.fileOf(file) : fs::path(m_files.fileOf(file)).replace_extension().string();
    }

    std::optional<std::size_t> find(const std::string& name) const {
        if (name.empty()) return std::nullopt;
        for (const fs::path& base : m_bases) {
            const std::string file = (base / name).lexically_normal().string();
            for (const Place& each : std::ranges::equal_range(m_places, hashOf(file), {}, &Place::hash))
                if (nameOf(each.file, !each.isWithoutEnding) == file) return each.file;
        }
        return std::nullopt;
    }

    const fs::path& m_list;
    std::array<fs::path, 3> m_bases;
    FileList m_files;
    std::vector<std::uint32_t> m_labels;  // of each file: its name's number, or none yet
    std::vector<Split> m_splits;          // likewise
    std::vector<std::string> m_labelNames;
    std::unordered_map<std::string, std::uint32_t> m_numbers;
    std::vector<Place> m_places;  // sorted: whole names before others, files that come first before others
};

std::optional<Split> splitIn(const std::string& cell) {
    const std::string word = lowered(cell);
    return word == "dev" ? Split::Validation : splitOf(word);
}

// Where each row's column says a split; else that column is something else, which is said, and all are to train on.
std::vector<Split> splitsOf(const std::vector<ListedLabel>& rows, const fs::path& list, FolderScan& scan) {
    std::vector<Split> splits;
    for (const ListedLabel& row : rows) {
        if (const auto split = splitIn(row.split)) splits.push_back(*split);
        else if (row.split.empty() && splits.empty()) break;
        else {
            scan.notes.push_back({list.string(), "label-list.unknown-split", {std::to_string(row.line), row.split}});
            break;
        }
    }
    if (splits.size() < rows.size()) splits.assign(rows.size(), Split::Train);
    return splits;
}

NamedSplits match(const fs::path& folder, const fs::path& list, const FileKind& kind, const Reading& reading,
                  FolderScan& scan, std::optional<Split> merged) {
    scan.watch(list);
    if (isDevkitList(list)) scan.watch(devkitMeaning(list));
    const auto rows = readLabelList(list);
    const auto splits = merged ? std::vector<Split>(rows.size(), *merged) : splitsOf(rows, list, scan);
    Matching matching(folder, list, picturesBelow(folder, kind, reading, scan));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        reading.match(static_cast<std::int64_t>(i) + 1, std::ssize(rows));
        matching.take(rows[i], splits[i], scan);
    }
    NamedSplits named = matching.finish(scan);
    if (named.train.empty() && named.test.empty() && named.validation.empty() && !rows.empty())
        throw ProblemError({list.string(), "label-list.matches-none", {folder.string(), rows.front().file}});
    return named;
}

}  // namespace

NamedSplits listedSplits(const fs::path& folder, const fs::path& list, const FileKind& kind, const Reading& reading,
                         FolderScan& scan) {
    NamedSplits splits = match(folder, list, kind, reading, scan, std::nullopt);
    if (splits.train.empty()) std::swap(splits.train, splits.test);  // one alone is all there is
    if (splits.train.empty()) std::swap(splits.train, splits.validation);
    return splits;
}

NamedPictures listedPictures(const fs::path& folder, const fs::path& list, const FileKind& kind, const Reading& reading,
                             FolderScan& scan) {
    return match(folder, list, kind, reading, scan, Split::Train).train;
}

}  // namespace lockstep
