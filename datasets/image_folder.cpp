#include <algorithm>
#include <cmath>
#include <cstdio>

#include "datasets/cut_pictures.h"
#include "datasets/decoded.h"
#include "datasets/entries.h"
#include "datasets/image_codec.h"
#include "datasets/image_layouts.h"
#include "datasets/loading.h"
#include "datasets/memory_dataset.h"
#include "datasets/picture_store.h"
#include "engine/core/content_hash.h"
#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/data/normalisation.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// Small pictures keep their size. Photographs become as large as the model is for, or else 64 x 64, which a workshop's
// laptop can train on.
constexpr int kSmall = 64;
constexpr double kShareSeen = 7.0 / 8;  // of the shorter side, in evaluation, by models that learned from random parts

// The headers of up to 256 images, spread evenly; unreadable ones are left out.
std::vector<PictureSize> probe(const EncodedPictures& pictures, const Reading& reading) {
    constexpr std::int64_t kMost = 256;
    std::vector<PictureSize> sizes;
    std::vector<std::uint8_t> memory;
    const std::int64_t taken = std::min(pictures.count(), kMost);
    for (std::int64_t i = 0; i < taken; ++i) {
        reading.goOn();
        const std::int64_t index = i * pictures.count() / taken;
        try {
            sizes.push_back(sizeOfImage(pictures.encoded(index, memory), pictures.fileOf(index)));
        } catch (const ProblemError&) {
            continue;  // decoding it will say why
        }
    }
    return sizes;
}

DecodedFormat chooseFormat(const EncodedPictures& pictures, const ParamValues& params, const Reading& reading) {
    const std::string& colour = params.string("colour");
    DecodedFormat format{static_cast<int>(params.integer("size")), colour == "grey" ? 1 : 3,
                         params.string("decode") == "exact" ? Decode::Exact : Decode::Fast};
    if (format.size > 0 && colour != "auto") return format;
    const auto sizes = probe(pictures, reading);
    const auto shortSide = [](const PictureSize& size) { return std::min(size.height, size.width); };
    const auto small = [&](const PictureSize& size) { return shortSide(size) <= kSmall; };
    if (format.size == 0)
        format.size = !sizes.empty() && std::ranges::all_of(sizes, small) ? shortSide(sizes.front())
                                                                          : std::max(kSmall, reading.usualSize());
    if (colour == "auto") {
        const auto grey = [](const PictureSize& size) { return size.channels == 1; };
        format.channels = !sizes.empty() && std::ranges::all_of(sizes, grey) ? 1 : 3;
    }
    return format;
}

ImageRule ruleOf(const DecodedFormat& format, const ParamValues& params, const Reading& reading) {
    ImageRule rule{.size = format.size, .channels = format.channels};
    const double share = params.number("seen_share");
    rule.share = share > 0 ? share : reading.cuts() && format.size > kSmall ? kShareSeen : 1;
    rule.interpolation = params.string("interpolation") == "bicubic" ? Interpolation::Bicubic : Interpolation::Bilinear;
    rule.decode = format.decode;
    return rule;
}

// Where the decoded pictures are.
enum class Keep {
    Squares,  // in memory, as the model reads them
    Memory,   // in memory, as small as the cuts allow
    Cache,    // likewise, in a file
    Stream    // nowhere: decoded whenever they are read
};

struct KeepChoice {
    Keep keep = Keep::Squares;
    std::vector<Problem> reason = {};  // of `auto`, where it is worth a word
};

int shortSideOf(const ImageRule& rule) { return static_cast<int>(std::lround(rule.size / rule.share)); }

// About as large as pictures of the usual shape are.
std::uint64_t storedBytes(std::size_t count, const ImageRule& rule) {
    constexpr double kLongSide = 1.4;
    const double side = shortSideOf(rule);
    return static_cast<std::uint64_t>(static_cast<double>(count) * kLongSide * side * side * rule.channels);
}

KeepChoice keepOf(const ParamValues& params, const ImageRule& rule, std::size_t count, const Reading& reading) {
    const std::string& keep = params.string("keep");
    const bool isPlain = rule.share == 1 && rule.interpolation == Interpolation::Bilinear;
    const bool areCut = (reading.cuts() && rule.size > kSmall) || !isPlain;
    constexpr std::size_t kMany = 4096;
    const bool isGlance = reading.glances() && (count > kMany || areCut || keep == "cache");
    if (keep == "stream" || isGlance) return {Keep::Stream};
    if (keep == "cache") return {Keep::Cache};
    if (keep == "memory") return {areCut ? Keep::Memory : Keep::Squares};
    const std::size_t square =
        static_cast<std::size_t>(rule.channels * rule.size) * static_cast<std::size_t>(rule.size);
    const std::uint64_t bytes = areCut ? storedBytes(count, rule) : count * square;
    if (fitsInMemory(areCut ? 2 * bytes : bytes)) return {areCut ? Keep::Memory : Keep::Squares};
    return {Keep::Stream, {{"dataset.keep", "image-folder.streamed", {std::to_string(bytes >> 20)}}}};
}

fs::path cacheFile(const fs::path& folder, const fs::path& root, const char* split, const DecodedFormat& format) {
    char name[80];
    std::snprintf(name, sizeof name, "%016llx-%s-%dx%d.decoded",
                  static_cast<unsigned long long>(streamOf(root.string())), split, format.channels, format.size);
    return folder / name;
}

// The images of a split, from the cache or decoded; a cache that cannot be written costs time only.
DecodedImages decoded(const fs::path& cacheFolder, const fs::path& root, const char* split,
                      const std::vector<LabelledFile>& files, const EncodedPictures& pictures,
                      const DecodedFormat& format, Reading& reading, std::int64_t before,
                      std::vector<Problem>& warnings) {
    if (cacheFolder.empty()) return decodeAll(pictures, format, reading, before);
    const fs::path cache = cacheFile(cacheFolder, root, split, format);
    const std::uint64_t key = decodedKey(root, files, format);
    if (auto kept = loadDecoded(cache, key, files, format)) return std::move(*kept);
    DecodedImages images = decodeAll(pictures, format, reading, before);
    try {
        fs::create_directories(cacheFolder);
        storeDecoded(cache, key, images);
    } catch (const std::runtime_error& error) {  // EngineError of the file, filesystem_error of the folder
        warnings.push_back({cache.string(), "image-folder.cache-not-written", {error.what()}});
    }
    return images;
}

// Of the images that could be decoded.
struct GoodFiles {
    std::vector<std::int32_t> labels;
    std::vector<std::string> paths;
};

GoodFiles goodOf(const std::vector<LabelledFile>& files, const DecodedImages& images,
                 std::vector<SkippedFile>& skipped) {
    GoodFiles good;
    auto failure = images.failures.begin();
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (failure != images.failures.end() && failure->index == static_cast<std::int64_t>(i)) {
            skipped.push_back({files[i].file, failure->reason});
            ++failure;
        } else {
            good.labels.push_back(files[i].label);
            good.paths.push_back(files[i].file.string());
        }
    }
    return good;
}

void requireAny(const fs::path& path, const Dataset& train, const std::vector<SkippedFile>& skipped) {
    if (train.info().count > 0 || skipped.empty()) return;
    const SkippedFile& first = skipped.front();
    throw ProblemError({path.string(),
                        "image-folder.none-readable",
                        {std::to_string(skipped.size()), first.file.string(), first.reason.code}});
}

// The pictures of each split.
struct Splits {
    std::shared_ptr<const EncodedPictures> train, test, validation;
};

// One opening of a folder whose pictures are cut when they are read.
class CutFolder {
public:
    CutFolder(const fs::path& cacheFolder, const fs::path& root, Keep keep, const ImageRule& rule, Reading& reading,
              Loaded& loaded)
        : m_cacheFolder(cacheFolder), m_root(root), m_keep(keep), m_rule(rule), m_reading(reading), m_loaded(loaded) {}

    void load(DatasetInfo& info, const FolderScan& scan, const Splits& from) {
        const auto all = std::ssize(scan.train) + std::ssize(scan.test) + std::ssize(scan.validation);
        constexpr std::int64_t kAtAGlance = 128;
        const std::int64_t most = m_reading.glances() ? kAtAGlance : kMostNormalising;
        const auto normalising = std::min<std::int64_t>(std::ssize(scan.train), most);
        m_reading.expect(m_keep == Keep::Stream ? normalising : all);
        const Pictures train = pictures("train", scan.train, from.train), test = pictures("test", scan.test, from.test),
                       validation = pictures("validation", scan.validation, from.validation);
        const CutPictures measured(info, train.source, train.labels, m_rule);
        measureNormalisation(
            info, measured,
            [&](std::int64_t done) {
                if (m_keep == Keep::Stream) m_reading.advance(done);
                else m_reading.goOn();
            },
            most);
        m_loaded.train = dataset(info, train);
        m_loaded.test = dataset(info, test);
        if (!scan.validation.empty()) m_loaded.validation = dataset(info, validation);
    }

private:
    struct Pictures {
        std::shared_ptr<const PictureSource> source;
        std::vector<std::int32_t> labels;
    };

    Pictures pictures(const char* split, const std::vector<LabelledFile>& files,
                      const std::shared_ptr<const EncodedPictures>& source) {
        Pictures all{source, {}};
        for (const LabelledFile& each : files) all.labels.push_back(each.label);
        return m_keep == Keep::Stream || files.empty() ? all : stored(split, files, all);
    }

    Pictures stored(const char* split, const std::vector<LabelledFile>& files, const Pictures& all) {
        const StoreRule rule{shortSideOf(m_rule), m_rule.channels, m_rule.interpolation, m_rule.decode};
        const DecodedFormat format{rule.shortSide, rule.channels, rule.decode};
        ContentHash key;
        key.add(decodedKey(m_root, files, format));
        key.add(std::uint64_t{rule.interpolation == Interpolation::Bicubic});
        fs::path file;
        if (m_keep == Keep::Cache) {  // one of other pixels has another name: a run may have it mapped
            fs::create_directories(m_cacheFolder);
            char ending[32];
            std::snprintf(ending, sizeof ending, ".%016llx.pictures", static_cast<unsigned long long>(key.value()));
            file = cacheFile(m_cacheFolder, m_root, split, format).replace_extension(ending);
        }
        const auto store = PictureStore::make(all.source, rule, file, key.value(), m_reading, m_done);
        m_done += std::ssize(files);
        for (const auto& failure : store->failures())
            m_loaded.skipped.push_back({files[static_cast<std::size_t>(failure.index)].file, failure.reason});
        Pictures good{store, {}};
        for (std::int64_t i = 0; i < store->count(); ++i)
            good.labels.push_back(all.labels[static_cast<std::size_t>(store->sourceOf(i))]);
        return good;
    }

    std::shared_ptr<const Dataset> dataset(const DatasetInfo& info, const Pictures& pictures) const {
        return std::make_shared<CutPictures>(info, pictures.source, pictures.labels, m_rule);
    }

    const fs::path &m_cacheFolder, &m_root;
    Keep m_keep;
    ImageRule m_rule;
    Reading& m_reading;
    Loaded& m_loaded;
    std::int64_t m_done = 0;
};

Loaded load(const fs::path& cacheFolder, const fs::path& path, const ParamValues& params, Reading& reading) {
    const fs::path root = fs::weakly_canonical(path);
    FolderScan scan = scanImages(root, params.number("test_share"), reading);
    const Splits pictures{picturesOf(root, scan, scan.train), picturesOf(root, scan, scan.test),
                          picturesOf(root, scan, scan.validation)};
    const DecodedFormat format = chooseFormat(*pictures.train, params, reading);
    const std::size_t all = scan.train.size() + scan.test.size() + scan.validation.size();
    const ImageRule rule = ruleOf(format, params, reading);
    const KeepChoice choice = keepOf(params, rule, all, reading);
    if (choice.keep == Keep::Squares) requireMemory(path.string(), all * format.bytes());
    if (choice.keep == Keep::Memory) requireMemory(path.string(), storedBytes(all, rule));

    Loaded loaded;
    loaded.skipped = std::move(scan.skipped);
    loaded.notes = std::move(scan.notes);
    DatasetInfo info;
    info.id = "image-folder";
    info.fields = imageFields({format.channels, format.size, format.size});
    info.classes = scan.classes;
    info.decodesExactly = format.decode == Decode::Exact;
    reading.describe(info);
    if (choice.keep != Keep::Squares) {
        loaded.warnings = choice.reason;
        CutFolder(cacheFolder, root, choice.keep, rule, reading, loaded).load(info, scan, pictures);
        requireAny(path, *loaded.train, loaded.skipped);
        return loaded;
    }
    reading.expect(static_cast<std::int64_t>(all));
    const auto split = [&](const char* name, const std::vector<LabelledFile>& files, const EncodedPictures& of,
                           std::size_t before) {
        DecodedImages images = decoded(cacheFolder, root, name, files, of, format, reading,
                                       static_cast<std::int64_t>(before), loaded.warnings);
        GoodFiles good = goodOf(files, images, loaded.skipped);
        if (info.mean.empty()) measureNormalisation(info, images.pixels);
        return std::make_shared<MemoryDataset>(info, std::move(images.pixels), std::move(good.labels), images.content,
                                               std::move(good.paths));
    };
    loaded.train = split("train", scan.train, *pictures.train, 0);
    requireAny(path, *loaded.train, loaded.skipped);
    loaded.test = split("test", scan.test, *pictures.test, scan.train.size());
    if (!scan.validation.empty())
        loaded.validation =
            split("validation", scan.validation, *pictures.validation, scan.train.size() + scan.test.size());
    return loaded;
}

}  // namespace

DatasetEntry imageFolderEntry(const fs::path& cacheFolder) {
    DatasetEntry entry;
    entry.id = "image-folder";
    entry.title = "Image folder";
    entry.meaning =
        "JPEG or PNG images in one sub-folder per class, or in train, test and perhaps val folders of such, or with a "
        "list of their labels; in a folder, a tar or a zip, or shards of WebDataset; ImageNet and Tiny-ImageNet as "
        "they are shipped.";
    entry.params = {
        {"size",
         std::int64_t{0},
         0,
         1024,
         {},
         "pixels",
         "Side of the squares that images are cropped and scaled to; 0: as they are if small, else as the model is "
         "for, or 64."},
        {"keep",
         std::string("auto"),
         {},
         {},
         {"auto", "memory", "cache", "stream"},
         "",
         "memory: decoded once; cache: decoded once into a file beside the history; stream: decoded whenever they are "
         "read; auto: memory where it holds them, else stream."},
        {"decode",
         std::string("fast"),
         {},
         {},
         {"fast", "exact"},
         "",
         "Of JPEG images. fast: at a smaller scale where that is enough; exact: each pixel as PyTorch has it."},
        {"interpolation",
         std::string("bilinear"),
         {},
         {},
         {"bilinear", "bicubic"},
         "",
         "How images are scaled; both average what is reduced."},
        {"seen_share",
         0.0,
         0,
         1,
         {},
         "",
         "Share of the shorter side that evaluation sees of a photograph, in the middle; 0: 0.875 where training sees "
         "random parts, else all."},
        {"colour",
         std::string("auto"),
         {},
         {},
         {"auto", "grey", "rgb"},
         "",
         "auto: grey if all images looked at are grey."},
        {"test_share",
         0.2,
         0.01,
         0.9,
         {},
         "",
         "Share of the images held out for testing where there is no test folder."},
    };
    entry.remedy =
        "Sort the images into one folder per class, or put a labels.csv with file and label beside them; give the "
        "folder "
        "above them.";
    entry.recognise = recogniseImages;
    loadBy(entry, [cacheFolder](const fs::path& path, const ParamValues& params, Reading& reading) {
        return load(cacheFolder, path, params, reading);
    });
    return entry;
}

}  // namespace lockstep
