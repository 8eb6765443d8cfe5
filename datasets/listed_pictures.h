#pragma once
#include <filesystem>

#include "datasets/named_pictures.h"

namespace lockstep {

// The pictures below a folder that a list of labels names: by their paths from the list or the folder on, or from its
// folder `images`, with or without the ending; in the splits that it says, else all to train on. What it names in vain
// or twice, and pictures that it does not name, are skipped. Throws ProblemError "label-list.contradiction" and those
// of label_list.h.
NamedSplits listedSplits(const std::filesystem::path& folder, const std::filesystem::path& list, const FileKind& kind,
                         const Reading& reading, FolderScan& scan);

// The same of a folder that holds one split: whatever the list says of splits, only pictures of this one lie there.
NamedPictures listedPictures(const std::filesystem::path& folder, const std::filesystem::path& list,
                             const FileKind& kind, const Reading& reading, FolderScan& scan);

}  // namespace lockstep
