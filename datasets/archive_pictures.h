#pragma once
#include <filesystem>
#include <vector>

#include "datasets/class_folders.h"

namespace lockstep {

// The archives at a path: itself, or those in a folder or in its split folders; in the order of their names. Empty:
// none.
std::vector<std::filesystem::path> archivesAt(const std::filesystem::path& path);

// Whether an archive begins like one of images. Reads little; throws nothing but std::bad_alloc.
bool isOfImages(const std::filesystem::path& archive);
bool isRefused(const std::filesystem::path& archive);  // likewise: compressed, cut short, of archives…

// Lists the images of archives, which are read in place: labelled by folders as if the archive lay unpacked, or as
// shards (shard_members.h). An archive belongs to the split that its folder or its name says ("val-0001.tar"); else a
// member's folder says it. Throws ProblemError: those of archive_index.h; "archive.member-packed";
// "picture.unknown-class"; "archive.no-images".
FolderScan scanArchives(const std::filesystem::path& root, const std::vector<std::filesystem::path>& archives,
                        double testShare, const Reading& reading);

}  // namespace lockstep
