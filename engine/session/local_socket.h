#pragma once
#include <filesystem>

namespace lockstep {

// A file descriptor that closes itself.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : m_fd(fd) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();
    int get() const { return m_fd; }
    explicit operator bool() const { return m_fd >= 0; }

private:
    int m_fd = -1;
};

// Stream sockets in the file system. A path beyond the 107 bytes that the kernel takes is reached through an open
// descriptor of its folder (/proc/self/fd). Both return 0 or the system's error number; the socket is close-on-exec.
// The listening socket is non-blocking, a left-over socket file is replaced; the connected one is blocking.
int listenLocal(const std::filesystem::path& path, Descriptor& socket);
int connectLocal(const std::filesystem::path& path, Descriptor& socket);

}  // namespace lockstep
