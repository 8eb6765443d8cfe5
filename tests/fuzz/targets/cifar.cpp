#include "datasets/entries.h"
#include "tests/fuzz/fuzz_files.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

namespace {

struct Form {
    DatasetEntry entry;
    std::map<std::string, ParamValue> params;
    const char *train, *test, *names;
};

const Form& form(std::uint8_t which) {
    static const Form forms[] = {
        {cifar10Entry(), {}, "data_batch_1.bin", "test_batch.bin", "batches.meta.txt"},
        {cifar100Entry(), {{"labels", "fine"}}, "train.bin", "test.bin", "fine_label_names.txt"},
        {cifar100Entry(), {{"labels", "coarse"}}, "train.bin", "test.bin", "coarse_label_names.txt"},
    };
    return forms[which % 3];
}

}  // namespace

// Two splits; the pixels of a split are one array, which its files fill one after another.
std::size_t capOfCifar(std::size_t bytes) { return 2 * bytes + kSmallChange; }

bool runCifar(Input input) {
    static const MemoryFolder folders[3];
    Slicer slicer(input);
    const std::uint8_t which = slicer.number<std::uint8_t>();
    const Form& chosen = form(which);
    const MemoryFolder& folder = folders[which % 3];
    folder.write(chosen.names, slicer.take(slicer.number<std::uint16_t>()));
    const Input records = slicer.rest();
    folder.write(chosen.train, records);
    folder.write(chosen.test, records);
    chosen.entry.recognise(folder.path());
    const auto params = ParamValues::from(chosen.entry.params, chosen.params, "");
    const auto splits = chosen.entry.open(folder.path(), params.value(), {});
    if (!splits.ok()) return false;
    const DatasetInfo& info = splits.value().train->info();
    require(info.count > 0 && info.classes.size() >= 10, "an opened dataset has samples and classes");
    return true;
}

}  // namespace lockstep::fuzz
