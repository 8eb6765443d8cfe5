#include "engine/session/client_link.h"

#include <sys/socket.h>

#include <cerrno>

namespace lockstep {

namespace {

constexpr std::size_t kPulled = 64 << 10;  // events are taken while less than this waits to be sent
constexpr std::size_t kUnread = 1 << 20;   // replies a client may leave unread
constexpr std::size_t kLongestRequest = 64 << 10;

bool tryLater() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

std::string droppedLine(std::int64_t from, std::int64_t to) {
    return "{\"dropped\":{\"from\":" + std::to_string(from) + ",\"to\":" + std::to_string(to) + "}}";
}

}  // namespace

void ClientLink::say(std::string_view line) {
    m_out += line;
    m_out += '\n';
}

void ClientLink::pull(const ReplayLog& log) {
    while (m_next && m_out.size() < kPulled) {
        const auto* line = log.next(*m_next);
        if (!line) return;
        if (line->number > *m_next) say(droppedLine(*m_next, line->number - 1));
        say(line->text);
        m_next = line->number + 1;
    }
}

void ClientLink::sayAside(std::int64_t number, std::string_view line) {
    if (!m_next || !m_out.empty() || number <= m_aside) return;
    m_aside = number;
    say(line);
}

bool ClientLink::write() {
    const ssize_t sent = send(fd(), m_out.data(), m_out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return tryLater();
    m_out.erase(0, static_cast<std::size_t>(sent));
    return true;
}

bool ClientLink::read(const std::function<void(std::string_view line)>& onLine) {
    char buffer[4096];
    const ssize_t got = recv(fd(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got <= 0) return got < 0 && tryLater();
    m_in.append(buffer, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end; (end = m_in.find('\n', begin)) != std::string::npos; begin = end + 1) {
        onLine(std::string_view(m_in).substr(begin, end - begin));
    }
    m_in.erase(0, begin);
    return m_in.size() <= kLongestRequest && m_out.size() <= kUnread;
}

}  // namespace lockstep
