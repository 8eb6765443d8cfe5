#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/file_list.h"
#include "datasets/picture_source.h"

namespace lockstep {

// Pictures as files, decoded when they are asked for. Reading one also throws "picture-index.changed" where it is not
// the file that was listed: of another size, or written since. `index`, in which the list is kept, or empty, is removed
// then, so that the next start lists the folder anew.
class PictureFiles final : public EncodedPictures {
public:
    PictureFiles(std::shared_ptr<const FileList> files, std::filesystem::path index)
        : m_files(std::move(files)), m_index(std::move(index)) {}

    std::int64_t count() const override { return std::ssize(m_files->entries()); }
    std::string fileOf(std::int64_t index) const override { return m_files->fileOf(static_cast<std::size_t>(index)); }
    std::uint64_t identity() const override { return m_files->identity(); }
    std::span<const std::uint8_t> encoded(std::int64_t index, std::vector<std::uint8_t>& into) const override;

private:
    std::span<const std::uint8_t> asListed(std::int64_t index, std::vector<std::uint8_t>& into) const;

    std::shared_ptr<const FileList> m_files;
    std::filesystem::path m_index;
};

}  // namespace lockstep
