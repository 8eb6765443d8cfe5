#include "engine/session/local_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace lockstep {

namespace {

// The address of `path`; `folder` must stay open while the address is used. 0 or an error number.
int addressOf(const std::filesystem::path& path, sockaddr_un& address, Descriptor& folder) {
    address = {};
    address.sun_family = AF_UNIX;
    std::string name = path.string();
    if (name.size() >= sizeof address.sun_path) {
        folder = Descriptor(open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!folder) return errno;
        name = "/proc/self/fd/" + std::to_string(folder.get()) + "/" + path.filename().string();
        if (name.size() >= sizeof address.sun_path) return ENAMETOOLONG;
    }
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    return 0;
}

// Only sockets are removed: a person's file of that name is left alone, and bind() then says so.
void removeLeftOver(const std::filesystem::path& path) {
    struct stat info {};
    if (lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) unlink(path.c_str());
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(m_fd, other.m_fd);
    return *this;
}

Descriptor::~Descriptor() {
    if (m_fd >= 0) close(m_fd);
}

int listenLocal(const std::filesystem::path& path, Descriptor& socket) {
    sockaddr_un address;
    Descriptor folder;
    if (const int error = addressOf(path, address, folder)) return error;
    Descriptor fresh(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fresh) return errno;
    removeLeftOver(path);
    if (bind(fresh.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
    if (chmod(path.c_str(), 0600) != 0 || listen(fresh.get(), 16) != 0) return errno;
    socket = std::move(fresh);
    return 0;
}

int connectLocal(const std::filesystem::path& path, Descriptor& socket) {
    sockaddr_un address;
    Descriptor folder;
    if (const int error = addressOf(path, address, folder)) return error;
    Descriptor fresh(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fresh) return errno;
    if (connect(fresh.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
    socket = std::move(fresh);
    return 0;
}

}  // namespace lockstep
