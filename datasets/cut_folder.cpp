#include "datasets/cut_folder.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "datasets/cut_pictures.h"
#include "datasets/decoded.h"
#include "datasets/picture_store.h"
#include "engine/core/bytes_text.h"
#include "engine/core/content_hash.h"
#include "engine/data/normalisation.h"

namespace lockstep {

namespace fs = std::filesystem;

void CutFolder::load(DatasetInfo& info, const FolderScan& scan, const PictureSplits& from) {
    if (m_keep != Keep::Stream) m_reading.expect(static_cast<std::int64_t>(scan.count()));
    if (m_keep == Keep::Cache) prepare(scan);
    const Pictures train = pictures(Split::Train, scan.train, from.train),
                   test = pictures(Split::Test, scan.test, from.test),
                   validation = pictures(Split::Validation, scan.validation, from.validation);
    normalise(info, CutPictures(info, train.source, train.labels, m_rule));
    m_loaded.train = dataset(info, train);
    m_loaded.test = dataset(info, test);
    if (!scan.validation.empty()) m_loaded.validation = dataset(info, validation);
}

// Said before the first byte is written, and refused where there is no room for the last.
void CutFolder::prepare(const FolderScan& scan) {
    m_reading.makes(m_kept.bytes(m_keep));
    fs::create_directories(m_cacheFolder);
    std::uint64_t needed = 0;
    fs::path first;
    const auto add = [&](Split split, const FileList& files) {
        if (files.empty()) return;
        const fs::path file = fileOf(split, keyOf(split, files));
        std::error_code absent;
        const std::uintmax_t there = fs::file_size(file, absent);
        const std::uint64_t bytes = m_kept.bytes(files.size(), split == Split::Train && m_kept.isCut);
        needed += bytes - std::min<std::uint64_t>(bytes, absent ? 0 : there);
        if (first.empty() && absent) first = file;
    };
    add(Split::Train, scan.train), add(Split::Test, scan.test), add(Split::Validation, scan.validation);
    std::error_code unknown;
    const auto space = fs::space(m_cacheFolder, unknown);
    if (!first.empty() && !unknown && space.available < needed)
        throw ProblemError({first.string(), "picture-store.no-room", {bytesText(needed), bytesText(space.available)}});
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
    const auto samples = normalisingSamples(images.info().count, most);
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
    if (m_keep != Keep::Stream) what.add(std::uint64_t{m_kept.isCut});  // measured of what is stored
    return what.value();
}

CutFolder::Pictures CutFolder::pictures(Split split, const FileList& files,
                                        const std::shared_ptr<const EncodedPictures>& source) {
    Pictures all{source, {}};
    for (const FileEntry& each : files.entries()) all.labels.push_back(each.label);
    return m_keep == Keep::Stream || files.empty() ? all : stored(split, files, all);
}

// What is never cut at random is stored as it is read.
StoreRule CutFolder::storeRule(Split split) const {
    StoreRule rule{m_kept.shortSide(), m_rule.channels, m_rule.interpolation, m_rule.decode};
    if (split != Split::Train || !m_kept.isCut) rule.square = m_rule.size, rule.share = m_rule.share;
    return rule;
}

// Of what is stored of a picture; and of that with which pictures they are.
CutFolder::StoreKey CutFolder::keyOf(Split split, const FileList& files) const {
    const StoreRule rule = storeRule(split);
    const DecodedFormat format{rule.square > 0 ? rule.square : rule.shortSide, rule.channels, rule.decode};
    ContentHash settings;
    settings.add(std::uint64_t{rule.interpolation == Interpolation::Bicubic});
    settings.add(std::uint64_t{rule.decode == Decode::Exact});
    settings.add(std::bit_cast<std::uint64_t>(rule.square > 0 ? rule.share : 0.0));
    ContentHash all;
    all.add(settings.value());
    all.add(decodedKey(m_root, files, format));
    return {format, settings.value(), all.value()};
}

// A file of other pixels has another name: a run may have it mapped.
fs::path CutFolder::fileOf(Split split, const StoreKey& key) const {
    if (m_keep != Keep::Cache) return {};
    char ending[64];
    std::snprintf(ending, sizeof ending, ".%016llx.%016llx.pictures", static_cast<unsigned long long>(key.settings),
                  static_cast<unsigned long long>(key.all));
    return decodedFile(m_cacheFolder, m_root, text(split).data(), key.format).replace_extension(ending);
}

// Those of the same folder and settings, of when its pictures were others. A run that has one mapped keeps it.
void CutFolder::removeOlder(const fs::path& file) const {
    if (file.empty()) return;
    const std::string prefix = file.stem().stem().string() + '.';
    for (const auto& each : fs::directory_iterator(m_cacheFolder)) {
        std::error_code ignored;
        const std::string name = each.path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(".pictures") && each.path() != file)
            fs::remove(each.path(), ignored);
    }
}

CutFolder::Pictures CutFolder::stored(Split split, const FileList& files, const Pictures& all) {
    const StoreRule rule = storeRule(split);
    const StoreKey key = keyOf(split, files);
    const fs::path file = fileOf(split, key);
    const auto store = PictureStore::make(all.source, rule, file, key.all, m_reading, m_done);
    removeOlder(file);
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
