#include "engine/trials/detached_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "engine/core/result.h"
#include "engine/session/local_socket.h"

namespace lockstep {

namespace {

// What the program's process tells on its way: its number, and what went wrong, if anything did.
struct Report {
    pid_t process = 0;
    int error = 0;
};

// Between fork and exec nothing may allocate or lock: another thread of this process may have held the lock.
struct Prepared {
    const char* program;
    char* const* arguments;
    const char* folder;
    const char* output;
    int reportTo;
};

void tell(const Prepared& prepared, Report report) {
    [[maybe_unused]] const auto told = ::write(prepared.reportTo, &report, sizeof report);
}

[[noreturn]] void become(const Prepared& prepared) {
    const auto fail = [&] {
        tell(prepared, {0, errno});
        _exit(1);
    };
    const int in = open("/dev/null", O_RDONLY), out = open(prepared.output, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (in < 0 || out < 0) fail();
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0) fail();
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    (void)!chdir(prepared.folder);
    tell(prepared, {getpid(), 0});
    execv(prepared.program, prepared.arguments);
    fail();
    _exit(1);
}

// The child in between ends at once, so that the program belongs to init.
[[noreturn]] void leave(const Prepared& prepared) {
    setsid();
    const pid_t child = fork();
    if (child < 0) tell(prepared, {0, errno});
    if (child == 0) become(prepared);
    _exit(0);
}

[[noreturn]] void refuse(const std::filesystem::path& program, int error) {
    std::error_code none;
    const char* code = std::filesystem::is_regular_file(program, none) ? "engine.cannot-start" : "engine.missing";
    throw ProblemError({program.string(), code, {std::generic_category().message(error)}});
}

// The number comes first, a failure of exec after it; the pipe closes itself when exec succeeds.
Report reportFrom(int pipe) {
    Report all, one;
    while (::read(pipe, &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
        if (one.process) all.process = one.process;
        if (one.error) all.error = one.error;
    }
    return all;
}

}  // namespace

pid_t startDetached(const DetachedProgram& started) {
    std::vector<std::string> words{started.program.string()};
    words.insert(words.end(), started.arguments.begin(), started.arguments.end());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const char* home = std::getenv("HOME");
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse(started.program, errno);
    const Descriptor readEnd(ends[0]);
    Report report;
    {
        const Descriptor writeEnd(ends[1]);
        const Prepared prepared{words[0].c_str(), arguments.data(), home && *home ? home : "/", started.output.c_str(),
                                writeEnd.get()};
        const pid_t child = fork();
        if (child < 0) refuse(started.program, errno);
        if (child == 0) leave(prepared);
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    report = reportFrom(readEnd.get());
    if (report.error || !report.process) refuse(started.program, report.error);
    return report.process;
}

bool isAlive(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    const std::string line{std::istreambuf_iterator<char>(status), {}};
    const auto name = line.rfind(')');  // the program's name may hold anything
    if (name == std::string::npos || name + 2 >= line.size()) return false;
    return line[name + 2] != 'Z' && line[name + 2] != 'X';
}

}  // namespace lockstep
