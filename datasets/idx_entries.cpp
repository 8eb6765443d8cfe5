#include <algorithm>
#include <optional>

#include "datasets/byte_stream.h"
#include "datasets/entries.h"
#include "datasets/idx.h"
#include "datasets/loading.h"
#include "datasets/memory_dataset.h"
#include "engine/data/normalisation.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// What is known of a collection beyond its files.
struct Known {
    std::vector<std::string> classes;  // empty: as many as the training labels name
    std::optional<ImageShape> image;
    std::vector<float> mean, deviation;  // empty: measured
    int firstLabel = 0;
};

std::vector<std::string> letters(std::string_view all) {
    std::vector<std::string> names;
    for (const char c : all) names.emplace_back(1, c);
    return names;
}

// Cohen et al., "EMNIST: an extension of MNIST to handwritten letters", arXiv 1702.05373, table II. The labels of
// "letters" start at 1.
Known emnist(const std::string& split) {
    Known known;
    if (split == "byclass") known.classes = letters("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    if (split == "bymerge" || split == "balanced") {
        known.classes = letters("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabdefghnqrt");
    }
    if (split == "digits" || split == "mnist") known.classes = numbered(10);
    if (split == "letters") {
        known.classes = letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        known.firstLabel = 1;
    }
    return known;
}

Known knownOf(const std::string& name) {
    constexpr std::string_view kEmnist = "emnist-";
    return name.starts_with(kEmnist) ? emnist(name.substr(kEmnist.size())) : Known{};
}

Known fashion() {
    return {{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"},
            ImageShape{1, 28, 28},
            {0.2860f},
            {0.3530f},
            0};
}

fs::path folderOf(const fs::path& path) { return fs::is_regular_file(path) ? path.parent_path() : path; }

IdxFiles chooseFiles(const fs::path& folder, const std::string& split) {
    if (!fs::is_directory(folder)) throw ProblemError({folder.string(), "dataset.not-found", {}});
    const auto found = findIdxFiles(folder);
    if (found.empty()) throw ProblemError({folder.string(), "idx.no-files", {}});
    std::vector<IdxFiles> fitting;
    std::string names;
    for (const IdxFiles& files : found) {
        names += (names.empty() ? "" : ", ") + (files.name.empty() ? "(unnamed)" : files.name);
        if (split.empty() || files.name == split || files.name.ends_with("-" + split)) fitting.push_back(files);
    }
    if (fitting.empty()) throw ProblemError({"dataset.split", "idx.no-such-split", {split, names, folder.string()}});
    if (fitting.size() > 1) throw ProblemError({"dataset.split", "idx.several-splits", {names, folder.string()}});
    return fitting.front();
}

// To train on, both splits are needed; a question may be about the one that is there.
void requireFiles(const fs::path& folder, const IdxFiles& files, bool trains) {
    const auto require = [&](const fs::path& file, const char* what) {
        if (file.empty()) throw ProblemError({folder.string(), "idx.missing-file", {what}});
    };
    const bool hasTrain = !files.trainImages.empty() || !files.trainLabels.empty();
    const bool hasTest = !files.testImages.empty() || !files.testLabels.empty();
    if (trains || hasTrain) {
        require(files.trainImages, "train-images-idx3-ubyte");
        require(files.trainLabels, "train-labels-idx1-ubyte");
    }
    if (trains && !hasTest) throw ProblemError({folder.string(), "dataset.missing-test", {}});
    if (trains || hasTest) {
        require(files.testImages, "t10k-images-idx3-ubyte");
        require(files.testLabels, "t10k-labels-idx1-ubyte");
    }
}

std::vector<std::int32_t> checkedLabels(const fs::path& file, const std::vector<std::uint8_t>& raw, int first,
                                        int classes) {
    std::vector<std::int32_t> labels;
    labels.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] < first || raw[i] >= first + classes) {
            throw ProblemError({file.string(),
                                "idx.label-out-of-range",
                                {std::to_string(i), std::to_string(raw[i]), std::to_string(first),
                                 std::to_string(first + classes - 1)}});
        }
        labels.push_back(raw[i] - first);
    }
    return labels;
}

// Images and raw labels of one split, their counts compared.
struct Split {
    fs::path labelFile;
    IdxImages images;
    std::vector<std::uint8_t> labels;
};

Split readSplit(const fs::path& imageFile, const fs::path& labelFile, const Known& known) {
    Split split{labelFile, readIdxImages(imageFile), readIdxLabels(labelFile)};
    if (static_cast<std::size_t>(split.images.count) != split.labels.size()) {
        throw ProblemError(
            {labelFile.string(),
             "idx.count-mismatch",
             {std::to_string(split.labels.size()), std::to_string(split.images.count), imageFile.string()}});
    }
    const ImageShape shape{1, split.images.height, split.images.width};
    if (known.image && shape != *known.image) {
        throw ProblemError({imageFile.string(),
                            "idx.unexpected-shape",
                            {std::to_string(shape.height) + "x" + std::to_string(shape.width),
                             std::to_string(known.image->height) + "x" + std::to_string(known.image->width)}});
    }
    return split;
}

std::shared_ptr<const MemoryDataset> dataset(DatasetInfo info, Split split, int firstLabel) {
    auto labels = checkedLabels(split.labelFile, split.labels, firstLabel, static_cast<int>(info.classes.size()));
    info.fields = imageFields({1, split.images.height, split.images.width});
    return std::make_shared<MemoryDataset>(std::move(info), std::move(split.images.pixels), std::move(labels));
}

// A split of no images, beside one that has some.
Split noneLike(const Split& other) {
    Split none;
    none.images.height = other.images.height;
    none.images.width = other.images.width;
    return none;
}

Loaded load(const std::string& id, const fs::path& folder, const IdxFiles& files, const Known& known, bool trains) {
    requireFiles(folder, files, trains);
    Split train, test;
    if (!files.trainImages.empty()) train = readSplit(files.trainImages, files.trainLabels, known);
    if (!files.testImages.empty()) test = readSplit(files.testImages, files.testLabels, known);
    if (files.trainImages.empty()) train = noneLike(test);
    if (files.testImages.empty()) test = noneLike(train);
    const Split& first = files.trainImages.empty() ? test : train;
    DatasetInfo info;
    info.id = id;
    info.fields = imageFields({1, train.images.height, train.images.width});
    info.classes = known.classes.empty() ? numbered(1 + *std::ranges::max_element(first.labels)) : known.classes;
    info.mean = known.mean;
    info.deviation = known.deviation;
    if (info.mean.empty()) measureNormalisation(info, first.images.pixels);
    Loaded loaded;
    loaded.train = dataset(info, std::move(train), known.firstLabel);
    loaded.test = dataset(info, std::move(test), known.firstLabel);
    return loaded;
}

std::vector<IdxFiles> idxFilesAt(const fs::path& path) {
    const fs::path folder = folderOf(path);
    return fs::is_directory(folder) ? findIdxFiles(folder) : std::vector<IdxFiles>{};
}

int recogniseIdx(const fs::path& path) {
    int sure = 0;
    for (const IdxFiles& files : idxFilesAt(path)) {
        if (!files.trainImages.empty() && !files.trainLabels.empty()) return 80;
        if (!files.testImages.empty() && !files.testLabels.empty()) sure = 40;  // to be asked about
    }
    return sure;
}

// By the first training labels: other collections of the family have the same files.
int recogniseFashion(const fs::path& path) {
    constexpr std::uint8_t kFirst[] = {9, 0, 0, 3, 0, 2, 7, 2, 5, 5};
    for (const IdxFiles& files : idxFilesAt(path)) {
        if (!files.name.empty() || files.trainLabels.empty()) continue;
        std::uint8_t bytes[18] = {};
        try {
            if (openUnpacked(files.trainLabels)->read(bytes) < sizeof bytes) continue;
        } catch (const ProblemError&) {
            continue;  // opening it will say what is wrong
        }
        if (std::equal(std::begin(kFirst), std::end(kFirst), bytes + 8)) return 100;
    }
    return 0;
}

}  // namespace

DatasetEntry idxEntry() {
    DatasetEntry entry;
    entry.id = "idx";
    entry.title = "IDX files";
    entry.meaning = "A folder of IDX files as in MNIST, KMNIST and EMNIST, plain or gzipped.";
    entry.params = {{"split",
                     std::string(),
                     {},
                     {},
                     {},
                     "",
                     "Which collection, where a folder holds several, as in EMNIST: balanced, byclass, letters…"}};
    entry.remedy = "Download the four files of MNIST, KMNIST or EMNIST into one folder.";
    entry.recognise = recogniseIdx;
    loadBy(entry, [](const fs::path& path, const ParamValues& params, Reading& reading) {
        const fs::path folder = folderOf(path);
        const IdxFiles files = chooseFiles(folder, params.string("split"));
        return load("idx", folder, files, knownOf(files.name), reading.trains());
    });
    return entry;
}

DatasetEntry fashionMnistEntry() {
    DatasetEntry entry;
    entry.id = "fashion-mnist";
    entry.title = "Fashion-MNIST";
    entry.meaning = "70,000 grey 28x28 pictures of ten kinds of clothing (Zalando Research).";
    entry.needsPath = false;
    entry.defaultPath = "/usr/share/datasets/fashion-mnist";
    entry.remedy = "apt install dataset-fashion-mnist";
    entry.recognise = recogniseFashion;
    loadBy(entry, [standard = entry.defaultPath, remedy = entry.remedy](const fs::path& path, const ParamValues&,
                                                                        Reading& reading) {
        const fs::path folder = folderOf(path.empty() ? standard : path);
        if (folder == standard && !fs::is_directory(folder)) {
            throw ProblemError({folder.string(), "dataset.not-installed", {remedy}});
        }
        return load("fashion-mnist", folder, chooseFiles(folder, ""), fashion(), reading.trains());
    });
    return entry;
}

}  // namespace lockstep
