#include "datasets/picture_files.h"

#include "datasets/byte_stream.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kLargestFile = 256 << 20;

}  // namespace

void PictureFiles::add(const std::filesystem::path& file) {
    const std::string root = m_root.string() + '/';
    const std::string& path = file.string();
    m_names += path.starts_with(root) ? path.substr(root.size()) : path;
    m_ends.push_back(m_names.size());
}

std::string PictureFiles::fileOf(std::int64_t index) const {
    const auto at = static_cast<std::size_t>(index);
    const std::size_t begin = at == 0 ? 0 : m_ends[at - 1];
    return (m_root / m_names.substr(begin, m_ends[at] - begin)).string();
}

std::span<const std::uint8_t> PictureFiles::encoded(std::int64_t index, std::vector<std::uint8_t>& into) const {
    const std::size_t count = readWhole(fileOf(index), kLargestFile, into);
    return std::span(into).first(count);
}

}  // namespace lockstep
