#include "datasets/picture_store.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <thread>

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

// Words with their ends: what a Problem is made of.
Kept failure(const Problem& problem) {
    Kept kept;
    const auto add = [&](const std::string& word) {
        kept.bytes.insert(kept.bytes.end(), word.c_str(), word.c_str() + word.size() + 1);
    };
    add(problem.field), add(problem.code);
    for (const std::string& each : problem.args) add(each);
    return kept;
}

Problem failureFrom(std::span<const std::uint8_t> bytes) {
    std::vector<std::string> words(1);
    for (const std::uint8_t byte : bytes) {
        if (byte != 0) words.back() += static_cast<char>(byte);
        else words.emplace_back();
    }
    words.pop_back();
    words.resize(std::max<std::size_t>(words.size(), 2));
    return {words[0], words[1], {words.begin() + 2, words.end()}};
}

Kept decoded(const PictureSource& source, std::int64_t index, const StoreRule& rule, DecodedPart& part) {
    Kept kept;
    try {
        kept = picture(source, index, rule, part);
    } catch (const ProblemError& error) {
        kept = failure(error.problem());
    }
    kept.run.hash = hashOf(kept.bytes);
    return kept;
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
    StoreFile store(file, key, source->count());
    for (std::int64_t first; (first = store.committed()) < store.count();) {
        const std::int64_t taken = std::min(kAtOnce, store.count() - first);
        const auto kept = decodedTogether(*source, first, taken, rule, reading);
        reading.goOn();
        for (const Kept& each : kept) store.append(each.run, each.bytes);
        store.commit();
        reading.advance(before + store.committed());
    }
    store.map();
    return std::shared_ptr<const PictureStore>(new PictureStore(std::move(source), std::move(store), rule.channels));
}

PictureStore::PictureStore(std::shared_ptr<const PictureSource> source, StoreFile file, int channels)
    : m_source(std::move(source)),
      m_file(std::move(file)),
      m_channels(channels),
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

void PictureStore::read(std::int64_t index, const DecodeWish& wish, DecodedPart& into) const {
    const StoreFile::Run run = m_file.run(sourceOf(index));
    const auto bytes = m_file.bytes(run);
    const auto row = static_cast<std::size_t>(m_channels) * static_cast<std::size_t>(std::max(run.width, 0));
    auto& isChecked = m_checked[static_cast<std::size_t>(sourceOf(index))];
    const bool fits = run.height > 0 && run.fullHeight > 0 && run.fullWidth > 0 &&
                      bytes.size() == row * static_cast<std::size_t>(run.height);
    if (!fits || (!isChecked && hashOf(bytes) != run.hash))
        throw ProblemError({m_file.name().string(), "picture-store.damaged", {fileOf(index)}});
    isChecked = true;
    into.view = {bytes.data(), m_channels, run.height, run.width, row};
    into.box = scaled(wish.part({m_channels, run.fullHeight, run.fullWidth}), run);
}

}  // namespace lockstep
