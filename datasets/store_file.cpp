#include "datasets/store_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/content_hash.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::array<char, 8> kStoreMagic{'L', 'S', 'P', 'I', 'C', 'S', '0', '3'};
constexpr std::uint64_t kTable = 4096;  // where the table of runs begins

std::uint64_t checkOf(const StoreFile::Run& run) {
    ContentHash hash;
    for (const std::uint64_t word : {run.offset, run.bytes, run.hash}) hash.add(word);
    for (const std::int32_t word : {run.height, run.width, run.fullHeight, run.fullWidth})
        hash.add(static_cast<std::uint64_t>(word));
    return hash.value();
}

}  // namespace

// Little-endian on every machine that we build for; such a file never leaves its machine.
struct StoreFile::Header {
    std::array<char, 8> magic = kStoreMagic;
    std::uint64_t key = 0;
    std::int64_t count = 0, committed = 0;
    std::uint64_t end = 0;
};

StoreFile::StoreFile(std::filesystem::path file, std::uint64_t key, std::int64_t count, const Waiting& waiting)
    : m_file(std::move(file)), m_key(key), m_count(count) {
    try {
        open();
        lock(waiting);
        start(waiting);
    } catch (...) {
        if (m_descriptor >= 0) close(m_descriptor);
        throw;
    }
}

void StoreFile::open() {
    if (m_descriptor >= 0) close(m_descriptor);
    m_descriptor =
        isMemory() ? memfd_create("pictures", MFD_CLOEXEC) : ::open(m_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (m_descriptor < 0) throw ProblemError({m_file.string(), "picture-store.unwritable", {std::strerror(errno)}});
}

// Where a file system knows no locks, nobody is kept out. Whoever fails removes the file: then there is another.
void StoreFile::lock(const Waiting& waiting) {
    if (isMemory()) return;
    do {
        if (isReplaced()) open();
        while (flock(m_descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            const Header others = header();
            waiting(isOurs(others) ? others.committed : 0);
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    } while (isReplaced());
}

bool StoreFile::isReplaced() const {
    struct stat facts {};
    return fstat(m_descriptor, &facts) == 0 && facts.st_nlink == 0;
}

StoreFile::Header StoreFile::header() const {
    Header header;
    if (pread(m_descriptor, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) header.magic = {};
    return header;
}

bool StoreFile::isOurs(const Header& header) const {
    struct stat facts {};
    return header.magic == kStoreMagic && header.key == m_key && header.count == m_count && header.committed >= 0 &&
           header.committed <= m_count && fstat(m_descriptor, &facts) == 0 &&
           header.end <= static_cast<std::uint64_t>(facts.st_size);
}

bool StoreFile::isWhole(const Run& run) { return run.check == checkOf(run); }

bool StoreFile::areRunsWhole(const Header& header) const {
    constexpr std::int64_t kAtOnce = 1 << 16;
    std::vector<Run> runs;
    for (std::int64_t first = 0; first < header.committed; first += kAtOnce) {
        runs.resize(static_cast<std::size_t>(std::min(kAtOnce, header.committed - first)));
        const std::size_t bytes = runs.size() * sizeof(Run);
        const auto at = static_cast<off_t>(kTable + static_cast<std::uint64_t>(first) * sizeof(Run));
        if (pread(m_descriptor, runs.data(), bytes, at) != static_cast<ssize_t>(bytes)) return false;
        if (!std::ranges::all_of(runs, isWhole)) return false;
    }
    return true;
}

// Where nothing of this kind is there, an empty one: another file, for somebody may have that one mapped.
void StoreFile::start(const Waiting& waiting) {
    if (const Header there = header(); isOurs(there) && areRunsWhole(there)) {
        m_committed = m_appended = there.committed;
        m_end = there.end;
        return;
    }
    struct stat facts {};
    if (!isMemory() && fstat(m_descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
        std::error_code ignored;
        std::filesystem::remove(m_file, ignored);
        open();
        lock(waiting);
        if (header().magic == kStoreMagic) return start(waiting);  // somebody was quicker
    }
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
      m_mapped(std::move(other.m_mapped)) {}

StoreFile::~StoreFile() {
    if (m_descriptor >= 0) close(m_descriptor);
}

void StoreFile::fail() {
    const std::string why = std::strerror(errno);
    std::error_code ignored;
    if (!isMemory()) std::filesystem::remove(m_file, ignored);
    throw ProblemError({m_file.string(), "picture-store.disk-full", {why}});
}

void StoreFile::sync() {
    if (!isMemory() && fdatasync(m_descriptor) != 0) fail();
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
    placed.check = checkOf(placed);
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
    struct stat facts {};  // one that others have mapped stays untouched, and so does its time
    const bool ends = fstat(m_descriptor, &facts) == 0 && static_cast<std::uint64_t>(facts.st_size) == m_end;
    if (!ends && ftruncate(m_descriptor, static_cast<off_t>(m_end)) != 0)
        throw ProblemError({m_file.string(), "picture-store.unwritable", {std::strerror(errno)}});
    flock(m_descriptor, LOCK_UN);
    m_mapped = MappedFile::of(std::exchange(m_descriptor, -1), m_end);
    if (!m_mapped) throw ProblemError({m_file.string(), "picture-store.unwritable", {std::strerror(errno)}});
}

void StoreFile::discard() const {
    std::error_code ignored;
    if (m_mapped->isAt(m_file)) std::filesystem::remove(m_file, ignored);
}

StoreFile::Run StoreFile::run(std::int64_t index) const {
    Run run;
    std::memcpy(&run, m_mapped->bytes().data() + kTable + static_cast<std::uint64_t>(index) * sizeof run, sizeof run);
    return run;
}

std::span<const std::uint8_t> StoreFile::bytes(const Run& run) const {
    const auto all = m_mapped->bytes();
    if (run.offset > all.size() || run.bytes > all.size() - run.offset) return {};
    return {reinterpret_cast<const std::uint8_t*>(all.data()) + run.offset, run.bytes};
}

}  // namespace lockstep
