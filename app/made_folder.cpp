#include "app/made_folder.h"

#include "engine/core/result.h"

namespace lockstep {

namespace fs = std::filesystem;

MadeFolder::MadeFolder(const fs::path& folder) {
    std::error_code failed;
    for (fs::path each = folder; !each.empty() && !fs::exists(each, failed); each = each.parent_path())
        m_made.push_back(each);
    if (folder.empty()) return;
    fs::create_directories(folder, failed);
    if (!failed) return;
    takeBack();
    throw ProblemError({folder.string(), "out.unwritable", {failed.message()}});
}

MadeFolder MadeFolder::of(const fs::path& file) { return MadeFolder(file.parent_path()); }

MadeFolder::~MadeFolder() { takeBack(); }

void MadeFolder::takeBack() {
    std::error_code ignored;
    for (const fs::path& each : m_made) fs::remove(each, ignored);
}

}  // namespace lockstep
