#include "datasets/archive_members.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <memory>

#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::size_t kBlock = 1 << 18;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

void require(int result, const Reader& reader, const std::filesystem::path& file) {
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
    const char* why = archive_error_string(reader.get());
    throw ProblemError({file.string(), "archive.unreadable", {why ? why : "no reason given"}});
}

std::uint64_t quarterOfMemory() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE)) / 4;
}

}  // namespace

std::vector<ArchiveMember> readArchive(const std::filesystem::path& file,
                                       const std::function<bool(const std::string& name)>& wanted) {
    const Reader reader(archive_read_new(), &archive_read_free);
    archive_read_support_filter_all(reader.get());
    archive_read_support_format_all(reader.get());
    require(archive_read_open_filename(reader.get(), file.c_str(), kBlock), reader, file);
    const std::uint64_t most = quarterOfMemory();
    std::vector<ArchiveMember> members;
    std::uint64_t bytes = 0;
    std::string block(kBlock, '\0');
    for (archive_entry* entry = nullptr;;) {
        const int result = archive_read_next_header(reader.get(), &entry);
        if (result == ARCHIVE_EOF) return members;
        require(result, reader, file);
        const char* name = archive_entry_pathname_utf8(entry);
        if (!name) name = archive_entry_pathname(entry);
        if (!name || archive_entry_filetype(entry) != AE_IFREG || !wanted(name)) continue;
        ArchiveMember member{name, {}};
        for (;;) {
            const la_ssize_t got = archive_read_data(reader.get(), block.data(), block.size());
            if (got == 0) break;
            if (got < 0) require(static_cast<int>(got), reader, file);
            bytes += static_cast<std::uint64_t>(std::max<la_ssize_t>(got, 0));
            if (bytes > most) throw ProblemError({file.string(), "archive.too-large", {std::to_string(most >> 20)}});
            member.bytes.append(block.data(), static_cast<std::size_t>(std::max<la_ssize_t>(got, 0)));
        }
        members.push_back(std::move(member));
    }
}

}  // namespace lockstep
