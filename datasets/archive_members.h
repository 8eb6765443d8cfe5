#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {

struct ArchiveMember {
    std::string name;  // its path in the archive
    std::string bytes;
};

bool isArchiveName(const std::filesystem::path& file);

// The files of a zip, tar or 7z, packed or not, whose names are wanted, in the order of the archive. Throws
// ProblemError "archive.unreadable"; "archive.too-large" where they would take more than a quarter of the machine's
// memory. A build without libarchive throws "archive.not-in-this-build".
std::vector<ArchiveMember> readArchive(const std::filesystem::path& file,
                                       const std::function<bool(const std::string& name)>& wanted);

}  // namespace lockstep
