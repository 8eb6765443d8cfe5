#include "datasets/picture_members.h"

#include <algorithm>

#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::size_t kMostOpen = 256;
constexpr std::uint64_t kLargestFile = 256 << 20;

}  // namespace

PictureMembers::PictureMembers(std::vector<std::filesystem::path> archives) : m_archives(std::move(archives)) {
    m_open.reserve(std::min(m_archives.size(), kMostOpen));
    for (std::size_t i = 0; i < m_archives.size() && i < kMostOpen; ++i) m_open.emplace_back(m_archives[i]);
}

void PictureMembers::add(const LabelledFile& member) {
    const auto& archive = m_archives[static_cast<std::size_t>(member.archive)];
    m_names += member.file.string().substr(archive.string().size() + 1);
    m_members.push_back({member.offset, member.bytes, m_names.size(), member.archive});
}

std::string PictureMembers::fileOf(std::int64_t index) const {
    const auto at = static_cast<std::size_t>(index);
    const std::size_t begin = at == 0 ? 0 : m_members[at - 1].endOfName;
    const std::string& archive = m_archives[static_cast<std::size_t>(m_members[at].archive)].string();
    return archive + '/' + m_names.substr(begin, m_members[at].endOfName - begin);
}

std::span<const std::uint8_t> PictureMembers::encoded(std::int64_t index, std::vector<std::uint8_t>& into) const {
    const Member& member = m_members[static_cast<std::size_t>(index)];
    if (member.bytes > kLargestFile)
        throw ProblemError(
            {fileOf(index), "file.too-large", {std::to_string(member.bytes), std::to_string(kLargestFile)}});
    if (into.size() < member.bytes) into.resize(member.bytes);
    const auto archive = static_cast<std::size_t>(member.archive);
    const std::span<std::uint8_t> bytes = std::span(into).first(member.bytes);
    const std::size_t got = archive < m_open.size() ? m_open[archive].read(member.offset, bytes)
                                                    : RandomFile(m_archives[archive]).read(member.offset, bytes);
    if (got < bytes.size())
        throw ProblemError(
            {fileOf(index), "image.truncated", {"its archive ends at byte " + std::to_string(member.offset + got)}});
    return bytes;
}

}  // namespace lockstep
