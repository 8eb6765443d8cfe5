#include "datasets/archive_members.h"
#include "datasets/catalog.h"

namespace lockstep {

Result<const DatasetEntry*> recogniseDataset(const std::vector<DatasetEntry>& entries,
                                             const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return Problem{path.string(), "dataset.not-found", {}};
    const DatasetEntry* best = nullptr;
    int surest = 0;
    std::string looked;
    for (const DatasetEntry& entry : entries) {
        if (!entry.recognise) continue;
        if (entry.needsPath || !entry.defaultPath.empty()) looked += (looked.empty() ? "" : ", ") + entry.id;
        int sure = 0;
        try {
            sure = entry.recognise(path);
        } catch (const std::filesystem::filesystem_error& error) {
            return Problem{path.string(), "file.unreadable", {error.code().message()}};
        }
        if (sure > surest) {
            surest = sure;
            best = &entry;
        }
    }
    if (!best && isArchiveName(path) && !std::filesystem::is_directory(path, ignored))
        return Problem{path.string(), "dataset.archive-of-others", {}};
    if (!best) return Problem{path.string(), "dataset.unrecognised", {looked}};
    return best;
}

}  // namespace lockstep
