#pragma once
#include <memory>

#include "datasets/class_folders.h"
#include "datasets/picture_source.h"

namespace lockstep {

// Lists images and their classes, in whichever of these ways they lie:
// - a folder per class, in split folders or not (class_folders.h);
// - likewise, with pictures for validation or testing in one folder and a list of their labels (label_list.h) in it or
//   above: ImageNet as ILSVRC ships it, Kaggle's folders of it (Data/CLS-LOC), Tiny-ImageNet;
// - pictures in one folder and a list of their labels;
// - a tar or zip with a folder per class, or shards of WebDataset (archive_pictures.h).
// Classes are called by a list of synsets where one lies there (synsets.h). Throws ProblemError "label-list.*",
// "picture.unknown-class" and what class_folders.h and archive_pictures.h say; std::filesystem_error.
FolderScan scanImages(const std::filesystem::path& root, double testShare, const Reading& reading);

// The pictures of each split, to be read.
struct PictureSplits {
    std::shared_ptr<const EncodedPictures> train, test, validation;
};
PictureSplits picturesOf(const std::shared_ptr<const FolderScan>& scan);

// How surely images lie there in one of them, see DatasetEntry::recognise.
int recogniseImages(const std::filesystem::path& path);

}  // namespace lockstep
