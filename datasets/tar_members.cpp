#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "datasets/archive_formats.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::uint64_t kBlock = 512, kLongestName = 1 << 16, kLargestPax = 1 << 20;

using Block = std::array<std::uint8_t, kBlock>;

std::string_view fieldOf(std::span<const std::uint8_t> block, std::size_t at, std::size_t bytes) {
    return {reinterpret_cast<const char*>(block.data()) + at, bytes};
}

std::string textOf(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

// Octal; or, with the first bit set, the bytes of a large number. Nothing: neither.
std::optional<std::uint64_t> numberOf(std::string_view field) {
    std::uint64_t value = 0;
    if (static_cast<unsigned char>(field[0]) == 0x80) {
        for (const char c : field.substr(1)) {
            if (value >> 55) return std::nullopt;
            value = value << 8 | static_cast<unsigned char>(c);
        }
        return value;
    }
    const std::size_t begin = std::min(field.find_first_not_of(' '), field.size());
    const char *first = field.data() + begin, *last = field.data() + field.size();
    const auto [end, error] = std::from_chars(first, last, value, 8);
    const std::string_view rest(end, static_cast<std::size_t>(last - end));
    if (error == std::errc::result_out_of_range || rest.find_first_not_of(std::string_view(" \0", 2)) != rest.npos)
        return std::nullopt;
    return value;
}

bool isZero(std::span<const std::uint8_t> block) {
    return std::ranges::all_of(block, [](std::uint8_t byte) { return byte == 0; });
}

// What records before a member say of it.
struct Extended {
    std::string name;
    std::optional<std::uint64_t> bytes;
};

class TarReader final : public MemberReader {
public:
    explicit TarReader(const RandomFile& archive) : m_archive(archive) {}

    std::optional<MemberPlace> next() override {
        Extended extended;
        for (Block block; readHeader(block);) {
            MemberPlace member{extended.name.empty() ? nameOf(block) : extended.name, m_at, 0};
            const char type = static_cast<char>(block[156]);
            const auto bytes = extended.bytes ? extended.bytes : numberOf(fieldOf(block, 124, 12));
            if (!bytes) fail("archive.damaged", std::to_string(m_at - kBlock));
            if (type < '1' || type > '6') member.bytes = *bytes;  // links, devices and folders have none
            pass(member);
            if (type == 'L') extended.name = textOf(contents(member, kLongestName));
            else if (type == 'x') readPax(contents(member, kLargestPax), extended);
            else if (type != 'g' && type != 'K') {
                extended = {};
                if (type == '5' || member.name.ends_with('/')) continue;
                const bool isFile = type == '0' || type == '\0' || type == '7';
                member.kind = isFile ? MemberPlace::Kind::File : MemberPlace::Kind::Other;
                return member;
            }
        }
        return std::nullopt;
    }

private:
    // False at the end, before which a block of zeros stands: without it the archive was cut. Behind such blocks
    // another archive may follow.
    bool readHeader(Block& block) {
        for (bool isEnd = false;; m_at += kBlock) {
            if (m_archive.read(m_at, block) < kBlock && isEnd) return false;
            if (m_archive.size() < m_at + kBlock) fail("archive.cut-short", std::to_string(m_archive.size()));
            if (!isZero(block)) break;
            isEnd = true;
        }
        if (!beginsAsTarHeader(block)) fail("archive.damaged", std::to_string(m_at));
        m_at += kBlock;
        return true;
    }

    void pass(const MemberPlace& member) {
        if (member.bytes > m_archive.size() - m_at) fail("archive.cut-short", std::to_string(m_archive.size()));
        m_at += (member.bytes + kBlock - 1) / kBlock * kBlock;
    }

    std::string contents(const MemberPlace& member, std::uint64_t most) {
        if (member.bytes > most) fail("archive.damaged", std::to_string(member.offset - kBlock));
        std::string text(member.bytes, '\0');
        m_archive.read(member.offset, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
        return text;
    }

    // "30 path=cat/1.jpg\n", the number counting all of it.
    void readPax(std::string_view records, Extended& extended) {
        while (!records.empty()) {
            std::size_t length = 0;
            const auto read = std::from_chars(records.data(), records.data() + records.size(), length);
            const std::size_t key = static_cast<std::size_t>(read.ptr - records.data()) + 1;
            if (read.ec != std::errc() || length <= key || length > records.size() || records[length - 1] != '\n')
                fail("archive.damaged", std::to_string(m_at));
            takePax(records.substr(key, length - key - 1), extended);
            records.remove_prefix(length);
        }
    }

    void takePax(std::string_view record, Extended& extended) {
        if (record.starts_with("path=")) extended.name = record.substr(5);
        if (!record.starts_with("size=")) return;
        std::uint64_t bytes = 0;
        const auto read = std::from_chars(record.data() + 5, record.data() + record.size(), bytes);
        if (read.ec != std::errc()) fail("archive.damaged", std::to_string(m_at));
        extended.bytes = bytes;
    }

    static std::string nameOf(const Block& block) {
        const std::string name = textOf(fieldOf(block, 0, 100));
        const bool isUstar = fieldOf(block, 257, 6) == std::string_view("ustar\0", 6);
        const std::string prefix = isUstar ? textOf(fieldOf(block, 345, 155)) : std::string();
        return prefix.empty() ? name : prefix + '/' + name;
    }

    [[noreturn]] void fail(const char* code, std::string at) const {
        throw ProblemError({m_archive.path().string(), code, {std::move(at)}});
    }

    const RandomFile& m_archive;
    std::uint64_t m_at = 0;
};

}  // namespace

bool beginsAsTarHeader(std::span<const std::uint8_t> block) {
    if (isZero(block)) return true;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += i >= 148 && i < 156 ? ' ' : block[i];
    return numberOf(fieldOf(block, 148, 8)) == sum;
}

std::unique_ptr<MemberReader> openTar(const RandomFile& archive) { return std::make_unique<TarReader>(archive); }

}  // namespace lockstep
