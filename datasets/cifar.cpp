#include <algorithm>
#include <array>

#include "datasets/byte_stream.h"
#include "datasets/entries.h"
#include "datasets/loading.h"
#include "datasets/memory_dataset.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = 3 * 32 * 32;

// The binary versions of cs.toronto.edu/~kriz/cifar.html: records of one or two label bytes and 3,072 planar RGB bytes.
struct Format {
    const char* folder;  // the name of the folder in the published archive
    std::size_t labelBytes, labelAt;
    int classes;
    std::uint64_t recordsPerTrainFile;
};
constexpr Format kCifar10{"cifar-10-batches-bin", 1, 0, 10, 10'000};
constexpr Format kCifar100Fine{"cifar-100-binary", 2, 1, 100, 50'000};
constexpr Format kCifar100Coarse{"cifar-100-binary", 2, 0, 20, 50'000};
constexpr std::uint64_t kTestRecords = 10'000;

std::size_t recordBytes(const Format& format) { return format.labelBytes + kPixels; }

struct Records {
    std::vector<std::uint8_t> pixels;
    std::vector<std::int32_t> labels;
};

// The number of records, after checking the file's size against the format.
std::uint64_t recordsIn(const fs::path& file, std::uint64_t bytes, const Format& format, std::uint64_t most) {
    const std::uint64_t each = recordBytes(format), records = bytes / each;
    const auto fail = [&](const char* code) {
        throw ProblemError(
            {file.string(), code, {std::to_string(bytes), std::to_string(most * each), std::to_string(each)}});
    };
    if (bytes > most * each) fail("cifar.over-long");
    if (records == 0 || bytes % each != 0) fail("cifar.truncated");
    return records;
}

void appendFile(const fs::path& file, const Format& format, std::uint64_t most, Records& into,
                std::vector<Problem>& warnings) {
    const auto stream = openPlain(file);
    const std::uint64_t records = recordsIn(file, stream->bound(), format, most);
    if (records < most) {
        warnings.push_back({file.string(), "cifar.fewer-records", {std::to_string(records), std::to_string(most)}});
    }
    const std::size_t start = into.pixels.size();
    into.pixels.resize(start + records * kPixels);
    for (std::uint64_t record = 0; record < records; ++record) {
        std::array<std::uint8_t, 2> label{};
        const std::span<std::uint8_t> pixels(&into.pixels[start + record * kPixels], kPixels);
        const std::size_t got = stream->read(std::span(label).first(format.labelBytes)) + stream->read(pixels);
        if (got < recordBytes(format))
            throw ProblemError({file.string(), "file.unreadable", {"it became shorter while it was read"}});
        if (label[format.labelAt] >= format.classes) {
            throw ProblemError(
                {file.string(),
                 "cifar.label-out-of-range",
                 {std::to_string(record), std::to_string(label[format.labelAt]), std::to_string(format.classes - 1)}});
        }
        into.labels.push_back(label[format.labelAt]);
    }
}

std::shared_ptr<const MemoryDataset> dataset(const DatasetInfo& info, Records records) {
    return std::make_shared<MemoryDataset>(info, std::move(records.pixels), std::move(records.labels));
}

// The names beside the data, if the file is there and has one for each class.
std::vector<std::string> namesFrom(const fs::path& file, std::vector<std::string> fallback) {
    if (!fs::is_regular_file(file)) return fallback;
    auto lines = readLines(file);
    return lines.size() == fallback.size() ? lines : fallback;
}

fs::path dataFolder(const fs::path& path, const Format& format) {
    const fs::path folder = fs::is_regular_file(path) ? path.parent_path() : path;
    const fs::path inner = folder / format.folder;
    return fs::is_directory(inner) ? inner : folder;
}

std::vector<fs::path> cifar10Batches(const fs::path& folder, std::vector<Problem>& warnings) {
    std::vector<fs::path> files;
    for (int batch = 1; batch <= 5; ++batch) {
        const fs::path file = folder / ("data_batch_" + std::to_string(batch) + ".bin");
        if (fs::exists(file)) {
            files.push_back(file);
        } else {
            warnings.push_back({folder.string(), "cifar.missing-batch", {file.filename().string()}});
        }
    }
    return files;
}

Loaded load(const fs::path& folder, const std::vector<fs::path>& trainFiles, const fs::path& testFile,
            const Format& format, DatasetInfo info, std::vector<Problem> warnings) {
    if (!fs::is_directory(folder)) throw ProblemError({folder.string(), "dataset.not-found", {}});
    if (trainFiles.empty()) throw ProblemError({folder.string(), "cifar.no-files", {info.id}});
    if (!fs::exists(testFile)) throw ProblemError({folder.string(), "dataset.missing-test", {}});
    Records train, test;
    for (const fs::path& file : trainFiles) appendFile(file, format, format.recordsPerTrainFile, train, warnings);
    appendFile(testFile, format, kTestRecords, test, warnings);
    info.fields = imageFields({3, 32, 32});
    return {dataset(info, std::move(train)), dataset(info, std::move(test)), {}, std::move(warnings)};
}

Loaded loadCifar10(const fs::path& path) {
    const fs::path folder = dataFolder(path, kCifar10);
    DatasetInfo info;
    info.id = "cifar10";
    info.classes = namesFrom(folder / "batches.meta.txt", {"airplane", "automobile", "bird", "cat", "deer", "dog",
                                                           "frog", "horse", "ship", "truck"});
    info.mean = {0.4914f, 0.4822f, 0.4465f};
    info.deviation = {0.2470f, 0.2435f, 0.2616f};
    std::vector<Problem> warnings;
    const auto batches = cifar10Batches(folder, warnings);
    return load(folder, batches, folder / "test_batch.bin", kCifar10, std::move(info), std::move(warnings));
}

Loaded loadCifar100(const fs::path& path, const std::string& labels) {
    const bool fine = labels == "fine";
    const Format& format = fine ? kCifar100Fine : kCifar100Coarse;
    const fs::path folder = dataFolder(path, format);
    DatasetInfo info;
    info.id = "cifar100";
    info.classes = namesFrom(folder / (labels + "_label_names.txt"), numbered(format.classes));
    info.mean = {0.5071f, 0.4865f, 0.4409f};
    info.deviation = {0.2673f, 0.2564f, 0.2762f};
    std::vector<fs::path> files;
    if (fs::exists(folder / "train.bin")) files.push_back(folder / "train.bin");
    return load(folder, files, folder / "test.bin", format, std::move(info), {});
}

int recognise(const fs::path& path, const Format& format, const char* trainFile) {
    const fs::path file = dataFolder(path, format) / trainFile;
    if (!fs::is_regular_file(file)) return 0;
    return fs::file_size(file) % recordBytes(format) == 0 ? 95 : 60;  // by name alone: a damaged one
}

}  // namespace

DatasetEntry cifar10Entry() {
    DatasetEntry entry;
    entry.id = "cifar10";
    entry.title = "CIFAR-10";
    entry.meaning = "60,000 colour 32x32 pictures of ten kinds of things, in the binary version.";
    entry.remedy =
        "Unpack cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html and give the folder.";
    entry.recognise = [](const fs::path& path) { return recognise(path, kCifar10, "data_batch_1.bin"); };
    loadBy(entry, [](const fs::path& path, const ParamValues&, Reading&) { return loadCifar10(path); });
    return entry;
}

DatasetEntry cifar100Entry() {
    DatasetEntry entry;
    entry.id = "cifar100";
    entry.title = "CIFAR-100";
    entry.meaning = "60,000 colour 32x32 pictures of a hundred kinds of things, in the binary version.";
    entry.params = {{"labels",
                     std::string("fine"),
                     {},
                     {},
                     {"fine", "coarse"},
                     "",
                     "fine: the 100 classes; coarse: the 20 groups they belong to."}};
    entry.remedy =
        "Unpack cifar-100-binary.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html and give the folder.";
    entry.recognise = [](const fs::path& path) { return recognise(path, kCifar100Fine, "train.bin"); };
    loadBy(entry, [](const fs::path& path, const ParamValues& params, Reading&) {
        return loadCifar100(path, params.string("labels"));
    });
    return entry;
}

}  // namespace lockstep
