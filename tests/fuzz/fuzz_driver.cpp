#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/allocation_watch.h"
#include "tests/fuzz/fuzz_target.h"

// libFuzzer's two functions; LOCKSTEP_FUZZ_TARGET in the environment names the target.

namespace {

const lockstep::fuzz::FuzzTarget& chosenTarget() {
    const char* name = std::getenv("LOCKSTEP_FUZZ_TARGET");
    for (const auto& target : lockstep::fuzz::fuzzTargets()) {
        if (name && std::string_view(name) == target.name) return target;
    }
    std::fputs("LOCKSTEP_FUZZ_TARGET names none of:", stderr);
    for (const auto& target : lockstep::fuzz::fuzzTargets()) std::fprintf(stderr, " %s", target.name);
    std::fputs("\n", stderr);
    std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    chosenTarget();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto& target = chosenTarget();
    const lockstep::fuzz::AllocationWatch watch;
    target.run({data, size});
    if (watch.largest() <= target.cap(size)) return 0;
    std::fprintf(stderr, "%s: %zu bytes at once for an input of %zu; declared: %zu\n", target.name, watch.largest(),
                 size, target.cap(size));
    std::abort();
}
