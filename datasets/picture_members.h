#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/class_folders.h"
#include "datasets/picture_source.h"
#include "datasets/random_file.h"

namespace lockstep {

// Pictures within archives, read in place and decoded when they are asked for. The first archives stay open; more of
// them than a process may hold are opened whenever they are read.
class PictureMembers final : public EncodedPictures {
public:
    explicit PictureMembers(std::vector<std::filesystem::path> archives);
    void add(const LabelledFile& member);

    std::int64_t count() const override { return std::ssize(m_members); }
    std::string fileOf(std::int64_t index) const override;
    std::span<const std::uint8_t> encoded(std::int64_t index, std::vector<std::uint8_t>& into) const override;

private:
    struct Member {
        std::uint64_t offset = 0, bytes = 0, endOfName = 0;
        std::int64_t archive = 0;
    };

    std::vector<std::filesystem::path> m_archives;
    std::vector<RandomFile> m_open;  // the first of them
    std::string m_names;             // in their archives, one behind the other
    std::vector<Member> m_members;
};

}  // namespace lockstep
