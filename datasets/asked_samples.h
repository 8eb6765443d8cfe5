#pragma once
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/data/dataset.h"

namespace lockstep {

// What somebody wants a model's answer to.
struct AskedImage {
    std::filesystem::path file;
    std::optional<std::string> bytes = {};  // of the file, where it lies in an archive; else it is read in its turn
};
struct AskedPixels {
    std::string bytes;  // as the model has them
};
struct AskedText {
    std::string text;
};
struct AskedSample {
    std::string name;  // for people: a path, "photos.zip/cat/1.jpg", "texts.csv:3"
    std::variant<AskedImage, AskedPixels, AskedText, Problem> content;  // a problem: it could not even be found
};

// Samples at a path, as a model reads them that was trained on `trained`: an image file, the images of an IDX file
// whatever its name, all images of a folder and of those in it, by name, and behind them those of its IDX files (of
// each collection the test images, or else the training images), the same of an archive (zip, tar, 7z; packed or not),
// the rows of a CSV or TSV of texts, or the .txt files of a folder. Images are not decoded yet. In a folder or an
// archive an IDX file that cannot be taken is a sample with its problem. Throws ProblemError: "predict.nothing-there",
// "predict.other-kind", "predict.packed-texts" (an archive, of a model of texts), "predict.other-size",
// "archive.unreadable", and those of the formats.
std::vector<AskedSample> samplesAt(const std::filesystem::path& path, const DatasetInfo& trained);

// They are read when a loader's thread asks for them; what cannot be read becomes zeros, and its reason is kept. A
// model of images that are no squares takes IDX alone.
class AskedSamples final : public Dataset {
public:
    AskedSamples(const DatasetInfo& trained, std::vector<AskedSample> samples);

    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;
    const AskedSample& sample(std::int64_t index) const { return m_samples[static_cast<std::size_t>(index)]; }
    std::optional<Problem> failure(std::int64_t index) const;  // of one that was read

private:
    std::span<std::byte> placeOf(const char* field, std::span<const std::span<std::byte>> into) const;  // or nothing
    void fill(const AskedSample& sample, std::span<const std::span<std::byte>> into) const;

    DatasetInfo m_info;
    std::vector<AskedSample> m_samples;
    mutable std::mutex m_mutex;
    mutable std::map<std::int64_t, Problem> m_failures;  // by sample
};

}  // namespace lockstep
