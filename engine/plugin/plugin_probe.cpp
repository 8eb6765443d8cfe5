#include "engine/plugin/plugin_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "engine/plugin/plugin_host.h"
#include "engine/plugin/plugin_library.h"

extern char** environ;

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr auto kPatience = std::chrono::seconds(3);
constexpr std::size_t kMostOutput = 64 << 10;
constexpr unsigned kChildSeconds = 10;  // an orphaned child ends itself

// The child, killed with its group unless it has been waited for.
class Child {
public:
    // 0 or the system's error number.
    int start(const std::filesystem::path& file, const std::vector<std::string>& command) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return errno;
        m_output = ends[0];
        std::vector<char*> arguments;
        for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
        const std::string name = file.string();
        arguments.insert(arguments.end(), {const_cast<char*>(name.c_str()), nullptr});
        const int error = spawn(ends[1], arguments);
        close(ends[1]);
        return error;
    }

    ~Child() {
        if (m_output >= 0) close(m_output);
        if (m_pid <= 0) return;
        kill(-m_pid, SIGKILL);
        waitpid(m_pid, nullptr, 0);
    }

    // Reads until the end of the output. False: too late or too much.
    bool readAll(std::string& output, Clock::time_point deadline) const {
        char buffer[4096];
        while (output.size() <= kMostOutput) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
            pollfd waiting{m_output, POLLIN, 0};
            const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
            if (ready < 0 && errno == EINTR) continue;
            if (ready <= 0) return false;
            const ssize_t got = ::read(m_output, buffer, sizeof buffer);
            if (got <= 0) return got == 0;
            output.append(buffer, static_cast<std::size_t>(got));
        }
        return false;
    }

    std::optional<int> exitStatus(Clock::time_point deadline) {
        for (;;) {
            int status = 0;
            if (waitpid(m_pid, &status, WNOHANG) == m_pid) {
                m_pid = 0;
                return status;
            }
            if (Clock::now() >= deadline) return std::nullopt;
            usleep(2000);
        }
    }

private:
    int spawn(int output, const std::vector<char*>& arguments) {
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        const int error = posix_spawnp(&m_pid, arguments[0], &files, &attributes, arguments.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        if (error != 0) m_pid = 0;
        return error;
    }

    pid_t m_pid = 0;
    int m_output = -1;
};

std::string lastLine(std::string output) {
    while (!output.empty() && output.back() == '\n') output.pop_back();
    return output.substr(output.rfind('\n') + 1);  // npos + 1: the whole
}

std::string lineOf(const Result<PluginLibrary>& library) {
    Json answer;
    if (library.ok()) {
        const auto& table = *library.value().table;
        answer = {{"plugin", table.id}, {"version", table.version}, {"datasets", Json::array()}};
        for (const auto* kind : library.value().datasets()) answer["datasets"].push_back(kind->id);
    } else {
        const Problem& problem = library.problems().front();
        answer = {{"problem", problem.code}, {"args", problem.args}};
    }
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<ProbeAnswer> answerFrom(const std::string& line, const std::filesystem::path& file) {
    try {
        const Json answer = Json::parse(line);
        if (answer.contains("problem")) {
            return Problem{file.string(), answer.at("problem").get<std::string>(),
                           answer.at("args").get<std::vector<std::string>>()};
        }
        return ProbeAnswer{answer.at("plugin").get<std::string>(), answer.at("version").get<std::string>(),
                           answer.at("datasets").get<std::vector<std::string>>()};
    } catch (const Json::exception&) {
        return Problem{file.string(), "plugin.babbles", {}};
    }
}

Result<ProbeAnswer> probe(const std::filesystem::path& file, const std::vector<std::string>& command) {
    if (command.empty()) return Problem{file.string(), "plugin.no-probe", {"no command"}};
    Child child;
    if (const int error = child.start(file, command)) {
        return Problem{file.string(), "plugin.no-probe", {std::error_code(error, std::generic_category()).message()}};
    }
    const auto deadline = Clock::now() + kPatience;
    std::string output;
    const bool ended = child.readAll(output, deadline);
    if (output.size() > kMostOutput) return Problem{file.string(), "plugin.babbles", {}};
    const auto status = ended ? child.exitStatus(deadline) : std::nullopt;
    if (!status) return Problem{file.string(), "plugin.timed-out", {std::to_string(kPatience.count())}};
    if (WIFSIGNALED(*status)) {
        const char* name = sigdescr_np(WTERMSIG(*status));
        return Problem{file.string(), "plugin.crashed", {name ? name : std::to_string(WTERMSIG(*status))}};
    }
    return answerFrom(lastLine(output), file);
}

int probePlugin(const std::filesystem::path& file) {
    const rlimit noCore{0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
    alarm(kChildSeconds);
    // The plugin may print what it likes, but not into our answer.
    const int answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (answer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 2;
    const auto library = loadLibrary(file, {});
    const std::string line = lineOf(library);
    const bool said = write(answer, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    close(answer);
    return said ? (library.ok() ? 0 : 1) : 2;
}

}  // namespace lockstep
