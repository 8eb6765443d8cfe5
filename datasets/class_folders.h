#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/file_list.h"
#include "datasets/reading.h"
#include "datasets/watched_path.h"
#include "engine/data/dataset.h"

namespace lockstep {

// What was found, and what finding it anew depends on.
struct FolderScan {
    std::shared_ptr<FileNames> names = std::make_shared<FileNames>();
    std::vector<std::string> classes;                       // of the class folders, sorted bytewise
    FileList train{names}, test{names}, validation{names};  // by class, then by name
    std::vector<std::filesystem::path> archives = {};       // if they lie in some
    std::vector<SkippedFile> skipped;  // of another kind, no regular file, in no class, a loop of links…
    std::vector<Problem> notes;        // "class-folder.passed-over": of systems and archivers, and hidden names
    std::vector<WatchedPath> watched;  // as each was before it was read
    std::int64_t begunNs = nowNs();
    std::filesystem::path index = {};  // where it is kept (picture_index.h), if it is

    void watch(const std::filesystem::path& path) { watched.push_back(lockstep::watched(path)); }
    std::size_t count() const { return train.size() + test.size() + validation.size(); }
};

// Which files are samples: by the endings of their names, in small letters; of others, the code that says so.
struct FileKind {
    std::vector<std::string> endings;
    std::string codeOfOthers;
};

// Lists a folder with one sub-folder per class, or with split folders (train; test; val, valid or validation; or Train,
// TRAIN…) that hold such sub-folders. With no folder called test, the one for validation is the test split. Without
// either, `testShare` of the files is held out, chosen by a hash of class and file name: a file keeps its split when
// others come and go. Class folders may have folders of their own, and be links to folders elsewhere; links further
// down are skipped. Names of systems (system_names.h) are passed over. Reads no file; watches the folders that it
// lists. Throws ProblemError "dataset.not-found", "class-folder.no-classes", "class-folder.unknown-class",
// "dataset.cancelled"; std::filesystem_error.
FolderScan scanClassFolders(const std::filesystem::path& root, const FileKind& kind, double testShare,
                            const Reading& reading = {});

// All files of the kind below a folder, by name, without a class; what else lies there is skipped.
FileList filesBelow(const std::filesystem::path& folder, const FileKind& kind, const Reading& reading,
                    FolderScan& scan);
bool isOfKind(const std::filesystem::path& file, const FileKind& kind);  // by the ending of its name

// The folders in it that may be classes, sorted bytewise: none where all is in one called `images`.
std::vector<std::string> classFolders(const std::filesystem::path& folder);

// The held-out share of one class goes to `test`, the others to `train`.
void holdOut(const FileList& files, double share, FolderScan& scan);
// Throws ProblemError "dataset.too-few-classes"; before a sample is read, which may take long.
void requireClasses(const std::filesystem::path& folder, const FolderScan& scan);
// Which samples of one class are held out, by their names alone. One stays, so that no class is tested only.
std::vector<bool> heldOut(std::span<const std::string_view> names, double share);

// Whether a folder is of that form, by its names alone: a sub-folder, or one within a split, holds a file of the kind.
bool hasClassFolders(const std::filesystem::path& root, const FileKind& kind);

}  // namespace lockstep
