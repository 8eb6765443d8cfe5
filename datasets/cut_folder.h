#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "datasets/decoded.h"
#include "datasets/image_layouts.h"
#include "datasets/keep_choice.h"
#include "datasets/loading.h"
#include "datasets/picture_index.h"
#include "datasets/picture_store.h"
#include "engine/spec/split.h"

namespace lockstep {

// One opening of a folder whose pictures are cut when they are read: decodes them into memory or a file, if they are to
// be kept, and normalises them. What it is given outlives it.
class CutFolder {
public:
    CutFolder(const std::filesystem::path& cacheFolder, const std::filesystem::path& root, Keep keep,
              const KeptPictures& kept, PictureIndex& index, Reading& reading, Loaded& loaded)
        : m_cacheFolder(cacheFolder),
          m_root(root),
          m_keep(keep),
          m_kept(kept),
          m_rule(kept.rule),
          m_index(index),
          m_reading(reading),
          m_loaded(loaded) {}

    // Sets the splits of Loaded, and adds what cannot be decoded to what it skips. Throws ProblemError: of the files
    // (PictureStore), "picture-store.no-room" (before anything is written), "dataset.cancelled".
    void load(DatasetInfo& info, const FolderScan& scan, const PictureSplits& from);

private:
    struct Pictures {
        std::shared_ptr<const PictureSource> source;
        std::vector<std::int32_t> labels;
    };

    void normalise(DatasetInfo& info, const Dataset& images);
    void measure(DatasetInfo& info, const Dataset& images);
    std::uint64_t normalisation() const;  // a hash of what it depends on
    struct StoreKey {
        DecodedFormat format;
        std::uint64_t settings = 0, all = 0;
    };

    void prepare(const FolderScan& scan);
    StoreRule storeRule(Split split) const;
    StoreKey keyOf(Split split, const FileList& files) const;
    std::filesystem::path fileOf(Split split, const StoreKey& key) const;
    void removeOlder(const std::filesystem::path& file) const;
    Pictures pictures(Split split, const FileList& files, const std::shared_ptr<const EncodedPictures>& source);
    Pictures stored(Split split, const FileList& files, const Pictures& all);
    std::shared_ptr<const Dataset> dataset(const DatasetInfo& info, const Pictures& pictures) const;

    const std::filesystem::path &m_cacheFolder, &m_root;
    Keep m_keep;
    KeptPictures m_kept;
    const ImageRule& m_rule;
    PictureIndex& m_index;
    Reading& m_reading;
    Loaded& m_loaded;
    std::int64_t m_done = 0;
};

}  // namespace lockstep
