#include "datasets/picture_members.h"

#include "datasets/changed_file.h"
#include "engine/core/result.h"

namespace lockstep {

std::span<const std::uint8_t> PictureMembers::encoded(std::int64_t index, std::vector<std::uint8_t>& into) const {
    const auto at = static_cast<std::size_t>(index);
    const FileEntry& member = m_members->entry(at);
    if (member.bytes > kLargestFile)
        throw ProblemError(
            {fileOf(index), "file.too-large", {std::to_string(member.bytes), std::to_string(kLargestFile)}});
    if (into.size() < member.bytes) into.resize(member.bytes);
    const std::span<std::uint8_t> bytes = std::span(into).first(member.bytes);
    const auto archive = static_cast<std::size_t>(m_members->folderOf(at).archive);
    const std::size_t got = m_archives->read(archive, [&](const RandomFile& file) {
        if (file.modifiedNow() == member.modifiedNs) return file.read(member.offset, bytes);
        if (!m_members->names().isIntact()) damagedIndex(m_index);
        changedSince(fileOf(index), m_index);
    });
    if (got < bytes.size())
        throw ProblemError(
            {fileOf(index), "image.truncated", {"its archive ends at byte " + std::to_string(member.offset + got)}});
    return bytes;
}

}  // namespace lockstep
