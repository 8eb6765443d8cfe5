#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace lockstep {

// What a sequence of numbers, texts and runs of bytes is, in 64 bits: the same on every little-endian machine. Texts
// and bytes count with their lengths. Against accidents, not against attackers; as fast as memory is read.
class ContentHash {
public:
    void add(std::uint64_t word) { m_value = mixed(m_value, word); }
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    void add(std::span<const std::uint8_t> bytes) { add(std::as_bytes(bytes)); }

    // Eight words at a time, each into a sum of its own: one would wait for the multiplication before it.
    void add(std::span<const std::byte> bytes) {
        constexpr std::size_t kWord = 8, kBlock = kSums * kWord;
        add(std::uint64_t{bytes.size()});
        std::size_t at = 0;
        if (bytes.size() >= kBlock) {
            std::array<std::uint64_t, kSums> sums;
            sums.fill(m_value);
            for (; at + kBlock <= bytes.size(); at += kBlock) {
                for (std::size_t i = 0; i < kSums; ++i) sums[i] = mixed(sums[i], wordAt(bytes, at + i * kWord, kWord));
            }
            for (const std::uint64_t sum : sums) add(sum);
        }
        for (; at + kWord <= bytes.size(); at += kWord) add(wordAt(bytes, at, kWord));
        if (at < bytes.size()) add(wordAt(bytes, at, bytes.size() - at));
    }

    std::uint64_t value() const { return m_value; }

private:
    static constexpr std::size_t kSums = 8;

    // Can be undone: two words that differ leave two values.
    static std::uint64_t mixed(std::uint64_t value, std::uint64_t word) {
        value = (value ^ word) * 0x9e3779b97f4a7c15ull;
        return value ^ (value >> 29);
    }
    static std::uint64_t wordAt(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, size);
        return word;
    }

    std::uint64_t m_value = 0xcbf29ce484222325ull;
};

}  // namespace lockstep
