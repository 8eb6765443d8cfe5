#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// An exclusive claim across processes, held as an open file lock (OFD lock): free the moment its holder dies, however
// it dies. The file must be in an existing folder; it is made, and stays. Throws EngineError(Io) when the system
// refuses the file itself. Used for runs (liveness: a trial whose lease is free and that never ended has crashed) and
// for devices.
class Lease {
public:
    static std::optional<Lease> tryAcquire(const std::filesystem::path& file);  // empty: somebody else holds it
    static bool isHeld(const std::filesystem::path& file);
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

private:
    explicit Lease(int fd) : m_fd(fd) {}
    int m_fd = -1;
};

}  // namespace lockstep
