#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/dataset.h"

namespace lockstep {

struct ImageFile {
    std::filesystem::path file;
    std::string name;                            // within the split: "cat/0001.jpg"
    std::int32_t label = 0;
    std::uint64_t bytes = 0;
    std::int64_t modifiedNs = 0;
};

struct ImageScan {
    std::vector<std::string> classes;            // names of the class folders, sorted bytewise
    std::vector<ImageFile> train, test;          // by class, then by name
    std::vector<SkippedFile> skipped;            // neither .jpg, .jpeg nor .png, or no regular file
};

// Lists a folder with one sub-folder per class, or with split folders (train; test, val, valid or validation) that hold
// such sub-folders. Without a folder for testing, `testShare` of the images is held out, chosen by a hash of class and
// file name: a file keeps its split when others come and go. Class folders may have folders of their own; hidden names
// are passed over. Reads no image. Throws ProblemError "dataset.not-found", "image-folder.no-classes",
// "image-folder.unknown-class"; std::filesystem_error.
ImageScan scanImageFolder(const std::filesystem::path& root, double testShare);

}  // namespace lockstep
