#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/dataset.h"

namespace lockstep {

// Texts in memory, each with its class. Immutable once it is read from; then any thread may read.
class LabelledTexts final : public Dataset {
public:
    // `info` has the classes; texts are cut to `sequence` bytes.
    LabelledTexts(DatasetInfo info, std::int64_t sequence);
    // Not empty; of a class of the info. `file`: its own, or nothing; of all texts or of none.
    void add(std::string_view text, std::int32_t label, std::string file = {});
    std::int64_t cut() const { return m_cut; }  // how many were longer

    const DatasetInfo& info() const override { return m_info; }
    void read(std::int64_t index, std::span<const std::span<std::byte>> into) const override;
    const std::byte* resident(std::int64_t index, std::size_t field) const override;  // labels
    std::string fileOf(std::int64_t index) const override;
    std::optional<std::uint64_t> fingerprint() const override;

private:
    DatasetInfo m_info;
    std::size_t m_sequence;
    std::string m_bytes;
    std::vector<std::size_t> m_begins{0};  // of each text, and the end of the last
    std::vector<std::int32_t> m_labels;
    std::vector<std::string> m_files;  // or none
    std::int64_t m_cut = 0;
};

// A warning where texts of either split were cut.
std::vector<Problem> warnOfCuts(std::initializer_list<const LabelledTexts*> splits);

}  // namespace lockstep
