#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct ArchiveMember {
    std::string name;  // its path in the archive
    std::string bytes;
};

bool isArchiveName(const std::filesystem::path& file);

// Which files of an archive somebody wants: those of certain names, and others that begin in a certain way.
struct WantedMembers {
    std::function<bool(const std::string& name)> byName;
    std::function<bool(const std::string& name, std::string_view beginning)> byBeginning;  // some 256 KiB of it
};

// The files of a zip, tar or 7z, packed or not, that are wanted, in the order of the archive. Throws ProblemError
// "archive.unreadable"; "archive.too-large" where they would take more than a quarter of the machine's memory. A build
// without libarchive throws "archive.not-in-this-build".
std::vector<ArchiveMember> readArchive(const std::filesystem::path& file, const WantedMembers& wanted);

}  // namespace lockstep
