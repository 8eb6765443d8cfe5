#include <algorithm>
#include <string_view>

#include "datasets/archive_formats.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::size_t kEnd = 22, kEnd64 = 56, kLocator64 = 20, kEntry = 46, kLocal = 30, kLongestComment = 65535;
constexpr std::uint32_t kMax32 = 0xffffffff;

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
    return value;
}

// Where the list of members is.
struct Directory {
    std::uint64_t offset = 0, bytes = 0;
};

class ZipReader final : public MemberReader {
public:
    explicit ZipReader(const RandomFile& archive) : m_archive(archive) {
        const Directory directory = findDirectory();
        if (directory.offset > m_archive.size() || directory.bytes > m_archive.size() - directory.offset)
            fail("archive.cut-short", m_archive.size());
        m_members = directory.offset;
        m_directory = bytesAt(directory.offset, directory.bytes);
    }

    std::optional<MemberPlace> next() override {
        while (m_at < m_directory.size()) {
            const MemberPlace member = readEntry();
            if (!member.name.ends_with('/')) return inPlace(member);
        }
        return std::nullopt;
    }

private:
    Directory findDirectory() const {
        const std::uint64_t most = std::min<std::uint64_t>(m_archive.size(), kEnd + kLongestComment);
        const std::uint64_t begin = m_archive.size() - most;
        const std::string tail = bytesAt(begin, most);
        for (std::size_t at = tail.size() - std::min(tail.size(), kEnd) + 1; at-- > 0;) {
            const std::string_view end = std::string_view(tail).substr(at);
            if (!end.starts_with("PK\5\6") || end.size() < kEnd || number(end, 20, 2) != end.size() - kEnd) continue;
            if (const auto large = findDirectory64(begin + at)) return *large;
            return {number(end, 16, 4), number(end, 12, 4)};
        }
        fail("archive.cut-short", m_archive.size());
    }

    std::optional<Directory> findDirectory64(std::uint64_t end) const {
        if (end < kLocator64) return std::nullopt;
        const std::string locator = bytesAt(end - kLocator64, kLocator64);
        if (!locator.starts_with("PK\6\7")) return std::nullopt;
        const std::string record = bytesAt(number(locator, 8, 8), kEnd64);
        if (!record.starts_with("PK\6\6")) fail("archive.damaged", number(locator, 8, 8));
        return Directory{number(record, 48, 8), number(record, 40, 8)};
    }

    // As the directory has it: the offset is that of the member's own header.
    MemberPlace readEntry() {
        const std::string_view entry = std::string_view(m_directory).substr(m_at);
        if (entry.size() < kEntry || !entry.starts_with("PK\1\2")) fail("archive.damaged", m_members + m_at);
        const std::size_t name = number(entry, 28, 2), extra = number(entry, 30, 2), comment = number(entry, 32, 2);
        if (entry.size() < kEntry + name + extra + comment) fail("archive.damaged", m_members + m_at);
        MemberPlace member{std::string(entry.substr(kEntry, name)), number(entry, 42, 4), number(entry, 20, 4)};
        std::uint64_t unpacked = number(entry, 24, 4);
        readLarge(entry.substr(kEntry + name, extra), unpacked, member);
        m_at += kEntry + name + extra + comment;
        constexpr std::uint64_t kKindOfFile = 0170000, kLink = 0120000, kEncrypted = 1;
        const bool isPacked =
            number(entry, 10, 2) != 0 || (number(entry, 8, 2) & kEncrypted) || unpacked != member.bytes;
        if (isPacked) member.kind = MemberPlace::Kind::Packed;
        if ((number(entry, 38, 4) >> 16 & kKindOfFile) == kLink) member.kind = MemberPlace::Kind::Other;
        return member;
    }

    // Zip64: those that are too large for 32 bits, in this order.
    void readLarge(std::string_view extra, std::uint64_t& unpacked, MemberPlace& member) const {
        while (extra.size() >= 4) {
            const std::size_t bytes = std::min<std::size_t>(number(extra, 2, 2), extra.size() - 4);
            std::string_view fields = extra.substr(4, bytes);
            const bool isLarge = number(extra, 0, 2) == 1;
            for (std::uint64_t* each : {&unpacked, &member.bytes, &member.offset}) {
                if (!isLarge || *each != kMax32 || fields.size() < 8) continue;
                *each = number(fields, 0, 8);
                fields.remove_prefix(8);
            }
            extra.remove_prefix(4 + bytes);
        }
    }

    MemberPlace inPlace(MemberPlace member) const {
        if (member.offset > m_members || m_members - member.offset < kLocal) fail("archive.damaged", member.offset);
        const std::string local = bytesAt(member.offset, kLocal);
        if (!local.starts_with("PK\3\4")) fail("archive.damaged", member.offset);
        member.offset += kLocal + number(local, 26, 2) + number(local, 28, 2);
        if (member.offset > m_members || member.bytes > m_members - member.offset)
            fail("archive.cut-short", m_archive.size());
        return member;
    }

    std::string bytesAt(std::uint64_t offset, std::uint64_t count) const {
        if (offset > m_archive.size() || count > m_archive.size() - offset) fail("archive.cut-short", m_archive.size());
        std::string bytes(count, '\0');
        if (m_archive.read(offset, {reinterpret_cast<std::uint8_t*>(bytes.data()), count}) < count)
            fail("archive.cut-short", m_archive.size());
        return bytes;
    }

    [[noreturn]] void fail(const char* code, std::uint64_t at) const {
        throw ProblemError({m_archive.path().string(), code, {std::to_string(at)}});
    }

    const RandomFile& m_archive;
    std::uint64_t m_members = 0;  // they end where the directory begins
    std::string m_directory;
    std::size_t m_at = 0;  // in it
};

}  // namespace

std::unique_ptr<MemberReader> openZip(const RandomFile& archive) { return std::make_unique<ZipReader>(archive); }

}  // namespace lockstep
