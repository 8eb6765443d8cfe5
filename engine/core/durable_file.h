#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace lockstep {

// Replaces `file` by the pieces in order: a temporary file beside it, checked fsync, rename, fsync of the folder. After
// a kill or a power loss the old or the new file is there, whole. Throws EngineError(Io) naming file and cause; the
// temporary file is then gone and the old one untouched, unless it was the folder that could not be synced: then the
// new one is in its place already. Temporary files that killed processes left for this file are swept. One writer per
// file and process at a time; several processes may replace the same file, the last one wins.
void replaceFile(const std::filesystem::path& file, std::span<const std::span<const std::byte>> pieces);
void replaceFile(const std::filesystem::path& file, std::string_view text);

// Files that belong together: all are written and synced before the first is replaced, in this order, so that a disk
// that fills up changes none of them. Throws as replaceFile().
struct FileText {
    std::filesystem::path file;
    std::string_view text;
};
void replaceFiles(std::span<const FileText> files);

// For files that a person names. What a symbolic link leads to is replaced, and the link stays. A pipe, a device, or
// what a process has open (/dev/stdout) is written into instead; of several files these come last. Throw as
// replaceFile().
void writeNamedFile(const std::filesystem::path& file, std::span<const std::span<const std::byte>> pieces);
void writeNamedFile(const std::filesystem::path& file, std::string_view text);
void writeNamedFiles(std::span<const FileText> files);
bool isWrittenInto(const std::filesystem::path& file);  // so that nothing can lie beside it

}  // namespace lockstep
