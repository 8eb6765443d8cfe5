#include "engine/session/session_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/session/client_link.h"
#include "engine/session/local_socket.h"
#include "engine/session/replay_log.h"

namespace lockstep {

namespace {

constexpr std::size_t kSteps = 8192;
constexpr std::size_t kClients = 64;
constexpr auto kFarewell = std::chrono::seconds(5), kPatience = std::chrono::seconds(1);

using Clock = std::chrono::steady_clock;

std::string errorLine(const Problem& problem) {
    const nlohmann::json error = {{"field", problem.field}, {"code", problem.code}, {"args", problem.args}};
    return nlohmann::json{{"error", error}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

class SessionServer::Impl {
public:
    Impl(std::filesystem::path path, Descriptor listener, Descriptor wake, std::int64_t trial, Handlers handlers)
        : m_path(std::move(path)),
          m_listener(std::move(listener)),
          m_wake(std::move(wake)),
          m_trial(trial),
          m_handlers(std::move(handlers)),
          m_thread([this] { loop(); }) {}

    ~Impl() {
        {
            const std::lock_guard lock(m_mutex);
            m_closing = true;
        }
        wake();
        m_thread.join();
        unlink(m_path.c_str());
    }

    void post(std::int64_t number, const TrainEvent& event) {
        {
            const std::lock_guard lock(m_mutex);
            if (number == 0) {
                m_aside = toJsonLine(event, number);
                ++m_asides;
            } else {
                m_aside.clear();
                m_log.add(number, isStepEvent(event), toJsonLine(event, number));
            }
            noteState(event);
        }
        wake();
    }

private:
    void wake() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = write(m_wake.get(), &one, sizeof one);
    }

    void noteState(const TrainEvent& event) {
        if (const auto* changed = std::get_if<StateChanged>(&event)) m_state = changed->state;
        if (const auto* finished = std::get_if<RunFinished>(&event)) m_state = finished->outcome;
        if (std::holds_alternative<RunFailed>(event)) m_state = "failed";
    }

    void loop() {
        std::optional<Clock::time_point> farewell;
        for (;;) {
            bool closing;
            {
                const std::lock_guard lock(m_mutex);
                closing = m_closing;
                for (auto& client : m_clients) {
                    client.pull(m_log);
                    if (!m_aside.empty()) client.sayAside(m_asides, m_aside);
                }
                if (closing && allUpToDate()) return;
            }
            if (closing && !farewell) {
                m_lastSent = Clock::now();
                farewell = m_lastSent + kFarewell;
            }
            if (closing && Clock::now() >= std::min(*farewell, m_lastSent + kPatience)) return;
            serve(closing ? 20 : -1);
        }
    }

    bool allUpToDate() const {
        return std::all_of(m_clients.begin(), m_clients.end(),
                           [&](const ClientLink& each) { return each.upToDate(m_log); });
    }

    void serve(int timeout) {
        const short accepting = m_clients.size() < kClients ? POLLIN : 0;
        std::vector<pollfd> polls = {{m_wake.get(), POLLIN, 0}, {m_listener.get(), accepting, 0}};
        for (const auto& client : m_clients) {
            polls.push_back({client.fd(), static_cast<short>(POLLIN | (client.wantsToWrite() ? POLLOUT : 0)), 0});
        }
        if (poll(polls.data(), polls.size(), timeout) <= 0) return;
        if (polls[0].revents) drainWake();
        auto revents = polls.begin() + 2;
        for (auto client = m_clients.begin(); client != m_clients.end(); ++revents) {
            client = attend(*client, revents->revents) ? std::next(client) : m_clients.erase(client);
        }
        if (polls[1].revents & POLLIN) welcome();
    }

    void drainWake() {
        std::uint64_t count;
        [[maybe_unused]] const ssize_t got = read(m_wake.get(), &count, sizeof count);
    }

    bool attend(ClientLink& client, short revents) {
        if (revents & POLLOUT) {
            if (!client.write()) return false;
            m_lastSent = Clock::now();
        }
        if (!(revents & (POLLIN | POLLHUP | POLLERR))) return true;
        return client.read([&](std::string_view line) { answer(client, line); });
    }

    void welcome() {
        Descriptor socket(accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket) return;
        const std::lock_guard lock(m_mutex);
        const Hello hello{kProtocolVersion, m_trial, m_log.firstComplete(), m_log.last(), m_state};
        m_clients.emplace_back(std::move(socket), toLine(hello));
    }

    void answer(ClientLink& client, std::string_view line) {
        const auto command = commandFromLine(line);
        if (!command.ok()) {
            client.say(errorLine(command.problems().front()));
        } else if (const auto* subscribe = std::get_if<SubscribeCommand>(&command.value())) {
            client.subscribe(subscribe->from);
        } else {
            const auto& control = std::get<ControlCommand>(command.value());
            std::optional<Problem> refusal;
            if (control.name != "ping" && m_handlers.control) refusal = m_handlers.control(control);
            client.say(refusal ? errorLine(*refusal) : nlohmann::json{{"ok", control.name}}.dump());
        }
    }

    const std::filesystem::path m_path;
    Descriptor m_listener, m_wake;
    const std::int64_t m_trial;
    const Handlers m_handlers;
    std::list<ClientLink> m_clients;  // the thread's, like the next
    Clock::time_point m_lastSent;

    std::mutex m_mutex;
    ReplayLog m_log{kSteps};
    std::string m_state = "preparing", m_aside;
    std::int64_t m_asides = 0;
    bool m_closing = false;
    std::thread m_thread;
};

SessionServer::SessionServer(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
SessionServer::~SessionServer() = default;

Result<std::unique_ptr<SessionServer>> SessionServer::listen(const std::filesystem::path& socket, std::int64_t trial,
                                                             Handlers handlers) {
    const auto refused = [&](int error) {
        return Problem{
            socket.string(), "session.no-socket", {std::error_code(error, std::generic_category()).message()}};
    };
    Descriptor listener, wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake) return refused(errno);
    if (const int error = listenLocal(socket, listener)) return refused(error);
    auto impl = std::make_unique<Impl>(socket, std::move(listener), std::move(wake), trial, std::move(handlers));
    return std::unique_ptr<SessionServer>(new SessionServer(std::move(impl)));
}

void SessionServer::post(std::int64_t number, const TrainEvent& event) { m_impl->post(number, event); }

}  // namespace lockstep
