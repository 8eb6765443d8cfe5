#include "datasets/listed_pictures.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "datasets/label_list.h"

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
        m_labels.resize(m_files.size());
        for (std::size_t i = 0; i < m_files.size(); ++i) m_places.emplace(m_files.fileOf(i), i);
        for (std::size_t i = 0; i < m_files.size(); ++i)
            m_places.emplace(fs::path(m_files.fileOf(i)).replace_extension().string(), i);
    }

    void take(const ListedLabel& row, FolderScan& scan) {
        const auto place = find(row.file);
        if (!place || row.label.empty() || m_labels[*place] == row.label) {
            const char* code = !place              ? "label-list.absent-file"
                               : row.label.empty() ? "label-list.empty-label"
                                                   : "label-list.named-twice";
            const fs::path file = place ? fs::path(m_files.fileOf(*place)) : m_bases[1] / row.file;
            return scan.skipped.push_back({file, {file.string(), code, {m_list.string(), std::to_string(row.line)}}});
        }
        std::string& label = m_labels[*place];
        if (!label.empty())
            throw ProblemError(
                {m_list.string(), "label-list.contradiction", {std::to_string(row.line), row.file, label, row.label}});
        label = row.label;
    }

    NamedPictures finish(FolderScan& scan) {
        NamedPictures named(scan.names);
        for (std::size_t i = 0; i < m_files.size(); ++i) {
            if (!m_labels[i].empty()) named.add(m_files.entry(i), m_labels[i]);
            else scan.skipped.push_back({m_files.fileOf(i), notListed(m_files.fileOf(i))});
        }
        return named;
    }

private:
    Problem notListed(const std::string& file) const { return {file, "label-list.not-listed", {m_list.string()}}; }

    std::optional<std::size_t> find(const std::string& name) const {
        if (name.empty()) return std::nullopt;
        for (const fs::path& base : m_bases) {
            const auto found = m_places.find((base / name).lexically_normal().string());
            if (found != m_places.end()) return found->second;
        }
        return std::nullopt;
    }

    const fs::path& m_list;
    std::array<fs::path, 3> m_bases;
    FileList m_files;
    std::vector<std::string> m_labels;                      // of each file; empty: none yet
    std::unordered_map<std::string, std::size_t> m_places;  // by path, and by path without the ending
};

}  // namespace

NamedPictures listedPictures(const fs::path& folder, const fs::path& list, const FileKind& kind, const Reading& reading,
                             FolderScan& scan) {
    scan.watch(list);
    const auto rows = readLabelList(list);
    Matching matching(folder, list, picturesBelow(folder, kind, reading, scan));
    for (const ListedLabel& row : rows) {
        reading.goOn();
        matching.take(row, scan);
    }
    return matching.finish(scan);
}

}  // namespace lockstep
