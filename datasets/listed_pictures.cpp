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
std::vector<LabelledFile> picturesBelow(const fs::path& folder, const FileKind& kind, const Reading& reading,
                                        FolderScan& scan) {
    const auto before = std::ssize(scan.skipped);
    auto files = filesBelow(folder, kind, reading, scan);
    const auto documents = std::remove_if(scan.skipped.begin() + before, scan.skipped.end(), [&](const auto& each) {
        return each.reason.code == kind.codeOfOthers && isDocument(each.file);
    });
    scan.skipped.erase(documents, scan.skipped.end());
    return files;
}

class Matching {
public:
    Matching(const fs::path& folder, const fs::path& list, std::vector<LabelledFile> files)
        : m_list(list), m_bases{list.parent_path(), folder, folder / "images"}, m_files(std::move(files)) {
        m_labels.resize(m_files.size());
        for (std::size_t i = 0; i < m_files.size(); ++i) m_places.emplace(m_files[i].file.string(), i);
        for (std::size_t i = 0; i < m_files.size(); ++i)
            m_places.emplace(fs::path(m_files[i].file).replace_extension().string(), i);
    }

    void take(const ListedLabel& row, FolderScan& scan) {
        const auto place = find(row.file);
        if (!place || row.label.empty() || m_labels[*place] == row.label) {
            const char* code = !place              ? "label-list.absent-file"
                               : row.label.empty() ? "label-list.empty-label"
                                                   : "label-list.named-twice";
            const fs::path file = place ? m_files[*place].file : m_bases[1] / row.file;
            return scan.skipped.push_back({file, {file.string(), code, {m_list.string(), std::to_string(row.line)}}});
        }
        std::string& label = m_labels[*place];
        if (!label.empty())
            throw ProblemError(
                {m_list.string(), "label-list.contradiction", {std::to_string(row.line), row.file, label, row.label}});
        label = row.label;
    }

    std::vector<NamedPicture> finish(FolderScan& scan) {
        std::vector<NamedPicture> named;
        for (std::size_t i = 0; i < m_files.size(); ++i) {
            const fs::path& file = m_files[i].file;
            if (m_labels[i].empty())
                scan.skipped.push_back({file, {file.string(), "label-list.not-listed", {m_list.string()}}});
            else named.push_back({std::move(m_files[i]), std::move(m_labels[i])});
        }
        return named;
    }

private:
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
    std::vector<LabelledFile> m_files;
    std::vector<std::string> m_labels;                      // of each file; empty: none yet
    std::unordered_map<std::string, std::size_t> m_places;  // by path, and by path without the ending
};

}  // namespace

std::vector<NamedPicture> listedPictures(const fs::path& folder, const fs::path& list, const FileKind& kind,
                                         const Reading& reading, FolderScan& scan) {
    const auto rows = readLabelList(list);
    Matching matching(folder, list, picturesBelow(folder, kind, reading, scan));
    for (const ListedLabel& row : rows) {
        reading.goOn();
        matching.take(row, scan);
    }
    return matching.finish(scan);
}

}  // namespace lockstep
