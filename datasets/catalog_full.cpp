#include "datasets/catalog.h"
#include "datasets/entries.h"

namespace lockstep {

std::vector<DatasetEntry> builtinDatasets(const std::filesystem::path& cacheFolder) {
    return {fashionMnistEntry(), idxEntry(),        cifar10Entry(), cifar100Entry(), imageFolderEntry(cacheFolder),
            textEntry(),         textFolderEntry(), textCsvEntry(), syntheticEntry()};
}

}  // namespace lockstep
