#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/tensor.h"

namespace lockstep {

// One named, typed field of a sample; `type` is of a single sample, without the batch axis.
struct Field {
    std::string name;  // "image", "tokens", "label", "ids"
    TensorType type;
    bool operator==(const Field&) const = default;
};
// Not a field of batches, but an input of programs all the same: all images of a dataset that the device keeps, u8.
inline constexpr std::string_view kKeptImages = "dataset";

const Field* findField(const std::vector<Field>& fields, std::string_view name);  // null: no such field
std::string text(const std::vector<Field>& fields);                               // "image u8[1x28x28], label i32[1]"

// Where the fields of a batch lie inside one batch slot: field f of sample i starts at offset(f) + i x bytes per
// sample. A short batch uses the front of each field. Offsets are multiples of 64.
class BatchLayout {
public:
    BatchLayout() = default;
    BatchLayout(std::vector<Field> fields, std::int64_t capacity);

    const std::vector<Field>& fields() const { return m_fields; }
    std::int64_t capacity() const { return m_capacity; }  // samples
    std::size_t offset(std::size_t field) const { return m_offsets[field]; }
    std::size_t sampleBytes(std::size_t field) const { return m_sampleBytes[field]; }
    std::size_t bytes() const { return m_bytes; }  // of the whole slot
    int find(std::string_view name) const;         // -1: no such field
    // The bytes of one field of one sample in the slot at `base`.
    std::span<std::byte> place(std::byte* base, std::size_t field, std::size_t sample) const {
        return {base + m_offsets[field] + sample * m_sampleBytes[field], m_sampleBytes[field]};
    }

private:
    std::vector<Field> m_fields;
    std::vector<std::size_t> m_offsets, m_sampleBytes;
    std::int64_t m_capacity = 0;
    std::size_t m_bytes = 0;
};

}  // namespace lockstep
