#include "app/stop_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "app/exit_codes.h"
#include "engine/core/error.h"

namespace lockstep {

namespace {

// A signal handler may only write to a pipe; the thread at its other end does the rest.
int g_pipe[2] = {-1, -1};

// `timeout` signals a process and then its group: the same signal that follows at once is the same wish.
constexpr std::int64_t kSameWish = 200'000'000;  // ns
std::atomic<std::int64_t> g_askedAt = 0;
std::atomic<int> g_askedBy = 0;  // two signals may be handled by two threads at once
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

extern "C" void onStopSignal(int signal) {
    int nobody = 0;
    if (!g_askedBy.compare_exchange_strong(nobody, signal)) {
        const std::int64_t at = g_askedAt;  // 0: just now
        if (signal != nobody || (at != 0 && now() - at > kSameWish)) _exit(kKilled);
        return;
    }
    g_askedAt = now();
    const char byte = 's';
    [[maybe_unused]] const auto written = write(g_pipe[1], &byte, 1);
}

void install(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals(RunControl& control) {
    if (pipe2(g_pipe, O_CLOEXEC) != 0) throw EngineError(EngineError::Kind::Io, "signals", "no pipe could be made");
    g_askedBy = 0;
    g_askedAt = 0;
    m_thread = std::thread([&control] {
        char byte = 0;
        while (read(g_pipe[0], &byte, 1) < 0 && errno == EINTR) {
        }
        if (byte != 's') return;
        std::fputs("\nStopping, with a checkpoint if it has begun to train. Ctrl+C again ends at once, without one.\n",
                   stderr);
        control.stop();
    });
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its writer
    install(onStopSignal);
}

StopSignals::~StopSignals() {
    install(SIG_DFL);
    close(g_pipe[1]);
    m_thread.join();
    close(g_pipe[0]);
}

}  // namespace lockstep
