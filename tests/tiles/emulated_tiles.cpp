#include <cpuid.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/tiles/tile_unit.h"

// Loaded before a program (LD_PRELOAD), lets it and oneDNN use tiles of bf16 on a processor that has AVX512_BF16 but no
// AMX: oneDNN is told of them, the kernel's permission is given, and instructions for tiles, which the processor
// refuses, are carried out in software. Slow, and bit for bit what oneDNN's kernels for tiles and ours compute. Where
// the processor has tiles, or has not even pairs, it does nothing.
namespace lockstep::tiles {

namespace {

constexpr std::uint8_t kCpuid[] = {0x0F, 0xA2}, kUndefined[] = {0x0F, 0x0B};
constexpr std::ptrdiff_t kCpuidsInOneDnn[] = {
#include "cpuids_in_onednn.inc"
};

constexpr unsigned kTilesLeaf = 0x1D, kFeaturesLeaf = 7;
constexpr unsigned kBf16Tiles = 1u << 22, kInt8Tiles = 1u << 25, kTiles = 1u << 24;  // of leaf 7's EDX
constexpr long kGetPermitted = 0x1022, kAskPermission = 0x1023;  // ARCH_GET_XCOMP_PERM, ARCH_REQ_XCOMP_PERM
constexpr std::uint64_t kTileStates = 1u << 17 | 1u << 18;

thread_local TileUnit unit __attribute__((tls_model("initial-exec")));
bool emulates = false;

void answerCpuid(gregset_t& registers) {
    const auto leaf = static_cast<unsigned>(registers[REG_RAX]), part = static_cast<unsigned>(registers[REG_RCX]);
    unsigned a = 0, b = 0, c = 0, d = 0;
    __cpuid_count(leaf, part, a, b, c, d);
    if (leaf == kFeaturesLeaf && part == 0) d |= kTiles | kBf16Tiles | kInt8Tiles;
    if (leaf == kTilesLeaf) {  // one palette: eight tiles of 1,024 bytes, of 16 rows of 64
        a = part == 0 ? 1 : 1024u << 16 | 8192u;
        b = part == 0 ? 0 : 8u << 16 | 64u;
        c = part == 0 ? 0 : 16;
        d = 0;
    }
    registers[REG_RAX] = a;
    registers[REG_RBX] = b;
    registers[REG_RCX] = c;
    registers[REG_RDX] = d;
}

// Instructions for tiles come one behind another: as many as there are cost one interruption.
void onIllegalInstruction(int, siginfo_t*, void* context) {
    gregset_t& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto* const first = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
    const auto* code = first;
    if (std::memcmp(code, kUndefined, sizeof kUndefined) == 0) {
        answerCpuid(registers);
        code += sizeof kUndefined;
    } else {
        while (const std::size_t length = unit.execute(code, registers)) code += length;
    }
    if (code == first) {
        std::fprintf(stderr, "an instruction that is none of tiles: %02x %02x %02x %02x %02x\n", code[0], code[1],
                     code[2], code[3], code[4]);
        std::abort();
    }
    registers[REG_RIP] = reinterpret_cast<greg_t>(code);
}

// Where oneDNN asks the processor what it has, it asks answerCpuid instead.
int replaceCpuids(dl_phdr_info* info, std::size_t, void*) {
    if (!std::strstr(info->dlpi_name, "libdnnl")) return 0;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (const std::ptrdiff_t offset : kCpuidsInOneDnn) {
        auto* const at = reinterpret_cast<std::uint8_t*>(info->dlpi_addr) + offset;
        if (std::memcmp(at, kCpuid, sizeof kCpuid) != 0) {
            std::fprintf(stderr, "%s is not the one this was built for\n", info->dlpi_name);
            std::abort();
        }
        auto* const start = reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(at) & ~(page - 1));
        mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
        std::memcpy(at, kUndefined, sizeof kUndefined);
        mprotect(start, 2 * page, PROT_READ | PROT_EXEC);
    }
    return 1;
}

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Before any other library's, which -z initfirst sees to: oneDNN asks the processor once.
__attribute__((constructor)) void start() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __cpuid_count(kFeaturesLeaf, 0, a, b, c, d);
    __builtin_cpu_init();
    if ((d & kTiles) != 0 || !__builtin_cpu_supports("avx512bf16")) return;
    emulates = true;
    struct sigaction action {};
    action.sa_sigaction = onIllegalInstruction;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    next<decltype(sigaction)>("sigaction")(SIGILL, &action, nullptr);
    dl_iterate_phdr(replaceCpuids, nullptr);
}

}  // namespace

}  // namespace lockstep::tiles

extern "C" {

// Qt Test would replace the handler of illegal instructions.
[[gnu::visibility("default")]] int sigaction(int signal, const struct sigaction* action,
                                             struct sigaction* old) noexcept {
    using namespace lockstep::tiles;
    if (emulates && signal == SIGILL) return 0;
    return next<decltype(sigaction)>("sigaction")(signal, action, old);
}

// By which oneDNN asks the kernel for permission to use tiles.
[[gnu::visibility("default")]] long syscall(long number, ...) noexcept {
    using namespace lockstep::tiles;
    long words[6];
    va_list list;
    va_start(list, number);
    for (long& word : words) word = va_arg(list, long);
    va_end(list);
    const bool asks = emulates && number == SYS_arch_prctl;
    if (asks && words[0] == kAskPermission) return 0;
    const long answer =
        next<decltype(syscall)>("syscall")(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (asks && words[0] == kGetPermitted && answer == 0) *reinterpret_cast<std::uint64_t*>(words[1]) |= kTileStates;
    return answer;
}
}
