#include "datasets/picture_files.h"

#include "datasets/changed_file.h"
#include "datasets/random_file.h"
#include "engine/core/result.h"

namespace lockstep {

std::span<const std::uint8_t> PictureFiles::encoded(std::int64_t index, std::vector<std::uint8_t>& into) const {
    try {
        return asListed(index, into);
    } catch (const ProblemError&) {
        if (!m_files->names().isIntact()) damagedIndex(m_index);
        throw;
    }
}

std::span<const std::uint8_t> PictureFiles::asListed(std::int64_t index, std::vector<std::uint8_t>& into) const {
    const FileEntry& listed = m_files->entry(static_cast<std::size_t>(index));
    const RandomFile file(fileOf(index));
    if (file.size() != listed.bytes || file.modifiedNs() != listed.modifiedNs) changedSince(file.path(), m_index);
    if (file.size() > kLargestFile)
        throw ProblemError(
            {file.path().string(), "file.too-large", {std::to_string(file.size()), std::to_string(kLargestFile)}});
    if (into.size() < file.size()) into.resize(file.size());
    const std::span<std::uint8_t> bytes = std::span(into).first(file.size());
    if (file.read(0, bytes) < bytes.size()) changedSince(file.path(), m_index);
    return bytes;
}

}  // namespace lockstep
