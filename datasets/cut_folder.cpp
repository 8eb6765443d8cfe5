#include "datasets/cut_folder.h"

#include <bit>
#include <cstdio>

#include "datasets/cut_pictures.h"
#include "datasets/decoded.h"
#include "datasets/picture_store.h"
#include "engine/core/content_hash.h"
#include "engine/core/random.h"
#include "engine/data/drawn_places.h"
#include "engine/data/normalisation.h"

namespace lockstep {

namespace fs = std::filesystem;

void CutFolder::load(DatasetInfo& info, const FolderScan& scan, const PictureSplits& from) {
    if (m_keep != Keep::Stream) m_reading.expect(static_cast<std::int64_t>(scan.count()));
    const Pictures train = pictures("train", scan.train, from.train), test = pictures("test", scan.test, from.test),
                   validation = pictures("validation", scan.validation, from.validation);
    normalise(info, CutPictures(info, train.source, train.labels, m_rule));
    m_loaded.train = dataset(info, train);
    m_loaded.test = dataset(info, test);
    if (!scan.validation.empty()) m_loaded.validation = dataset(info, validation);
}

// As it was measured once.
void CutFolder::normalise(DatasetInfo& info, const Dataset& images) {
    const auto channels = static_cast<std::ptrdiff_t>(m_rule.channels);
    const auto* kept = m_index.measured(normalisation());
    if (!kept || std::ssize(*kept) != 2 * channels) return measure(info, images);
    info.mean.assign(kept->begin(), kept->begin() + channels);
    info.deviation.assign(kept->begin() + channels, kept->end());
}

void CutFolder::measure(DatasetInfo& info, const Dataset& images) {
    constexpr std::int64_t kAtAGlance = 128;
    const std::int64_t most = m_reading.glances() ? kAtAGlance : kMostNormalising;
    const auto samples = drawnPlaces(images.info().count, most, 0, streamOf("normalisation"));
    if (m_keep == Keep::Stream) m_reading.expect(std::ssize(samples));
    const std::int64_t read = measureNormalisation(info, images, samples, [&](std::int64_t done) {
        if (m_keep == Keep::Stream) m_reading.advance(done);
        else m_reading.goOn();
    });
    if (m_reading.glances()) return;
    std::vector<double> values(info.mean.begin(), info.mean.end());
    values.insert(values.end(), info.deviation.begin(), info.deviation.end());
    m_index.keep(normalisation(), std::move(values), read, std::ssize(samples));
}

// What it depends on, beside the pictures.
std::uint64_t CutFolder::normalisation() const {
    ContentHash what;
    what.add(std::string_view("normalisation"));
    what.add(static_cast<std::uint64_t>(m_rule.size) << 8 | static_cast<std::uint64_t>(m_rule.channels));
    what.add(std::bit_cast<std::uint64_t>(m_rule.share));
    what.add(std::uint64_t{m_rule.interpolation == Interpolation::Bicubic});
    what.add(std::uint64_t{m_rule.decode == Decode::Exact});
    what.add(std::uint64_t{m_keep == Keep::Stream});
    return what.value();
}

CutFolder::Pictures CutFolder::pictures(const char* split, const FileList& files,
                                        const std::shared_ptr<const EncodedPictures>& source) {
    Pictures all{source, {}};
    for (const FileEntry& each : files.entries()) all.labels.push_back(each.label);
    return m_keep == Keep::Stream || files.empty() ? all : stored(split, files, all);
}

CutFolder::Pictures CutFolder::stored(const char* split, const FileList& files, const Pictures& all) {
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
        file = decodedFile(m_cacheFolder, m_root, split, format).replace_extension(ending);
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

std::shared_ptr<const Dataset> CutFolder::dataset(const DatasetInfo& info, const Pictures& pictures) const {
    return std::make_shared<CutPictures>(info, pictures.source, pictures.labels, m_rule);
}

}  // namespace lockstep
