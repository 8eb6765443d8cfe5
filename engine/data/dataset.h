#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/param_schema.h"
#include "engine/core/result.h"
#include "engine/data/batch_layout.h"

namespace lockstep {

struct ImageShape { int channels = 1, height = 0, width = 0; bool operator==(const ImageShape&) const = default; };

struct DatasetInfo {
    std::string id;                              // "fashion-mnist"
    std::int64_t count = 0;
    ImageShape image;                            // u8, planar: channels, height, width
    std::vector<std::string> classes;            // names in label order
    std::vector<float> mean, deviation;          // per channel, of pixels scaled to 0…1; for normalising
};

// One split of a labelled image collection with random access. Const calls are safe from many threads. The engine reads
// datasets through this interface alone; more fields (tokens, masks) will be added to read's target, not to its callers.
class Dataset {
public:
    virtual ~Dataset() = default;
    virtual const DatasetInfo& info() const = 0;
    // Writes channels x height x width bytes into `image` and returns the label, 0 … classes-1. Throws EngineError(Io)
    // naming the file when the sample cannot be read. Where resident() gives the pixels, an empty `image` asks for the label
    // alone.
    virtual std::int32_t read(std::int64_t index, std::span<std::uint8_t> image) const = 0;
    // All pixels of sample `index` if they lie in memory decoded already, else nothing: spares a copy.
    virtual const std::uint8_t* resident(std::int64_t index) const { (void)index; return nullptr; }
};

struct DatasetSplits { std::shared_ptr<const Dataset> train, test; };

struct SkippedFile { std::filesystem::path file; Problem reason; };

// What `lockstep inspect` reports.
struct DatasetReport {
    std::string format;                          // id of the entry that recognised it
    ImageShape image;
    std::vector<std::string> classes;
    std::vector<std::int64_t> trainPerClass, testPerClass;
    std::vector<SkippedFile> skipped;
    std::vector<Problem> warnings;               // imbalance, an empty class…
};

// How a dataset is named and opened. An explicit list of these is the catalog (datasets/catalog.h).
struct DatasetEntry {
    std::string id;                              // "idx", "cifar10", "image-folder", "synthetic", "fashion-mnist"
    std::string title;                           // "Fashion-MNIST"
    std::string meaning;                         // one sentence
    bool needsPath = true;
    ParamSchema params;
    std::filesystem::path defaultPath;           // where a package puts it; empty: none
    std::string remedy;                          // what to install or download when it is absent
    std::function<Result<DatasetSplits>(const std::filesystem::path& path, const ParamValues& params)> open;
    std::function<Result<DatasetReport>(const std::filesystem::path& path, const ParamValues& params)> inspect;
    // How surely the folder or file is of this format, by its names and first bytes: 0 no … 100 certain. Reads little.
    std::function<int(const std::filesystem::path& path)> recognise;
};

}  // namespace lockstep
