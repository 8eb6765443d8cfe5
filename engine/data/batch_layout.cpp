#include "engine/data/batch_layout.h"

#include <algorithm>

namespace lockstep {

namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

BatchLayout::BatchLayout(std::vector<Field> fields, std::int64_t capacity)
    : m_fields(std::move(fields)), m_capacity(std::max<std::int64_t>(capacity, 0)) {
    for (const Field& field : m_fields) {
        m_offsets.push_back(m_bytes);
        m_bytes += aligned(field.type.bytes() * static_cast<std::size_t>(m_capacity));
    }
}

int BatchLayout::find(std::string_view name) const {
    const auto found = std::ranges::find(m_fields, name, &Field::name);
    return found == m_fields.end() ? -1 : static_cast<int>(found - m_fields.begin());
}

}  // namespace lockstep
