#include "engine/session/session_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "engine/session/local_socket.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(5);
constexpr std::size_t kLongestLine = 1 << 20;

std::string wordsOf(int error) { return std::error_code(error, std::generic_category()).message(); }

}  // namespace

class SessionClient::Impl {
public:
    // False: the other end closed, or does not end its line.
    bool receive() {
        if (in.size() > kLongestLine) return false;
        char buffer[16 << 10];
        const ssize_t got = recv(socket.get(), buffer, sizeof buffer, 0);
        if (got < 0 && errno == EINTR) return true;
        if (got <= 0) return false;
        in.append(buffer, static_cast<std::size_t>(got));
        return true;
    }

    std::optional<Line> takeLine() {
        const auto end = in.find('\n', begin);
        if (end == std::string::npos) {
            in.erase(0, begin);
            begin = 0;
            return std::nullopt;
        }
        Line line{in.substr(begin, end - begin), false};
        begin = end + 1;
        return line;
    }

    Descriptor socket;
    Hello hello;
    std::string in;
    std::size_t begin = 0;  // of the first line not taken yet
};

SessionClient::SessionClient(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
SessionClient::~SessionClient() = default;

Result<std::unique_ptr<SessionClient>> SessionClient::connect(const std::filesystem::path& socket) {
    auto impl = std::make_unique<Impl>();
    if (const int error = connectLocal(socket, impl->socket)) {
        const bool nobody = error == ENOENT || error == ECONNREFUSED;
        return Problem{socket.string(), nobody ? "session.not-running" : "session.unreachable", {wordsOf(error)}};
    }
    const timeval patience{kPatience.count(), 0};
    setsockopt(impl->socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    std::unique_ptr<SessionClient> client(new SessionClient(std::move(impl)));
    const auto greeting = client->readLine(kPatience);
    if (!greeting || greeting->closed) return Problem{socket.string(), "session.unreachable", {"it does not answer"}};
    auto hello = helloFromLine(greeting->text);
    if (!hello.ok()) return hello.problems();
    client->m_impl->hello = std::move(hello).value();
    return client;
}

const Hello& SessionClient::hello() const { return m_impl->hello; }
int SessionClient::fileDescriptor() const { return m_impl->socket.get(); }

Result<bool> SessionClient::send(const Command& command) {
    const std::string line = toLine(command) + "\n";
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t now = ::send(m_impl->socket.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return Problem{"", "session.unreachable", {wordsOf(errno)}};
        sent += static_cast<std::size_t>(now);
    }
    return true;
}

std::optional<SessionClient::Line> SessionClient::readLine(std::chrono::milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    for (;;) {
        if (auto line = m_impl->takeLine()) return line;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd waiting{m_impl->socket.get(), POLLIN, 0};
        const int ready = poll(&waiting, 1, std::max(0, static_cast<int>(left.count())));
        if (ready < 0 && errno != EINTR) return Line{"", true};
        if (ready == 0) return std::nullopt;
        if (ready > 0 && !m_impl->receive()) return Line{"", true};
    }
}

}  // namespace lockstep
