#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/session/local_socket.h"
#include "engine/session/replay_log.h"

namespace lockstep {

// The server's end of one connection: what it still has to send, what came in half, and how far it has read the log. A
// slow reader holds back only itself: its place in the log stays where it is, and what the log lets go meanwhile is
// told to it as a dropped range.
class ClientLink {
public:
    ClientLink(Descriptor socket, std::string hello) : m_socket(std::move(socket)) { say(hello); }

    int fd() const { return m_socket.get(); }
    bool wantsToWrite() const { return !m_out.empty(); }
    bool subscribed() const { return m_next.has_value(); }
    bool upToDate(const ReplayLog& log) const { return m_out.empty() && (!m_next || *m_next > log.last()); }
    void subscribe(std::int64_t from) { m_next = from; }
    void say(std::string_view line);

    // To a subscriber that has read everything else, once for each number: a slow reader has the newest.
    void sayAside(std::int64_t number, std::string_view line);
    // Takes events from the log while there is room to send them.
    void pull(const ReplayLog& log);
    // Both false: the connection is over.
    bool write();
    bool read(const std::function<void(std::string_view line)>& onLine);

private:
    Descriptor m_socket;
    std::string m_in, m_out;
    std::optional<std::int64_t> m_next;
    std::int64_t m_aside = 0;  // the last that was said
};

}  // namespace lockstep
