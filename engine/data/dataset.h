#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/core/data_fingerprint.h"
#include "engine/core/param_schema.h"
#include "engine/core/result.h"
#include "engine/data/batch_layout.h"
#include "engine/data/image_cut.h"

namespace lockstep {

struct ImageShape {
    int channels = 1, height = 0, width = 0;
    bool operator==(const ImageShape&) const = default;
};

// What a labelled image has: image u8 [channels, height, width], planar; label i32 [1], 0 … classes-1.
std::vector<Field> imageFields(const ImageShape& shape);

// What texts have, as many tokens each: tokens i32 [tokens]. For language models targets i32 [tokens], the token that
// follows each, or -1 where it does not count; for classification length i32 [1], from 1, behind which the tokens are
// padding, and label i32 [1].
std::vector<Field> languageFields(std::int64_t tokens);
std::vector<Field> textFields(std::int64_t tokens);

struct DatasetInfo {
    std::string id;  // "fashion-mnist"
    std::int64_t count = 0;
    std::vector<Field> fields;           // of every sample; a model finds its inputs by their names
    std::vector<std::string> classes;    // names in label order; of a language's fields: of its tokens
    std::vector<float> mean, deviation;  // per channel of the image, of pixels scaled to 0…1; for normalising
    // Of pictures that become images: the share of the shorter side that is seen, in the middle, where nothing is
    // chosen at random; and how they are scaled.
    double seenShare = 1;
    Interpolation interpolation = Interpolation::Bilinear;
    bool decodesExactly = false;  // else a JPEG perhaps at a smaller scale
    bool isCut = false;           // images are cut from pictures of other sizes when they are read
    bool inMemory = false;        // all samples lie decoded in memory: resident() gives every field

    ImageShape image() const;  // of the field "image"; all 0 where there is none
};

// One split of a collection of samples with random access. Const calls are safe from many threads. The engine reads
// datasets through this interface alone.
class Dataset {
public:
    virtual ~Dataset() = default;
    virtual const DatasetInfo& info() const = 0;
    // Writes field f of sample `index` into into[f], which has the bytes of info().fields[f] and is aligned for its
    // type. Where resident() gives a field, an empty into[f] leaves it out. Throws EngineError(Io) naming the file when
    // the sample cannot be read.
    virtual void read(std::int64_t index, std::span<const std::span<std::byte>> into) const = 0;
    // The same, of an image that is cut as whoever reads it wants: see DatasetInfo::isCut.
    virtual void readCut(std::int64_t index, std::span<const std::span<std::byte>> into, const ChooseCut& cut) const {
        (void)cut;
        read(index, into);
    }
    // Field `field` of sample `index` if it lies in memory decoded already, else nothing: spares a copy.
    virtual const std::byte* resident(std::int64_t index, std::size_t field) const {
        (void)index, (void)field;
        return nullptr;
    }
    // Where sample `index` lies, for people: its path, where each is a file of its own, or one within an archive; else
    // nothing.
    virtual std::string fileOf(std::int64_t index) const {
        (void)index;
        return {};
    }
    // What came up while samples were read and a person should know, though no sample is worse for it: each once.
    virtual std::vector<Problem> takeRemarks() const { return {}; }
    // What the samples are, in their order: equal wherever they lie, on whatever machine, and however many threads read
    // them. In general from the fields and up to 64 samples spread over all; a format that has its bytes at hand takes
    // them all. Reads; throws nothing.
    // Empty where a sample cannot be read.
    virtual std::optional<std::uint64_t> fingerprint() const;
};

struct DatasetSplits {
    std::shared_ptr<const Dataset> train, test;
    // What is to be known before training on it: how many files are left out, what was cut…
    std::vector<Problem> remarks = {};
    std::optional<DataFingerprint> fingerprint = {};  // empty: nobody has asked for it, or it cannot be told
    std::shared_ptr<const Dataset> validation = {};   // null: there is none
    std::int64_t leftOut = 0;                         // files that are no samples; a remark says why
    std::vector<Problem> notes = {};                  // what was chosen for them where nobody did: no cause to worry
    // Evaluated after each epoch, to choose the best one.
    const std::shared_ptr<const Dataset>& choosing() const { return validation ? validation : test; }
};
std::optional<DataFingerprint> fingerprintOf(const DatasetSplits& splits);

// What whoever opens a dataset asks of it meanwhile; empty functions are not called. All are called on the thread that
// opens it.
struct OpeningWatch {
    // Asked to stop, opening ends within a second with the problem "dataset.cancelled" and leaves nothing half made.
    std::stop_token stop = {};
    // Some ten times a second where it takes long: how many samples are read, of how many; of 0, how many files listed.
    std::function<void(std::int64_t done, std::int64_t total)> progress = {};
    // Fields and classes, without a count, as soon as they are known: a format whose samples take long to read knows
    // them before. What it throws is the outcome of opening.
    std::function<void(const DatasetInfo& info)> described = {};
    // Data to train on have samples in both splits and of two classes; data that a model is asked about, somewhere.
    bool trains = true;
    // Of a model of images: the side that it is for, 0 where nobody says; and whether random parts of pictures are
    // wanted.
    int usualSize = 0;
    bool cuts = false;
    // Few samples will be looked at: of large data none is decoded that nobody asks for.
    bool glances = false;
    // Likewise, where the data are many; of few all are decoded, so that those that cannot be are told of.
    bool sparesMany = false;
    // A file of about so many bytes is about to be made, of samples as they become.
    std::function<void(std::uint64_t bytes)> makes = {};
};

struct SkippedFile {
    std::filesystem::path file;
    Problem reason;
};

// What `lockstep inspect` reports.
struct DatasetReport {
    std::string format;  // id of the entry that recognised it
    std::vector<Field> fields;
    std::int64_t trainCount = 0, testCount = 0, validationCount = 0;  // samples
    std::vector<std::string> classes;  // empty with their counts where samples have no label
    std::vector<std::int64_t> trainPerClass, testPerClass;
    std::vector<SkippedFile> skipped;
    std::vector<Problem> warnings;  // imbalance, an empty class…
    std::vector<std::int64_t> validationPerClass = {};
};

// How a dataset is named and opened. An explicit list of these is the catalog (datasets/catalog.h).
struct DatasetEntry {
    std::string id;       // "idx", "cifar10", "image-folder", "synthetic", "fashion-mnist"
    std::string title;    // "Fashion-MNIST"
    std::string meaning;  // one sentence
    bool needsPath = true;
    ParamSchema params;
    std::filesystem::path defaultPath;  // where a package puts it; empty: none
    std::string remedy;                 // what to install or download when it is absent
    std::function<Result<DatasetSplits>(const std::filesystem::path& path, const ParamValues& params,
                                        const OpeningWatch& watch)>
        open;
    std::function<Result<DatasetReport>(const std::filesystem::path& path, const ParamValues& params,
                                        const OpeningWatch& watch)>
        inspect;
    // How surely the folder or file is of this format, by its names and first bytes: 0 no … 100 certain. Reads little.
    std::function<int(const std::filesystem::path& path)> recognise;
};

// Where it lies: as given, or else at its default place. A problem of "dataset.path" where it needs a place and has
// none.
Result<std::filesystem::path> dataPathOf(const DatasetEntry& entry, const std::filesystem::path& given);

}  // namespace lockstep
