#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "datasets/cut_pictures.h"
#include "datasets/decoded.h"
#include "datasets/entries.h"
#include "datasets/image_codec.h"
#include "datasets/image_layouts.h"
#include "datasets/loading.h"
#include "datasets/memory_dataset.h"
#include "datasets/picture_index.h"
#include "datasets/picture_store.h"
#include "engine/core/content_hash.h"
#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/data/drawn_places.h"
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

// Those, kept with the index.
std::vector<PictureSize> probed(const EncodedPictures& pictures, PictureIndex& index, const Reading& reading) {
    constexpr std::uint64_t kSizes = streamOf("sizes of pictures");
    std::vector<PictureSize> sizes;
    if (const auto* kept = index.measured(kSizes)) {
        for (std::size_t i = 0; i + 2 < kept->size(); i += 3)
            sizes.push_back(
                {static_cast<int>((*kept)[i]), static_cast<int>((*kept)[i + 1]), static_cast<int>((*kept)[i + 2])});
        return sizes;
    }
    sizes = probe(pictures, reading);
    std::vector<double> numbers;
    for (const PictureSize& each : sizes)
        for (const int number : {each.height, each.width, each.channels}) numbers.push_back(number);
    index.keep(kSizes, std::move(numbers));
    return sizes;
}

DecodedFormat chooseFormat(const EncodedPictures& pictures, const ParamValues& params, PictureIndex& index,
                           const Reading& reading) {
    const std::string& colour = params.string("colour");
    DecodedFormat format{static_cast<int>(params.integer("size")), colour == "grey" ? 1 : 3,
                         params.string("decode") == "exact" ? Decode::Exact : Decode::Fast};
    if (format.size > 0 && colour != "auto") return format;
    const auto sizes = probed(pictures, index, reading);
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
DecodedImages decoded(const fs::path& cacheFolder, const fs::path& root, const char* split, const FileList& files,
                      const EncodedPictures& pictures, const DecodedFormat& format, Reading& reading,
                      std::int64_t before, std::vector<Problem>& warnings) {
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

GoodFiles goodOf(const FileList& files, const DecodedImages& images, std::vector<SkippedFile>& skipped) {
    GoodFiles good;
    auto failure = images.failures.begin();
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (failure != images.failures.end() && failure->index == static_cast<std::int64_t>(i)) {
            skipped.push_back({files.fileOf(i), failure->reason});
            ++failure;
        } else {
            good.labels.push_back(files.entry(i).label);
            good.paths.push_back(files.fileOf(i));
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

// One opening of a folder whose pictures are cut when they are read.
class CutFolder {
public:
    CutFolder(const fs::path& cacheFolder, const fs::path& root, Keep keep, const ImageRule& rule, PictureIndex& index,
              Reading& reading, Loaded& loaded)
        : m_cacheFolder(cacheFolder),
          m_root(root),
          m_keep(keep),
          m_rule(rule),
          m_index(index),
          m_reading(reading),
          m_loaded(loaded) {}

    void load(DatasetInfo& info, const FolderScan& scan, const PictureSplits& from) {
        if (m_keep != Keep::Stream) m_reading.expect(static_cast<std::int64_t>(scan.count()));
        const Pictures train = pictures("train", scan.train, from.train), test = pictures("test", scan.test, from.test),
                       validation = pictures("validation", scan.validation, from.validation);
        normalise(info, CutPictures(info, train.source, train.labels, m_rule));
        m_loaded.train = dataset(info, train);
        m_loaded.test = dataset(info, test);
        if (!scan.validation.empty()) m_loaded.validation = dataset(info, validation);
    }

private:
    struct Pictures {
        std::shared_ptr<const PictureSource> source;
        std::vector<std::int32_t> labels;
    };

    // As it was measured, or from samples chosen by hash.
    void normalise(DatasetInfo& info, const CutPictures& images) {
        constexpr std::int64_t kAtAGlance = 128;
        const std::uint64_t what = normalisation();
        const auto* kept = m_index.measured(what);
        const auto channels = static_cast<std::ptrdiff_t>(m_rule.channels);
        if (kept && std::ssize(*kept) == 2 * channels) {
            info.mean.assign(kept->begin(), kept->begin() + channels);
            info.deviation.assign(kept->begin() + channels, kept->end());
            return;
        }
        measure(info, images, m_reading.glances() ? kAtAGlance : kMostNormalising);
        if (m_reading.glances()) return;
        std::vector<double> values(info.mean.begin(), info.mean.end());
        values.insert(values.end(), info.deviation.begin(), info.deviation.end());
        m_index.keep(what, std::move(values));
    }

    void measure(DatasetInfo& info, const CutPictures& images, std::int64_t most) {
        const auto samples = drawnPlaces(images.info().count, most, 0, streamOf("normalisation"));
        if (m_keep == Keep::Stream) m_reading.expect(std::ssize(samples));
        measureNormalisation(info, images, samples, [&](std::int64_t done) {
            if (m_keep == Keep::Stream) m_reading.advance(done);
            else m_reading.goOn();
        });
    }

    // What it depends on, beside the pictures.
    std::uint64_t normalisation() const {
        ContentHash what;
        what.add(std::string_view("normalisation"));
        what.add(static_cast<std::uint64_t>(m_rule.size) << 8 | static_cast<std::uint64_t>(m_rule.channels));
        what.add(std::bit_cast<std::uint64_t>(m_rule.share));
        what.add(std::uint64_t{m_rule.interpolation == Interpolation::Bicubic});
        what.add(std::uint64_t{m_rule.decode == Decode::Exact});
        what.add(std::uint64_t{m_keep == Keep::Stream});
        return what.value();
    }

    Pictures pictures(const char* split, const FileList& files, const std::shared_ptr<const EncodedPictures>& source) {
        Pictures all{source, {}};
        for (const FileEntry& each : files.entries()) all.labels.push_back(each.label);
        return m_keep == Keep::Stream || files.empty() ? all : stored(split, files, all);
    }

    Pictures stored(const char* split, const FileList& files, const Pictures& all) {
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
        m_done += std::ssize(files.entries());
        for (const auto& failure : store->failures())
            m_loaded.skipped.push_back({files.fileOf(static_cast<std::size_t>(failure.index)), failure.reason});
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
    PictureIndex& m_index;
    Reading& m_reading;
    Loaded& m_loaded;
    std::int64_t m_done = 0;
};

// One opening of a folder: what lies there, and how it is to be read.
class Opening {
public:
    Opening(const fs::path& cacheFolder, const fs::path& path, std::size_t manyFiles, const ParamValues& params,
            Reading& reading)
        : m_cacheFolder(cacheFolder),
          m_path(path),
          m_root(fs::weakly_canonical(path)),
          m_manyFiles(manyFiles),
          m_params(params),
          m_reading(reading),
          m_index(cacheFolder, m_root, params.number("test_share")) {}

    Loaded load() {
        if (!listed() || !isStillRight()) list();
        const std::size_t all = m_scan->count();
        if (m_choice.keep == Keep::Squares) requireMemory(m_path.string(), all * m_format.bytes());
        if (m_choice.keep == Keep::Memory) requireMemory(m_path.string(), storedBytes(all, m_rule));
        m_loaded.skipped = m_scan->skipped;
        m_loaded.notes = m_scan->notes;
        DatasetInfo info = describe();
        if (m_choice.keep == Keep::Squares) loadSquares(info);
        else loadCut(info);
        if (m_index.hasNews() && !m_scan->index.empty()) keepIndex(*m_scan);
        m_scan->skipped = {}, m_scan->notes = {}, m_scan->watched = {};  // the pictures need none of them
        return std::move(m_loaded);
    }

private:
    // By the index; false: there is none that could be trusted.
    bool listed() {
        auto kept = m_index.open(m_reading);
        if (!kept) return false;
        if (m_reading.trains()) requireClasses(m_root, *kept);
        choose(std::move(*kept));
        return true;
    }

    // What is decoded at the start, all of it, shows how the files are now; what is kept on the disk, how they were.
    bool isStillRight() const {
        const bool isAllRead = m_choice.keep == Keep::Squares || m_choice.keep == Keep::Memory;
        return !isAllRead || areAsListed(*m_scan, m_reading);
    }

    void list() {
        m_index.forget();
        FolderScan scan = scanImages(m_root, m_params.number("test_share"), m_reading);
        std::error_code ignored;
        if (scan.count() >= m_manyFiles) keepIndex(scan);
        else if (!m_index.file().empty()) fs::remove(m_index.file(), ignored);  // of when they were more
        choose(std::move(scan));
    }

    void choose(FolderScan scan) {
        m_scan = std::make_shared<FolderScan>(std::move(scan));
        m_pictures = picturesOf(m_scan);
        m_format = chooseFormat(*m_pictures.train, m_params, m_index, m_reading);
        m_rule = ruleOf(m_format, m_params, m_reading);
        m_choice = keepOf(m_params, m_rule, m_scan->count(), m_reading);
    }

    // That it cannot be written costs time only.
    void keepIndex(FolderScan& scan) {
        try {
            m_index.write(scan);
        } catch (const std::runtime_error& error) {  // EngineError of the file, filesystem_error of the folder
            m_loaded.warnings.push_back({m_index.file().string(), "picture-index.not-written", {error.what()}});
        }
    }

    DatasetInfo describe() const {
        DatasetInfo info;
        info.id = "image-folder";
        info.fields = imageFields({m_format.channels, m_format.size, m_format.size});
        info.classes = m_scan->classes;
        info.decodesExactly = m_format.decode == Decode::Exact;
        m_reading.describe(info);
        return info;
    }

    void loadCut(DatasetInfo& info) {
        auto& warnings = m_loaded.warnings;
        warnings.insert(warnings.end(), m_choice.reason.begin(), m_choice.reason.end());
        CutFolder folder(m_cacheFolder, m_root, m_choice.keep, m_rule, m_index, m_reading, m_loaded);
        folder.load(info, *m_scan, m_pictures);
        requireAny(m_path, *m_loaded.train, m_loaded.skipped);
    }

    void loadSquares(DatasetInfo& info) {
        m_reading.expect(static_cast<std::int64_t>(m_scan->count()));
        m_loaded.train = squares(info, "train", m_scan->train, *m_pictures.train);
        requireAny(m_path, *m_loaded.train, m_loaded.skipped);
        m_loaded.test = squares(info, "test", m_scan->test, *m_pictures.test);
        if (!m_scan->validation.empty())
            m_loaded.validation = squares(info, "validation", m_scan->validation, *m_pictures.validation);
    }

    std::shared_ptr<const Dataset> squares(DatasetInfo& info, const char* split, const FileList& files,
                                           const EncodedPictures& pictures) {
        DecodedImages images =
            decoded(m_cacheFolder, m_root, split, files, pictures, m_format, m_reading, m_done, m_loaded.warnings);
        m_done += pictures.count();
        GoodFiles good = goodOf(files, images, m_loaded.skipped);
        if (info.mean.empty()) measureNormalisation(info, images.pixels);
        return std::make_shared<MemoryDataset>(info, std::move(images.pixels), std::move(good.labels), images.content,
                                               std::move(good.paths));
    }

    const fs::path &m_cacheFolder, &m_path;
    fs::path m_root;
    std::size_t m_manyFiles;
    const ParamValues& m_params;
    Reading& m_reading;
    PictureIndex m_index;
    std::shared_ptr<FolderScan> m_scan;
    PictureSplits m_pictures;
    DecodedFormat m_format;
    ImageRule m_rule;
    KeepChoice m_choice;
    Loaded m_loaded;
    std::int64_t m_done = 0;
};

}  // namespace

DatasetEntry imageFolderEntry(const fs::path& cacheFolder, std::size_t manyFiles) {
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
    loadBy(entry, [cacheFolder, manyFiles](const fs::path& path, const ParamValues& params, Reading& reading) {
        return Opening(cacheFolder, path, manyFiles, params, reading).load();
    });
    return entry;
}

}  // namespace lockstep
