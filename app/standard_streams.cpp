#include "app/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

namespace lockstep {

namespace {

struct Guarded {
    int descriptor;
    std::atomic<int> error = 0;
};
Guarded g_output{STDOUT_FILENO}, g_error{STDERR_FILENO};

// A terminal or a pipe that somebody else made non-blocking.
bool isWorthWaiting(int descriptor) {
    pollfd waiting{descriptor, POLLOUT, 0};
    return errno == EINTR || (errno == EAGAIN && poll(&waiting, 1, -1) >= 0);
}

ssize_t writeWhole(void* cookie, const char* bytes, size_t count) {
    auto& stream = *static_cast<Guarded*>(cookie);
    for (size_t done = 0; done < count && stream.error == 0;) {
        const ssize_t written = write(stream.descriptor, bytes + done, count - done);
        if (written >= 0) done += static_cast<size_t>(written);
        else if (!isWorthWaiting(stream.descriptor)) stream.error = errno;
    }
    return static_cast<ssize_t>(count);
}

FILE* streamTo(Guarded& stream, int buffering) {
    FILE* file = fopencookie(&stream, "w", {nullptr, writeWhole, nullptr, nullptr});
    if (file) setvbuf(file, nullptr, buffering, BUFSIZ);
    return file;
}

// Reading gives nothing, writing EBADF. The lowest free number is the one that is missing.
void takeMissingDescriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(descriptor, F_GETFD) < 0) [[maybe_unused]]
            const int taken = open("/dev/null", O_RDONLY);
    }
}

}  // namespace

void guardStandardStreams() {
    takeMissingDescriptors();
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is told of like a full disk
    if (FILE* out = streamTo(g_output, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF)) stdout = out;
    if (FILE* err = streamTo(g_error, _IONBF)) stderr = err;
}

int outputError() { return g_output.error; }

}  // namespace lockstep
