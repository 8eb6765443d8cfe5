#include "datasets/memory_dataset.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "engine/core/content_hash.h"

namespace lockstep {

std::size_t imageBytes(const ImageShape& shape) {
    return static_cast<std::size_t>(shape.channels) * static_cast<std::size_t>(shape.height) *
           static_cast<std::size_t>(shape.width);
}

MemoryDataset::MemoryDataset(DatasetInfo info, std::vector<std::uint8_t> pixels, std::vector<std::int32_t> labels,
                             std::optional<std::uint64_t> content, std::vector<std::string> files)
    : m_info(std::move(info)),
      m_imageBytes(imageBytes(m_info.image())),
      m_pixels(std::move(pixels)),
      m_labels(std::move(labels)),
      m_content(content),
      m_files(std::move(files)) {
    m_info.count = static_cast<std::int64_t>(m_labels.size());
    m_info.inMemory = true;
    assert(m_info.fields == imageFields(m_info.image()) && m_pixels.size() == m_labels.size() * m_imageBytes);
    assert(m_files.empty() || m_files.size() == m_labels.size());
}

void MemoryDataset::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
    assert(index >= 0 && index < m_info.count && into.size() == m_info.fields.size());
    for (std::size_t field = 0; field < into.size(); ++field) {
        if (!into[field].empty()) std::memcpy(into[field].data(), resident(index, field), into[field].size());
    }
}

const std::byte* MemoryDataset::resident(std::int64_t index, std::size_t field) const {
    const auto at = static_cast<std::size_t>(index);
    if (field == 0) return reinterpret_cast<const std::byte*>(m_pixels.data() + at * m_imageBytes);
    return reinterpret_cast<const std::byte*>(&m_labels[at]);
}

std::string MemoryDataset::fileOf(std::int64_t index) const {
    return m_files.empty() ? std::string() : m_files[static_cast<std::size_t>(index)];
}

std::optional<std::uint64_t> MemoryDataset::fingerprint() const {
    ContentHash hash;
    hash.add(text(m_info.fields));
    hash.add(std::as_bytes(std::span(m_labels)));
    if (m_content) hash.add(*m_content);
    else hash.add(std::span(m_pixels));
    return hash.value();
}

namespace {

std::uint64_t halfOfMemory() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

}  // namespace

bool fitsInMemory(std::uint64_t bytes) { return bytes <= halfOfMemory(); }

void requireMemory(const std::string& field, std::uint64_t bytes) {
    if (fitsInMemory(bytes)) return;
    throw ProblemError(
        {field, "dataset.too-large", {std::to_string(bytes >> 20), std::to_string(halfOfMemory() >> 20)}});
}

}  // namespace lockstep
