#include "datasets/store_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::array<char, 8> kMagic{'L', 'S', 'P', 'I', 'C', 'S', '0', '2'};
constexpr std::uint64_t kTable = 4096;  // where the table of runs begins

}  // namespace

// Little-endian on every machine that we build for; such a file never leaves its machine.
struct StoreFile::Header {
    std::array<char, 8> magic = kMagic;
    std::uint64_t key = 0;
    std::int64_t count = 0, committed = 0;
    std::uint64_t end = 0;
};

StoreFile::StoreFile(std::filesystem::path file, std::uint64_t key, std::int64_t count)
    : m_file(std::move(file)), m_key(key), m_count(count) {
    m_descriptor = m_file.empty() ? memfd_create("pictures", MFD_CLOEXEC)
                                  : open(m_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (m_descriptor < 0) throw ProblemError({m_file.string(), "picture-store.unwritable", {std::strerror(errno)}});
    try {
        lock();
        start();
    } catch (...) {
        close(m_descriptor);
        throw;
    }
}

// Where a file system knows no locks, nobody is kept out.
void StoreFile::lock() const {
    if (m_file.empty() || flock(m_descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    throw ProblemError({m_file.string(), "picture-store.busy", {}});
}

// Where nothing of this kind is there, an empty one.
void StoreFile::start() {
    Header header;
    struct stat status = {};
    const bool isRead = pread(m_descriptor, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header);
    const bool isOurs = isRead && header.magic == kMagic && header.key == m_key && header.count == m_count &&
                        fstat(m_descriptor, &status) == 0 && header.committed <= m_count &&
                        header.end <= static_cast<std::uint64_t>(status.st_size);
    if (isOurs) {
        m_committed = m_appended = header.committed;
        m_end = header.end;
        return;
    }
    if (ftruncate(m_descriptor, 0) != 0)
        throw ProblemError({m_file.string(), "picture-store.unwritable", {std::strerror(errno)}});
    const std::uint64_t table = static_cast<std::uint64_t>(m_count) * sizeof(Run);
    m_end = kTable + (table + kTable - 1) / kTable * kTable;
    commit();
}

StoreFile::StoreFile(StoreFile&& other) noexcept
    : m_file(std::move(other.m_file)),
      m_key(other.m_key),
      m_count(other.m_count),
      m_committed(other.m_committed),
      m_appended(other.m_appended),
      m_end(other.m_end),
      m_descriptor(std::exchange(other.m_descriptor, -1)),
      m_mapped(std::exchange(other.m_mapped, nullptr)),
      m_mappedBytes(other.m_mappedBytes) {}

StoreFile::~StoreFile() {
    if (m_mapped) munmap(m_mapped, m_mappedBytes);
    if (m_descriptor >= 0) close(m_descriptor);
}

void StoreFile::fail() {
    const std::string why = std::strerror(errno);
    std::error_code ignored;
    if (!m_file.empty()) std::filesystem::remove(m_file, ignored);
    throw ProblemError({m_file.string(), "picture-store.disk-full", {why}});
}

void StoreFile::sync() {
    if (!m_file.empty() && fdatasync(m_descriptor) != 0) fail();
}

void StoreFile::write(const void* from, std::size_t bytes, std::uint64_t at) {
    const auto* next = static_cast<const char*>(from);
    while (bytes > 0) {
        const ssize_t written = pwrite(m_descriptor, next, bytes, static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail();
        next += written, at += static_cast<std::uint64_t>(written), bytes -= static_cast<std::size_t>(written);
    }
}

void StoreFile::append(const Run& run, std::span<const std::uint8_t> bytes) {
    Run placed = run;
    placed.offset = m_end, placed.bytes = bytes.size();
    write(bytes.data(), bytes.size(), m_end);
    write(&placed, sizeof placed, kTable + static_cast<std::uint64_t>(m_appended) * sizeof placed);
    m_end += bytes.size();
    ++m_appended;
}

// The header names only what is on the disk already.
void StoreFile::commit() {
    sync();
    const Header header{.key = m_key, .count = m_count, .committed = m_appended, .end = m_end};
    write(&header, sizeof header, 0);
    sync();
    m_committed = m_appended;
}

void StoreFile::map() {
    m_mappedBytes = m_end;
    if (ftruncate(m_descriptor, static_cast<off_t>(m_end)) != 0)
        throw ProblemError({m_file.string(), "picture-store.unwritable", {std::strerror(errno)}});
    void* mapped = mmap(nullptr, m_mappedBytes, PROT_READ, MAP_SHARED, m_descriptor, 0);
    if (mapped == MAP_FAILED) throw ProblemError({m_file.string(), "picture-store.unwritable", {std::strerror(errno)}});
    m_mapped = static_cast<std::byte*>(mapped);
    flock(m_descriptor, LOCK_UN);
}

StoreFile::Run StoreFile::run(std::int64_t index) const {
    Run run;
    std::memcpy(&run, m_mapped + kTable + static_cast<std::uint64_t>(index) * sizeof run, sizeof run);
    return run;
}

std::span<const std::uint8_t> StoreFile::bytes(const Run& run) const {
    if (run.offset > m_mappedBytes || run.bytes > m_mappedBytes - run.offset) return {};
    return {reinterpret_cast<const std::uint8_t*>(m_mapped) + run.offset, run.bytes};
}

}  // namespace lockstep
