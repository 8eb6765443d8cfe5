#include "datasets/lost_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

namespace lockstep {

namespace {

// What the handler reads is atomic; `begin` is written last, and 0 first.
struct Mapping {
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::size_t> bytes{0};
    std::atomic<bool> isLost{false};
};
std::array<Mapping, 1024> mappings;  // further ones are not known
std::mutex changing;
std::uintptr_t pageBytes = 4096;
struct sigaction formerAction = {};

Mapping* mappingAt(std::uintptr_t place) {
    for (Mapping& each : mappings) {
        const std::uintptr_t begin = each.begin;
        if (begin != 0 && place >= begin && place - begin < each.bytes) return &each;
    }
    return nullptr;
}

// A system call and atomics alone: it comes in the middle of anything.
void onLostPage(int, siginfo_t* info, void*) {
    const int error = errno;
    const auto place = reinterpret_cast<std::uintptr_t>(info->si_addr);
    Mapping* const lost = info->si_code > 0 ? mappingAt(place) : nullptr;  // not one that somebody sent
    const std::uintptr_t page = place / pageBytes * pageBytes;
    if (lost) lost->isLost = true;  // before anybody sees zeros
    const bool isMended = lost && mmap(reinterpret_cast<void*>(page), lost->begin + lost->bytes - page, PROT_READ,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    if (!isMended)
        sigaction(SIGBUS, &formerAction, nullptr);  // the same again ends the process, or goes to who was first
    if (info->si_code <= 0) raise(SIGBUS);
    errno = error;
}

void listenOnce() {
    static const bool listens = [] {
        pageBytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
        struct sigaction action = {};
        action.sa_sigaction = onLostPage;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        return sigaction(SIGBUS, &action, &formerAction) == 0;
    }();
    (void)listens;
}

}  // namespace

void surviveLostPages(const void* begin, std::size_t bytes) {
    const std::lock_guard lock(changing);
    listenOnce();
    for (Mapping& each : mappings) {
        if (each.begin != 0) continue;
        each.isLost = false;
        each.bytes = bytes;
        each.begin = reinterpret_cast<std::uintptr_t>(begin);
        return;
    }
}

bool haveLostPages(const void* begin) {
    const Mapping* const mapping = mappingAt(reinterpret_cast<std::uintptr_t>(begin));
    return mapping && mapping->isLost;
}

void forgetPages(const void* begin) {
    const std::lock_guard lock(changing);
    if (Mapping* const mapping = mappingAt(reinterpret_cast<std::uintptr_t>(begin))) mapping->begin = 0;
}

}  // namespace lockstep
