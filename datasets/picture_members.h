#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/file_list.h"
#include "datasets/open_archives.h"
#include "datasets/picture_source.h"

namespace lockstep {

// Pictures within archives, read in place and decoded when they are asked for. Reading one also throws
// "picture-index.changed" where its archive was written since it was listed; see PictureFiles for `index`.
class PictureMembers final : public EncodedPictures {
public:
    PictureMembers(std::shared_ptr<const FileList> members, std::shared_ptr<const OpenArchives> archives,
                   std::filesystem::path index)
        : m_members(std::move(members)), m_archives(std::move(archives)), m_index(std::move(index)) {}

    std::int64_t count() const override { return std::ssize(m_members->entries()); }
    std::string fileOf(std::int64_t index) const override { return m_members->fileOf(static_cast<std::size_t>(index)); }
    std::uint64_t identity() const override { return m_members->identity(); }
    std::span<const std::uint8_t> encoded(std::int64_t index, std::vector<std::uint8_t>& into) const override;

private:
    std::shared_ptr<const FileList> m_members;
    std::shared_ptr<const OpenArchives> m_archives;
    std::filesystem::path m_index;
};

}  // namespace lockstep
