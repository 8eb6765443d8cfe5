#include <algorithm>
#include <array>
#include <string_view>

#include "datasets/archive_members.h"
#include "datasets/ascii.h"

namespace lockstep {

bool isArchiveName(const std::filesystem::path& file) {
    constexpr std::array<std::string_view, 13> kEndings{".zip",    ".7z",      ".tar",    ".tgz",    ".tbz",
                                                        ".tbz2",   ".txz",     ".tzst",   ".tar.gz", ".tar.bz2",
                                                        ".tar.xz", ".tar.zst", ".tar.lz4"};
    const std::string name = lowered(file.filename().string());
    return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace lockstep
