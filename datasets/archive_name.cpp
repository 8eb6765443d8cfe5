#include <algorithm>
#include <array>
#include <string_view>

#include "datasets/archive_members.h"

namespace lockstep {

bool isArchiveName(const std::filesystem::path& file) {
    constexpr std::array<std::string_view, 13> kEndings{".zip",    ".7z",      ".tar",    ".tgz",    ".tbz",
                                                        ".tbz2",   ".txz",     ".tzst",   ".tar.gz", ".tar.bz2",
                                                        ".tar.xz", ".tar.zst", ".tar.lz4"};
    std::string name = file.filename().string();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace lockstep
