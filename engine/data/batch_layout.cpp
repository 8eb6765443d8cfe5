#include "engine/data/batch_layout.h"

#include <algorithm>

namespace lockstep {

namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

const Field* findField(const std::vector<Field>& fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &Field::name);
    return found == fields.end() ? nullptr : &*found;
}

std::string text(const std::vector<Field>& fields) {
    std::string text;
    for (const Field& field : fields) text += (text.empty() ? "" : ", ") + field.name + " " + field.type.text();
    return text;
}

BatchLayout::BatchLayout(std::vector<Field> fields, std::int64_t capacity)
    : m_fields(std::move(fields)), m_capacity(std::max<std::int64_t>(capacity, 0)) {
    for (const Field& field : m_fields) {
        m_offsets.push_back(m_bytes);
        m_sampleBytes.push_back(field.type.bytes());
        m_bytes += aligned(m_sampleBytes.back() * static_cast<std::size_t>(m_capacity));
    }
}

int BatchLayout::find(std::string_view name) const {
    const Field* found = findField(m_fields, name);
    return found ? static_cast<int>(found - m_fields.data()) : -1;
}

}  // namespace lockstep
