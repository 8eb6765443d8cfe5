#pragma once
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "datasets/cut_picture.h"
#include "datasets/picture_source.h"
#include "datasets/reading.h"
#include "datasets/store_file.h"

namespace lockstep {

// How pictures are stored: those whose shorter side is longer than `shortSide` are scaled to that, the others stay as
// they are, pixel for pixel. Cuts are chosen as of the pictures that they were. Or, with `square`, of each the middle
// alone as large as that: all that is ever read, bit for bit as from the picture itself.
struct StoreRule {
    int shortSide = 0, channels = 3;  // channels: 1 or 3
    Interpolation interpolation = Interpolation::Bilinear;
    Decode decode = Decode::Fast;
    int square = 0;
    double share = 1;  // of the shorter side, that the middle shows
};

// Pictures of a source, decoded and made as small as they need to be, one behind the other in a file that is mapped:
// one on disk, which later openings find again, or one without a name, which is memory. Each is compared with its hash
// when it is first read; one that a file no longer holds right is decoded anew, always the same, and that file is
// removed, so that the next opening makes another.
class PictureStore final : public PictureSource {
public:
    struct Failure {
        std::int64_t index = 0;  // of the source
        Problem reason;
    };

    // Decodes with as many threads as there are cores, eight at most. `file`: where; empty: in memory. One that a
    // killed process left is continued; where one of another `key` (all that the pixels depend on) is, another is made.
    // `before`: see decodeAll(). Waits while another process makes the file. Throws ProblemError "dataset.cancelled"
    // (what is done stays), "picture-store.disk-full" (nothing stays), "picture-store.unwritable".
    static std::shared_ptr<const PictureStore> make(std::shared_ptr<const PictureSource> source, const StoreRule& rule,
                                                    const std::filesystem::path& file, std::uint64_t key,
                                                    Reading& reading, std::int64_t before);

    std::int64_t count() const override {
        return std::ssize(m_good);
    }  // of those that could be decoded, in their order
    void read(std::int64_t index, const DecodeWish& wish, DecodedPart& into) const override;
    std::string fileOf(std::int64_t index) const override { return m_source->fileOf(sourceOf(index)); }
    std::uint64_t identity() const override;
    std::optional<std::uint64_t> contentOf(std::int64_t index) const override {
        return m_source->contentOf(sourceOf(index));
    }
    std::vector<Problem> takeRemarks() const override;
    std::int64_t sourceOf(std::int64_t index) const { return m_good[static_cast<std::size_t>(index)]; }
    const std::vector<Failure>& failures() const { return m_failures; }

private:
    PictureStore(std::shared_ptr<const PictureSource> source, StoreFile file, const StoreRule& rule);
    bool isRight(std::int64_t at, const StoreFile::Run& run, std::span<const std::uint8_t> bytes) const;
    StoreFile::Run again(std::int64_t at, std::vector<std::uint8_t>& into) const;
    void mend(std::int64_t at) const;

    std::shared_ptr<const PictureSource> m_source;
    StoreFile m_file;
    StoreRule m_rule;
    mutable std::vector<std::atomic<bool>> m_checked;  // by picture of the source
    mutable std::atomic<bool> m_isDamaged = false;
    mutable std::mutex m_mutex;
    mutable std::vector<Problem> m_remarks;
    std::vector<std::int64_t> m_good;
    std::vector<Failure> m_failures;
};

}  // namespace lockstep
