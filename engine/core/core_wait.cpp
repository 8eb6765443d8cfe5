#include "engine/core/core_wait.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

namespace lockstep {

CoreWait::CoreWait() : m_file(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

CoreWait::~CoreWait() {
    if (m_file >= 0) close(m_file);
}

// Three numbers: nanoseconds on a core, nanoseconds waiting for one, times that it got one.
std::int64_t CoreWait::nanoseconds() const {
    char line[96];
    const ssize_t bytes = m_file < 0 ? 0 : pread(m_file, line, sizeof line, 0);
    if (bytes <= 0) return 0;
    const std::string_view text(line, static_cast<std::size_t>(bytes));
    const std::size_t begin = text.find(' ');
    std::int64_t waited = 0;
    if (begin != text.npos) std::from_chars(text.data() + begin + 1, text.data() + text.size(), waited);
    return waited;
}

}  // namespace lockstep
