#pragma once
#include <memory>
#include <vector>

#include "datasets/cut_picture.h"
#include "datasets/picture_source.h"
#include "engine/data/dataset.h"

namespace lockstep {

// Pictures with labels, each read and cut when it is asked for.
class CutPictures final : public Dataset {
public:
    // `info` has imageFields of the rule's size; its count is taken from the labels, every one of which is a class.
    CutPictures(DatasetInfo info, std::shared_ptr<const PictureSource> source, std::vector<std::int32_t> labels,
                const ImageRule& rule);

    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;
    void readCut(std::int64_t index, std::span<const std::span<std::byte>> into, const ChooseCut& cut) const override;
    const std::byte* resident(std::int64_t index, std::size_t field) const override;  // labels
    std::string fileOf(std::int64_t index) const override { return m_source->fileOf(index); }
    // Of all names and sizes, and of what up to 64 files hold, whether it can be decoded or not.
    std::optional<std::uint64_t> fingerprint() const override;
    std::vector<Problem> takeRemarks() const override { return m_source->takeRemarks(); }

private:
    DatasetInfo m_info;
    std::shared_ptr<const PictureSource> m_source;
    std::vector<std::int32_t> m_labels;
    ImageRule m_rule;
};

}  // namespace lockstep
