#include <algorithm>

#include "datasets/cut_folder.h"
#include "datasets/decoded.h"
#include "datasets/entries.h"
#include "datasets/image_codec.h"
#include "datasets/image_layouts.h"
#include "datasets/keep_choice.h"
#include "datasets/loading.h"
#include "datasets/memory_dataset.h"
#include "datasets/picture_index.h"
#include "engine/core/error.h"
#include "engine/core/random.h"
#include "engine/data/normalisation.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr double kShareSeen = 7.0 / 8;  // of the shorter side, in evaluation, by models that learned from random parts

constexpr std::int64_t kMostProbed = 256;

// The headers of up to kMostProbed images, spread evenly; unreadable ones are left out.
std::vector<PictureSize> probe(const EncodedPictures& pictures, const Reading& reading) {
    std::vector<PictureSize> sizes;
    std::vector<std::uint8_t> memory;
    const std::int64_t taken = std::min(pictures.count(), kMostProbed);
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
    constexpr std::uint64_t kSizes = streamOf("channels, heights and widths");
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
        for (const int number : {each.channels, each.height, each.width}) numbers.push_back(number);
    index.keep(kSizes, std::move(numbers), std::ssize(sizes), std::min(pictures.count(), kMostProbed));
    return sizes;
}

DecodedFormat chooseFormat(const std::vector<PictureSize>& sizes, const ParamValues& params, const Reading& reading) {
    const std::string& colour = params.string("colour");
    DecodedFormat format{static_cast<int>(params.integer("size")), colour == "grey" ? 1 : 3,
                         params.string("decode") == "exact" ? Decode::Exact : Decode::Fast};
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

// Pictures that are as large as images and square are those; what else there is is cut from.
bool areCut(const std::vector<PictureSize>& sizes, int size, const Reading& reading) {
    const auto isAnImage = [&](const PictureSize& each) { return each.height == size && each.width == size; };
    return reading.cuts() && !(!sizes.empty() && std::ranges::all_of(sizes, isAnImage));
}

ImageRule ruleOf(const DecodedFormat& format, const ParamValues& params, bool isCut) {
    ImageRule rule{.size = format.size, .channels = format.channels};
    const double share = params.number("seen_share");
    rule.share = share > 0 ? share : isCut ? kShareSeen : 1;
    rule.interpolation = params.string("interpolation") == "bicubic" ? Interpolation::Bicubic : Interpolation::Bilinear;
    rule.decode = format.decode;
    return rule;
}

// The images of a split, from the cache or decoded; a cache that cannot be written costs time only.
DecodedImages decoded(const fs::path& cacheFolder, const fs::path& root, const char* split, const FileList& files,
                      const EncodedPictures& pictures, const DecodedFormat& format, Reading& reading,
                      std::int64_t before, std::vector<Problem>& warnings) {
    if (cacheFolder.empty()) return decodeAll(pictures, format, reading, before);
    const fs::path cache = decodedFile(cacheFolder, root, split, format);
    const std::uint64_t key = decodedKey(root, files, format);
    if (auto kept = loadDecoded(cache, key, files, format)) return std::move(*kept);
    DecodedImages images = decodeAll(pictures, format, reading, before);
    const auto isLasting = [](const DecodedImages::Failure& each) { return isOfContent(each.reason); };
    if (!std::ranges::all_of(images.failures, isLasting)) return images;
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

void requireAny(const fs::path& path, const Dataset& split, const std::vector<SkippedFile>& skipped) {
    if (split.info().count > 0 || skipped.empty()) return;
    const SkippedFile& first = skipped.front();
    throw ProblemError({path.string(),
                        "image-folder.none-readable",
                        {std::to_string(skipped.size()), first.file.string(), first.reason.code}});
}

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
        if (m_choice.keep == Keep::Squares || m_choice.keep == Keep::Memory)
            requireMemory(m_path.string(), kept().bytes(m_choice.keep));
        m_loaded.skipped = m_scan->skipped;
        m_loaded.notes = m_scan->notes;
        m_loaded.choices = m_choice.words;
        DatasetInfo info = describe();
        if (m_choice.keep == Keep::Squares) loadSquares(info);
        else loadCut(info);
        m_index.requireUnchanged();
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
        m_sizes = probed(*m_pictures.train, m_index, m_reading);
        m_format = chooseFormat(m_sizes, m_params, m_reading);
        m_isCut = areCut(m_sizes, m_format.size, m_reading);
        m_rule = ruleOf(m_format, m_params, m_isCut);
        m_choice = keepOf(m_params, kept(), m_reading);
    }

    KeptPictures kept() const {
        return {m_scan->train.size(), m_scan->test.size() + m_scan->validation.size(), m_sizes, m_rule, m_isCut};
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
        CutFolder folder(m_cacheFolder, m_root, m_choice.keep, kept(), m_index, m_reading, m_loaded);
        folder.load(info, *m_scan, m_pictures);
        requireAny(m_path, *m_loaded.train, m_loaded.skipped);
        if (!m_scan->test.empty()) requireAny(m_path, *m_loaded.test, m_loaded.skipped);
    }

    void loadSquares(DatasetInfo& info) {
        m_reading.expect(static_cast<std::int64_t>(m_scan->count()));
        m_loaded.train = squares(info, "train", m_scan->train, *m_pictures.train);
        requireAny(m_path, *m_loaded.train, m_loaded.skipped);
        m_loaded.test = squares(info, "test", m_scan->test, *m_pictures.test);
        if (!m_scan->test.empty()) requireAny(m_path, *m_loaded.test, m_loaded.skipped);
        if (!m_scan->validation.empty())
            m_loaded.validation = squares(info, "validation", m_scan->validation, *m_pictures.validation);
    }

    std::shared_ptr<const Dataset> squares(DatasetInfo& info, const char* split, const FileList& files,
                                           const EncodedPictures& pictures) {
        DecodedImages images =
            decoded(m_cacheFolder, m_root, split, files, pictures, m_format, m_reading, m_done, m_loaded.warnings);
        m_done += pictures.count();
        GoodFiles good = goodOf(files, images, m_loaded.skipped);
        if (info.mean.empty()) measureNormalisation(info, images.pixels, normalisingSamples(std::ssize(good.labels)));
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
    std::vector<PictureSize> m_sizes;  // of some
    bool m_isCut = false;              // at random
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
         "read; auto: stream where random parts of larger pictures are shown, else memory where it holds them."},
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
         "random parts of larger pictures, else all."},
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
