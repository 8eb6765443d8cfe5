#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/picture_source.h"

namespace lockstep {

// Pictures as files below a folder, decoded when they are asked for. Their names take as many bytes as they have
// letters, and four.
class PictureFiles final : public EncodedPictures {
public:
    explicit PictureFiles(std::filesystem::path root) : m_root(std::move(root)) {}
    void add(const std::filesystem::path& file);  // below the root, or elsewhere

    std::int64_t count() const override { return std::ssize(m_ends); }
    std::string fileOf(std::int64_t index) const override;
    std::span<const std::uint8_t> encoded(std::int64_t index, std::vector<std::uint8_t>& into) const override;

private:
    std::filesystem::path m_root;
    std::string m_names;                // one behind the other, from the root on
    std::vector<std::uint64_t> m_ends;  // of each in them
};

}  // namespace lockstep
