#pragma once
#include <cassert>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/data/batch_layout.h"
#include "engine/data/dataset.h"

namespace lockstep {

// One sample in memory of its own, its fields as the dataset has them: for whoever measures, counts or looks without a
// loader. Refers to the dataset. One thread.
class Sample {
public:
    explicit Sample(const Dataset& data);
    Sample(Sample&&) = default;

    const Sample& read(std::int64_t index);  // throws what Dataset::read throws
    // The same by another way: `read` writes the fields.
    template <class Read>
    const Sample& readBy(Read&& read) {
        read(std::span<const std::span<std::byte>>(m_room));
        return *this;
    }

    template <class T>
    std::span<const T> field(std::string_view name) const {
        const int at = m_layout.find(name);
        assert(at >= 0 && sizeof(T) == sizeOf(m_layout.fields()[static_cast<std::size_t>(at)].type.dtype));
        const std::span<std::byte> bytes = m_room[static_cast<std::size_t>(at)];
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    std::span<const std::byte> bytes(std::size_t field) const { return m_room[field]; }
    std::span<const std::uint8_t> image() const { return field<std::uint8_t>("image"); }
    std::int32_t label() const { return field<std::int32_t>("label").front(); }

private:
    const Dataset& m_data;
    BatchLayout m_layout;
    HostTensor m_memory;
    std::vector<std::span<std::byte>> m_room;
};

}  // namespace lockstep
