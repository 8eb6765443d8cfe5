#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/class_folders.h"
#include "datasets/mapped_file.h"

namespace lockstep {

// What listing a folder of pictures gave, kept in one file, so that the next start need not list it: some 48 bytes and
// its name for each picture, which are mapped, not read. At the next start all that the listing depended on is
// compared: each folder's time, each list of labels, each archive. A file that is edited in place changes no folder: it
// is noticed when it is next read (PictureFiles). One opening; its thread.
class PictureIndex {
public:
    // `root` is canonical. `cacheFolder`: where the file lies; empty: nowhere, and nothing is kept.
    PictureIndex(const std::filesystem::path& cacheFolder, std::filesystem::path root, double testShare);

    const std::filesystem::path& file() const { return m_file; }
    // The listing as it would be now; nothing: absent, damaged, half written, of another version or other settings, or
    // out of date. Throws ProblemError "dataset.cancelled".
    std::optional<FolderScan> open(const Reading& reading);
    // Durable, by temporary file and rename; with what has been measured. Where something was written in the two
    // seconds before the listing began, or since, its time may not tell what is written next; and a list whose file
    // was removed, because something in it changed, is not to come back: then nothing is written, and false returned.
    // Throws EngineError(Io), std::filesystem_error.
    bool write(FolderScan& scan);
    // Throws ProblemError "picture-index.damaged" where somebody has changed the file since it was opened: then the
    // listing cannot be trusted, and the file is removed.
    void requireUnchanged() const;

    // What was measured of the pictures, by a hash of all that it depends on beside them; null: nothing.
    const std::vector<double>* measured(std::uint64_t what) const;
    bool hasNews() const { return m_hasNews; }  // measured since, and not written
    // Unless many of the samples could not be read: what was measured while a disk was away is not kept.
    void keep(std::uint64_t what, std::vector<double> values, std::int64_t read, std::int64_t tried);
    void forget() { m_measured.clear(); }  // it was of other pictures

private:
    std::uint64_t key() const;

    std::filesystem::path m_root;
    double m_testShare;
    std::filesystem::path m_file;
    std::shared_ptr<const MappedFile> m_mapped;  // what was opened
    std::map<std::uint64_t, std::vector<double>> m_measured;
    bool m_hasNews = false;
};

// Whether each picture's file is still what it was when it was listed. Looks at all of them: some microseconds each, a
// disk's access each where nothing of it is in memory. Throws ProblemError "dataset.cancelled".
bool areAsListed(const FolderScan& scan, const Reading& reading);

}  // namespace lockstep
