#include "datasets/picture_store.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "datasets/words_in_bytes.h"
#include "engine/core/content_hash.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

constexpr std::int64_t kAtOnce = 256;  // pictures between two commits

std::uint64_t hashOf(std::span<const std::uint8_t> bytes) {
    ContentHash hash;
    hash.add(bytes);
    return hash.value();
}

// A picture as it will be stored, or why there is none.
struct Kept {
    StoreFile::Run run;
    std::vector<std::uint8_t> bytes;
};

void interleave(std::span<const std::uint8_t> planes, std::size_t channels, std::span<std::uint8_t> out) {
    const std::size_t plane = planes.size() / channels;
    for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t i = 0; i < plane; ++i) out[channels * i + c] = planes[c * plane + i];
}

// Grey ones among coloured ones come as such, and the other way round.
Kept scaled(const DecodedPart& part, const StoreRule& rule, int height, int width) {
    Kept kept{.run = {.height = height, .width = width}, .bytes = {}};
    const std::size_t plane = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
    const auto wanted = static_cast<std::size_t>(rule.channels);
    PixelView view = part.view;
    Picture grey;
    if (rule.channels == 1 && view.channels == 3) {
        toGrey(view, grey);
        view = grey.view();
    }
    std::vector<std::uint8_t> planes(plane * wanted);
    const auto channels = static_cast<std::size_t>(view.channels);
    resample(view, part.box, height, width, rule.interpolation, std::span(planes).first(plane * channels));
    for (std::size_t c = channels; c < wanted; ++c)
        std::copy_n(planes.begin(), plane, planes.begin() + static_cast<std::ptrdiff_t>(c * plane));
    kept.bytes.resize(planes.size());
    interleave(planes, wanted, kept.bytes);
    return kept;
}

// The middle alone, which is all that is read.
Kept square(const PictureSource& source, std::int64_t index, const StoreRule& rule) {
    const ImageRule middle{rule.square, rule.channels, rule.share, rule.interpolation, rule.decode};
    const auto side = static_cast<std::size_t>(rule.square), channels = static_cast<std::size_t>(rule.channels);
    std::vector<std::uint8_t> planes(channels * side * side);
    Kept kept{.run = {.height = rule.square, .width = rule.square}, .bytes = {}};
    const ChooseCut cut = [&](int height, int width) {
        kept.run.fullHeight = height, kept.run.fullWidth = width;
        return middle.middle(height, width);
    };
    cutPicture([&](const DecodeWish& wish, DecodedPart& part) { source.read(index, wish, part); }, middle, cut, planes);
    kept.bytes.resize(planes.size());
    interleave(planes, channels, kept.bytes);
    return kept;
}

Kept picture(const PictureSource& source, std::int64_t index, const StoreRule& rule, DecodedPart& part) {
    DecodeWish wish{.channels = rule.channels, .decode = rule.decode};
    PictureSize full;
    wish.part = [&](const PictureSize& size) {
        full = size;
        const int shorter = std::min(size.height, size.width), kept = std::min(shorter, rule.shortSide);
        wish.height = std::max(1, size.height * kept / shorter), wish.width = std::max(1, size.width * kept / shorter);
        return PictureBox{0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
    };
    source.read(index, wish, part);
    Kept kept = scaled(part, rule, wish.height, wish.width);
    kept.run.fullHeight = full.height, kept.run.fullWidth = full.width;
    return kept;
}

// Of the picture that it was, in what is stored of it.
PictureBox scaled(const PictureBox& box, const StoreFile::Run& run) {
    const double across = static_cast<double>(run.width) / run.fullWidth;
    const double down = static_cast<double>(run.height) / run.fullHeight;
    return {box.left * across, box.top * down, box.right * across, box.bottom * down};
}

Kept failure(const Problem& problem) {
    WordWriter words;
    words.problem(problem);
    return {{}, std::move(words.out)};
}

Problem failureFrom(std::span<const std::uint8_t> bytes) { return WordReader(bytes).problem(); }

Kept decoded(const PictureSource& source, std::int64_t index, const StoreRule& rule, DecodedPart& part) {
    Kept kept;
    try {
        kept = rule.square > 0 ? square(source, index, rule) : picture(source, index, rule, part);
    } catch (const ProblemError& error) {
        kept = failure(error.problem());
    }
    kept.run.hash = hashOf(kept.bytes);
    return kept;
}

// What cannot be read just now, because a disk is away or a file is being written, is no reason to leave it out for
// ever: the work ends, and goes on from there another time.
void requireLasting(const Kept& kept) {
    if (kept.run.height > 0) return;
    Problem problem = failureFrom(kept.bytes);
    if (!isOfContent(problem)) throw ProblemError(std::move(problem));
}

// Those from `first` on, by as many threads as there are cores.
std::vector<Kept> decodedTogether(const PictureSource& source, std::int64_t first, std::int64_t count,
                                  const StoreRule& rule, const Reading& reading) {
    std::vector<Kept> kept(static_cast<std::size_t>(count));
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
        DecodedPart part;
        for (std::int64_t i; !reading.isCancelled() && (i = next++) < count;)
            kept[static_cast<std::size_t>(i)] = decoded(source, first + i, rule, part);
    };
    constexpr std::int64_t kMostThreads = 8;
    const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::future<void>> helpers;
    for (std::int64_t i = 1; i < std::min({cores, kMostThreads, count}); ++i)
        helpers.push_back(std::async(std::launch::async, work));
    work();
    for (auto& each : helpers) each.get();  // with what it threw
    return kept;
}

}  // namespace

std::shared_ptr<const PictureStore> PictureStore::make(std::shared_ptr<const PictureSource> source,
                                                       const StoreRule& rule, const std::filesystem::path& file,
                                                       std::uint64_t key, Reading& reading, std::int64_t before) {
    StoreFile store(file, key, source->count(), [&](std::int64_t committed) { reading.advance(before + committed); });
    for (std::int64_t first; (first = store.committed()) < store.count();) {
        const std::int64_t taken = std::min(kAtOnce, store.count() - first);
        const auto kept = decodedTogether(*source, first, taken, rule, reading);
        reading.goOn();
        for (const Kept& each : kept) requireLasting(each);
        for (const Kept& each : kept) store.append(each.run, each.bytes);
        store.commit();
        reading.advance(before + store.committed());
    }
    store.map();
    return std::shared_ptr<const PictureStore>(new PictureStore(std::move(source), std::move(store), rule));
}

PictureStore::PictureStore(std::shared_ptr<const PictureSource> source, StoreFile file, const StoreRule& rule)
    : m_source(std::move(source)),
      m_file(std::move(file)),
      m_rule(rule),
      m_checked(static_cast<std::size_t>(m_file.count())) {
    for (std::int64_t i = 0; i < m_file.count(); ++i) {
        const StoreFile::Run run = m_file.run(i);
        if (run.height > 0) m_good.push_back(i);
        else m_failures.push_back({i, failureFrom(m_file.bytes(run))});
    }
}

std::uint64_t PictureStore::identity() const {
    ContentHash hash;
    hash.add(m_source->identity());
    for (const Failure& each : m_failures) hash.add(static_cast<std::uint64_t>(each.index));
    return hash.value();
}

// The bytes of a file are looked at once they are copied: whoever changes it meanwhile is found out.
void PictureStore::read(std::int64_t index, const DecodeWish& wish, DecodedPart& into) const {
    const std::int64_t at = sourceOf(index);
    StoreFile::Run run = m_file.run(at);
    const bool isPicture = StoreFile::isWhole(run) && run.height > 0;
    auto bytes = isPicture ? m_file.bytes(run) : std::span<const std::uint8_t>();
    if (!m_file.isMemory()) {
        into.picture.reserve(bytes.size());
        std::ranges::copy(bytes, into.picture.pixels.begin());
        bytes = std::span(into.picture.pixels).first(bytes.size());
    }
    if (!isPicture || !isRight(at, run, bytes)) {
        run = again(at, into.picture.pixels);
        bytes = into.picture.pixels;
    }
    into.view = {bytes.data(), m_rule.channels, run.height, run.width,
                 static_cast<std::size_t>(m_rule.channels) * static_cast<std::size_t>(run.width)};
    into.box = scaled(wish.part({m_rule.channels, run.fullHeight, run.fullWidth}), run);
    if (m_rule.square > 0) into.box = {0, 0, static_cast<double>(run.width), static_cast<double>(run.height)};
}

bool PictureStore::isRight(std::int64_t at, const StoreFile::Run& run, std::span<const std::uint8_t> bytes) const {
    auto& isChecked = m_checked[static_cast<std::size_t>(at)];
    if (isChecked && m_file.isAsMapped()) return true;
    const bool isRight = bytes.size() == run.bytes && hashOf(bytes) == run.hash;
    isChecked = isRight;
    return isRight;
}

StoreFile::Run PictureStore::again(std::int64_t at, std::vector<std::uint8_t>& into) const {
    mend(at);
    DecodedPart part;
    Kept kept = decoded(*m_source, at, m_rule, part);
    if (kept.run.height == 0) throw ProblemError(failureFrom(kept.bytes));
    into = std::move(kept.bytes);
    return kept.run;
}

void PictureStore::mend(std::int64_t at) const {
    if (m_isDamaged.exchange(true)) return;
    m_file.discard();
    const std::lock_guard lock(m_mutex);
    m_remarks.push_back({m_file.name().string(), "picture-store.damaged", {m_source->fileOf(at)}});
}

std::vector<Problem> PictureStore::takeRemarks() const {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_remarks, {});
}

}  // namespace lockstep
