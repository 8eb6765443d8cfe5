#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/dataset.h"

namespace lockstep {

// Images and labels decoded in memory. Immutable; any thread may read.
class MemoryDataset final : public Dataset {
public:
    // `info` has imageFields; its count is taken from the labels. `pixels` holds that many images, every label is a
    // class. `content`: a hash of what the images were decoded from, where pixels may differ between machines; `files`:
    // what they were, or nothing.
    MemoryDataset(DatasetInfo info, std::vector<std::uint8_t> pixels, std::vector<std::int32_t> labels,
                  std::optional<std::uint64_t> content = {}, std::vector<std::string> files = {});

    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;
    const std::byte* resident(std::int64_t index, std::size_t field) const override;
    std::string fileOf(std::int64_t index) const override;
    std::optional<std::uint64_t> fingerprint() const override;
    const std::vector<std::int32_t>& labels() const { return m_labels; }

private:
    DatasetInfo m_info;
    std::size_t m_imageBytes;
    std::vector<std::uint8_t> m_pixels;
    std::vector<std::int32_t> m_labels;
    std::optional<std::uint64_t> m_content;
    std::vector<std::string> m_files;
};

std::size_t imageBytes(const ImageShape& shape);

// Whether `bytes` of decoded images take at most half of the machine's memory; otherwise ProblemError
// "dataset.too-large".
bool fitsInMemory(std::uint64_t bytes);
void requireMemory(const std::string& field, std::uint64_t bytes);

}  // namespace lockstep
