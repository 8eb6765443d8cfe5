#include "datasets/labelled_texts.h"

#include <cassert>
#include <cstring>

#include "datasets/text_file.h"
#include "engine/core/content_hash.h"

namespace lockstep {

LabelledTexts::LabelledTexts(DatasetInfo info, std::int64_t sequence)
    : m_info(std::move(info)), m_sequence(static_cast<std::size_t>(sequence)) {
    m_info.fields = textFields(sequence);
}

void LabelledTexts::add(std::string_view text, std::int32_t label, std::string file) {
    assert(!text.empty() && static_cast<std::size_t>(label) < m_info.classes.size());
    m_bytes += text.substr(0, m_sequence);
    m_cut += text.size() > m_sequence;
    m_begins.push_back(m_bytes.size());
    m_labels.push_back(label);
    if (!file.empty()) m_files.push_back(std::move(file));
    ++m_info.count;
}

void LabelledTexts::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
    const auto at = static_cast<std::size_t>(index);
    const std::string_view text = std::string_view(m_bytes).substr(m_begins[at], m_begins[at + 1] - m_begins[at]);
    const auto length = static_cast<std::int32_t>(text.size());
    writeTokens(text, into[0]);
    std::memcpy(into[1].data(), &length, sizeof length);
    if (!into[2].empty()) std::memcpy(into[2].data(), &m_labels[at], sizeof(std::int32_t));
}

const std::byte* LabelledTexts::resident(std::int64_t index, std::size_t field) const {
    return field == 2 ? reinterpret_cast<const std::byte*>(&m_labels[static_cast<std::size_t>(index)]) : nullptr;
}

std::string LabelledTexts::fileOf(std::int64_t index) const {
    return m_files.empty() ? std::string() : m_files[static_cast<std::size_t>(index)];
}

std::optional<std::uint64_t> LabelledTexts::fingerprint() const {
    ContentHash hash;
    hash.add(text(m_info.fields));
    hash.add(std::as_bytes(std::span(m_labels)));
    hash.add(std::as_bytes(std::span(m_begins)));
    hash.add(m_bytes);
    return hash.value();
}

std::vector<Problem> warnOfCuts(std::initializer_list<const LabelledTexts*> splits) {
    std::int64_t cut = 0, all = 0, sequence = 0;
    for (const LabelledTexts* each : splits) {
        if (!each) continue;
        cut += each->cut();
        all += each->info().count;
        sequence = each->info().fields.front().type.shape.count();
    }
    if (cut == 0) return {};
    return {{"dataset.sequence", "text.cut", {std::to_string(cut), std::to_string(all), std::to_string(sequence)}}};
}

}  // namespace lockstep
