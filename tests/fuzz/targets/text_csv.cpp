#include "datasets/entries.h"
#include "engine/data/sample.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

namespace {

void requireSound(const Dataset& data) {
    Sample sample(data);
    for (std::int64_t i = 0; i < data.info().count; ++i) {
        sample.read(i);
        const auto length = sample.field<std::int32_t>("length").front();
        require(length > 0 && static_cast<std::size_t>(length) <= sample.field<std::int32_t>("tokens").size(),
                "a text of a table has from one token to all");
        require(static_cast<std::size_t>(sample.label()) < data.info().classes.size(), "its label is a class");
    }
}

}  // namespace

std::size_t capOfCsv(std::size_t bytes) { return 128 * bytes + kSmallChange; }

bool runTextCsv(Input input) {
    static MemoryFile memory;
    static const DatasetEntry entry = textCsvEntry();
    const ParamValues params =
        ParamValues::from(entry.params, {{"sequence", std::int64_t{8}}, {"test_share", 0.5}}, "").value();
    const auto splits = entry.open(memory.holding(input), params, {});
    if (!splits.ok()) return false;
    requireSound(*splits.value().train);
    requireSound(*splits.value().test);
    return true;
}

}  // namespace lockstep::fuzz
