#include "datasets/archive_members.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::size_t kReadBytes = 1 << 18;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

void require(int result, const Reader& reader, const std::filesystem::path& file) {
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
    const char* why = archive_error_string(reader.get());
    throw ProblemError({file.string(), "archive.unreadable", {why ? why : "no reason given"}});
}

std::uint64_t quarterOfMemory() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE)) / 4;
}

// One file of an archive after the other; their bytes as far as they are wanted.
class Members {
public:
    Members(const std::filesystem::path& file, const WantedMembers& wanted)
        : m_file(file), m_wanted(wanted), m_reader(archive_read_new(), &archive_read_free) {
        archive_read_support_filter_all(m_reader.get());
        archive_read_support_format_all(m_reader.get());
        require(archive_read_open_filename(m_reader.get(), file.c_str(), kReadBytes), m_reader, file);
    }

    std::vector<ArchiveMember> all() {
        std::vector<ArchiveMember> members;
        for (archive_entry* entry = nullptr;;) {
            const int result = archive_read_next_header(m_reader.get(), &entry);
            if (result == ARCHIVE_EOF) return members;
            require(result, m_reader, m_file);
            const char* name = archive_entry_pathname_utf8(entry);
            if (!name) name = archive_entry_pathname(entry);
            if (!name || archive_entry_filetype(entry) != AE_IFREG) continue;
            if (auto member = read(name)) members.push_back(std::move(*member));
        }
    }

private:
    std::optional<ArchiveMember> read(const std::string& name) {
        const bool isNamed = m_wanted.byName(name);
        std::string_view bytes = next(isNamed);
        if (!isNamed && !m_wanted.byBeginning(name, bytes)) return std::nullopt;
        ArchiveMember member{name, {}};
        for (; !bytes.empty(); bytes = next(true)) {
            m_bytes += bytes.size();
            if (m_bytes > m_most)
                throw ProblemError({m_file.string(), "archive.too-large", {std::to_string(m_most >> 20)}});
            member.bytes.append(bytes);
        }
        return member;
    }

    // Of a file that nobody asked for by its name, what cannot be read is none of theirs.
    std::string_view next(bool isWanted) {
        la_ssize_t got = ARCHIVE_WARN;
        while (got == ARCHIVE_WARN) got = archive_read_data(m_reader.get(), m_block.data(), m_block.size());
        if (got < 0 && isWanted) require(static_cast<int>(got), m_reader, m_file);
        return std::string_view(m_block).substr(0, static_cast<std::size_t>(std::max<la_ssize_t>(got, 0)));
    }

    const std::filesystem::path& m_file;
    const WantedMembers& m_wanted;
    Reader m_reader;
    const std::uint64_t m_most = quarterOfMemory();
    std::uint64_t m_bytes = 0;
    std::string m_block = std::string(kReadBytes, '\0');
};

}  // namespace

std::vector<ArchiveMember> readArchive(const std::filesystem::path& file, const WantedMembers& wanted) {
    return Members(file, wanted).all();
}

}  // namespace lockstep
