#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

// Writes a message of protocol buffers (protobuf.dev/programming-guides/encoding), field by field, by their numbers.
class ProtoWriter {
public:
    void integer(std::uint32_t field, std::int64_t value) {
        key(field, 0);
        varint(static_cast<std::uint64_t>(value));
    }
    void integers(std::uint32_t field, std::span<const std::int64_t> values) {
        for (const std::int64_t value : values) integer(field, value);
    }
    void number(std::uint32_t field, double value) {
        key(field, 1);
        raw(value);
    }
    void number(std::uint32_t field, float value) {
        key(field, 5);
        raw(value);
    }
    void bytes(std::uint32_t field, std::string_view value) {
        key(field, 2);
        varint(value.size());
        m_out += value;
    }
    void message(std::uint32_t field, const ProtoWriter& value) { bytes(field, value.m_out); }

    const std::string& text() const { return m_out; }

private:
    static_assert(std::endian::native == std::endian::little);
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) m_out += static_cast<char>(value | 0x80);
        m_out += static_cast<char>(value);
    }
    void key(std::uint32_t field, std::uint32_t wire) { varint(field << 3 | wire); }
    template <class T>
    void raw(T value) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        m_out.append(bytes, sizeof value);
    }

    std::string m_out;
};

}  // namespace lockstep
