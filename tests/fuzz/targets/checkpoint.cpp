#include "engine/train/checkpoint.h"

#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

bool runCheckpoint(Input input) {
    static MemoryFile memory;
    const auto checkpoint = readCheckpoint(memory.holding(input));
    if (!checkpoint.ok()) return false;
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : checkpoint.value().tensors) bytes += tensor.bytes();
    require(bytes <= input.size(), "tensors come from the file");
    return true;
}

}  // namespace lockstep::fuzz
