#include "engine/core/disk_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace lockstep {

namespace {

constexpr int kDeepest = 32;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::uint64_t kBlock = 512;  // of st_blocks, whatever the disk's own are

class Opened {
public:
    explicit Opened(int fd) : m_fd(fd) {}
    ~Opened() {
        if (m_fd >= 0) ::close(m_fd);
    }
    Opened(Opened&& other) noexcept : m_fd(other.release()) {}
    Opened& operator=(Opened&& other) noexcept {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    int get() const { return m_fd; }
    int release() { return std::exchange(m_fd, -1); }

private:
    int m_fd;
};

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

DiskFile described(std::string path, const struct stat& info) {
    const bool isFolder = S_ISDIR(info.st_mode);
    return {std::move(path),
            static_cast<std::uint64_t>(info.st_blocks) * kBlock,
            info.st_dev,
            info.st_ino,
            isFolder ? 1 : info.st_nlink,
            info.st_mtime,
            isFolder};
}

void gather(int fd, const std::string& prefix, int depth, std::vector<DiskFile>& files) {
    Opened opened(fd);
    const std::unique_ptr<DIR, CloseFolder> folder(opened.get() >= 0 ? ::fdopendir(opened.get()) : nullptr);
    if (!folder) return;
    opened.release();
    while (const dirent* each = ::readdir(folder.get())) {
        const std::string_view name = each->d_name;
        if (name == "." || name == "..") continue;
        struct stat info {};
        if (::fstatat(::dirfd(folder.get()), each->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
        files.push_back(described(prefix + each->d_name, info));
        if (files.back().isFolder && depth < kDeepest)
            gather(::openat(::dirfd(folder.get()), each->d_name, kFolderFlags), prefix + each->d_name + '/', depth + 1,
                   files);
    }
}

std::error_code lastError() { return {errno, std::generic_category()}; }

}  // namespace

std::optional<DiskFile> diskFileAt(const std::filesystem::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
    return described(path.string(), info);
}

std::vector<DiskFile> filesBelow(const std::filesystem::path& folder) {
    std::vector<DiskFile> files;
    gather(::open(folder.c_str(), kFolderFlags), {}, 1, files);
    return files;
}

std::uint64_t bytesOnDisk(std::span<const DiskFile> files) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    std::uint64_t bytes = 0;
    for (const DiskFile& each : files)
        if (each.names == 1 || seen.emplace(each.device, each.inode).second) bytes += each.bytes;
    return bytes;
}

std::uint64_t bytesFreedBy(std::span<const DiskFile> files) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> removed;
    std::uint64_t bytes = 0;
    for (const DiskFile& each : files)
        if (++removed[{each.device, each.inode}] == each.names) bytes += each.bytes;
    return bytes;
}

std::error_code removeFileBelow(const std::filesystem::path& folder, const std::string& path) {
    Opened at(::open(folder.c_str(), kFolderFlags));
    std::size_t begin = 0;
    for (std::size_t end; at.get() >= 0 && (end = path.find('/', begin)) != path.npos; begin = end + 1) {
        at = Opened(::openat(at.get(), path.substr(begin, end - begin).c_str(), kFolderFlags));
    }
    if (at.get() < 0) return errno == ENOENT ? std::error_code() : lastError();
    if (::unlinkat(at.get(), path.substr(begin).c_str(), 0) != 0 && errno != ENOENT) return lastError();
    return {};
}

}  // namespace lockstep
