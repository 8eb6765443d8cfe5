#include "datasets/idx.h"

#include <algorithm>

#include "engine/core/result.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

namespace {

bool accepts(auto&& read) {
    try {
        read();
        return true;
    } catch (const ProblemError&) {
        return false;
    }
}

}  // namespace

std::size_t capOfIdx(std::size_t bytes) { return std::max(kSmallChange, 1032 * bytes); }

bool runIdx(Input input) {
    static MemoryFile memory;
    const auto file = memory.holding(input);
    const bool images = accepts([&] {
        const IdxImages read = readIdxImages(file);
        require(read.pixels.size() == static_cast<std::size_t>(read.count * read.height * read.width),
                "all images of an IDX file are there");
    });
    const bool labels = accepts([&] { require(!readIdxLabels(file).empty(), "an IDX file has labels"); });
    return images || labels;
}

}  // namespace lockstep::fuzz
