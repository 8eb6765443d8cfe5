#include "engine/core/durable_file.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <deque>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "engine/core/error.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& action, int error) {
    throw EngineError(EngineError::Kind::Io, file.string(),
                      action + " " + file.string() + ": " + std::generic_category().message(error));
}

// Closes on destruction; an error of close() after a successful fsync says nothing about the data.
class Descriptor {
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    ~Descriptor() {
        if (m_fd >= 0) ::close(m_fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return m_fd; }

private:
    int m_fd;
};

// Removes the temporary file unless it became the real one.
class Temporary {
public:
    explicit Temporary(fs::path path) : m_path(std::move(path)) {}
    ~Temporary() {
        if (!m_path.empty()) ::unlink(m_path.c_str());
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    const fs::path& path() const { return m_path; }
    void keep() { m_path.clear(); }

private:
    fs::path m_path;
};

std::string temporaryPrefix(const fs::path& file) { return "." + file.filename().string() + ".tmp-"; }

fs::path folderOf(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

void sweepOrphans(const fs::path& file) {
    const std::string prefix = temporaryPrefix(file);
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folderOf(file), ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix)) continue;
        pid_t owner = 0;
        const auto parsed = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), owner);
        const bool wellFormed = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() && owner > 0;
        if (wellFormed && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), ignored);
    }
}

void writeAll(int fd, std::span<const std::byte> bytes, const fs::path& file) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(file, "cannot write", errno);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

int openFolder(const fs::path& file) {
    const int folder = ::open(folderOf(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) fail(file, "cannot open the folder of", errno);
    return folder;
}

// What a file is to become, written beside it.
class Replacement {
public:
    Replacement(fs::path file, std::span<const std::span<const std::byte>> pieces)
        : m_file(std::move(file)),
          m_folder(openFolder(m_file)),  // now: once the file is replaced, little may still go wrong
          m_temporary(folderOf(m_file) / (temporaryPrefix(m_file) + std::to_string(::getpid()))) {
        const Descriptor out(::open(m_temporary.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        if (out.get() < 0) fail(m_file, "cannot create", errno);
        for (const auto& piece : pieces) writeAll(out.get(), piece, m_file);
        if (::fsync(out.get()) != 0) fail(m_file, "cannot sync", errno);
    }

    void commit() {
        if (::rename(m_temporary.path().c_str(), m_file.c_str()) != 0) fail(m_file, "cannot replace", errno);
        m_temporary.keep();
        // Some file systems have no notion of syncing a folder and say so with EINVAL.
        if (::fsync(m_folder.get()) != 0 && errno != EINVAL) fail(m_file, "cannot sync the folder of", errno);
    }

private:
    fs::path m_file;
    Descriptor m_folder;
    Temporary m_temporary;
};

bool isStream(const fs::path& file) {
    std::error_code unknown;
    const fs::file_status status = fs::status(file, unknown);
    return fs::is_block_file(status) || fs::is_character_file(status) || fs::is_fifo(status) || fs::is_socket(status);
}

// Of /dev/stdout and its like, which lead to an open file of a process, whatever it is called.
bool isOpenFile(const fs::path& link) {
    std::error_code unknown;
    return fs::canonical(folderOf(link), unknown).native().starts_with("/proc/");
}

// Where the file lies behind its symbolic links, one of which may lead to nothing yet. Empty: it is written into.
std::optional<fs::path> placeToReplace(const fs::path& file) {
    constexpr int kMostLinks = 40;
    if (isStream(file)) return std::nullopt;
    fs::path place = file;
    std::error_code failed;
    for (int links = 0; links < kMostLinks && fs::is_symlink(place, failed); ++links) {
        if (isOpenFile(place)) return std::nullopt;
        const fs::path target = fs::read_symlink(place, failed);
        if (failed) break;
        place = place.parent_path() / target;
    }
    return place;
}

void writeInto(const fs::path& file, std::span<const std::span<const std::byte>> pieces) {
    const Descriptor out(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (out.get() < 0) fail(file, "cannot open", errno);
    for (const auto& piece : pieces) writeAll(out.get(), piece, file);
}

std::span<const std::byte> bytesOfText(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

void replaceFile(const fs::path& file, std::span<const std::span<const std::byte>> pieces) {
    sweepOrphans(file);
    Replacement(file, pieces).commit();
}

void replaceFile(const fs::path& file, std::string_view text) {
    const auto piece = bytesOfText(text);
    replaceFile(file, std::span(&piece, 1));
}

void replaceFiles(std::span<const FileText> files) {
    std::deque<Replacement> replacements;
    for (const FileText& each : files) {
        const auto piece = bytesOfText(each.text);
        sweepOrphans(each.file);
        replacements.emplace_back(each.file, std::span(&piece, 1));
    }
    for (Replacement& each : replacements) each.commit();
}

bool isWrittenInto(const fs::path& file) { return !placeToReplace(file); }

void writeNamedFile(const fs::path& file, std::span<const std::span<const std::byte>> pieces) {
    const auto place = placeToReplace(file);
    if (place) replaceFile(*place, pieces);
    else writeInto(file, pieces);
}

void writeNamedFile(const fs::path& file, std::string_view text) {
    const auto piece = bytesOfText(text);
    writeNamedFile(file, std::span(&piece, 1));
}

void writeNamedFiles(std::span<const FileText> files) {
    std::vector<FileText> replaced, others;
    for (const FileText& each : files) {
        if (auto place = placeToReplace(each.file)) replaced.push_back({std::move(*place), each.text});
        else others.push_back(each);
    }
    replaceFiles(replaced);
    for (const FileText& each : others) writeNamedFile(each.file, each.text);
}

}  // namespace lockstep
