#include "datasets/catalog.h"
#include "datasets/entries.h"

namespace lockstep {

// What needs no decoder of images.
std::vector<DatasetEntry> builtinDatasets(const std::filesystem::path&) {
    return {fashionMnistEntry(), idxEntry(),        cifar10Entry(), cifar100Entry(),
            textEntry(),         textFolderEntry(), textCsvEntry(), syntheticEntry()};
}

}  // namespace lockstep
