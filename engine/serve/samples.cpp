#include "engine/serve/samples.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>

#include "engine/data/bad_samples.h"
#include "engine/data/mixture.h"
#include "engine/data/resample.h"

namespace lockstep {

namespace {

constexpr int kMostSide = 64;
constexpr std::int64_t kMostRead = 20'000;  // images looked at in search of every class

using Pixels = std::vector<std::uint8_t>;

std::string base64(const Pixels& bytes) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto byte = [&](std::size_t i) { return at + i < bytes.size() ? std::uint32_t{bytes[at + i]} : 0u; };
        const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (int digit = 0; digit < 4; ++digit) out += kDigits[three >> (18 - 6 * digit) & 63];
    }
    for (std::size_t missing = (3 - bytes.size() % 3) % 3; missing > 0; --missing) out[out.size() - missing] = '=';
    return out;
}

std::uint8_t meanOf(const std::uint8_t* plane, const ImageShape& shape, int top, int left, int side) {
    int sum = 0, count = 0;
    for (int y = top; y < std::min(top + side, shape.height); ++y) {
        for (int x = left; x < std::min(left + side, shape.width); ++x, ++count) sum += plane[y * shape.width + x];
    }
    return static_cast<std::uint8_t>(sum / std::max(count, 1));
}

// As training cuts it.
Pixels cut(const Glimpse& glimpse, const Glimpse::Sample& sample, const RandomCut& how, std::uint64_t seed) {
    const auto choose = [&](int height, int width) { return randomCut(how, height, width, seed, 0, sample.index); };
    const ImageShape shape = glimpse.train.image();
    Pixels out(sample.pixels.size());
    if (!glimpse.pictures) {
        resamplePlanes(sample.pixels, shape.height, shape.width, choose(shape.height, shape.width).box, out);
        return out;
    }
    std::int32_t label = 0;
    const std::span<std::byte> fields[] = {std::as_writable_bytes(std::span(out)),
                                           std::as_writable_bytes(std::span(&label, 1))};
    glimpse.pictures->readCut(sample.index, fields, choose);
    return out;
}

std::vector<float> augmented(const Glimpse& glimpse, std::size_t which, const Augmentation& how, std::uint64_t seed) {
    const Glimpse::Sample& sample = glimpse.samples[which];
    std::vector<float> values(sample.pixels.size());
    const Pixels seen = how.cut ? cut(glimpse, sample, *how.cut, seed) : sample.pixels;
    Pixels room(seen.size());
    const auto pixels = jitterColours(how, glimpse.train, seen, seed, 0, sample.index, room);
    augment(how, glimpse.train, pixels, seed, 0, sample.index, values);
    return values;
}

// Mixing takes another of the few images that are here, where training takes any.
std::vector<float> inputOf(const Glimpse& glimpse, std::size_t which, const Augmentation& how, std::uint64_t seed) {
    std::vector<float> values = augmented(glimpse, which, how, seed);
    if (!how.mixes()) return values;
    const auto count = static_cast<std::int64_t>(glimpse.samples.size());
    const ImageShape shape = glimpse.train.image();
    const Mixture mixture = mixtureOf(how, shape, count, seed, 0, glimpse.samples[which].index);
    mix(mixture, shape, augmented(glimpse, static_cast<std::size_t>(mixture.partner), how, seed), values);
    return values;
}

// As a person would see what the network gets: the normalisation taken back.
Pixels pictureOf(const std::vector<float>& values, const DatasetInfo& info) {
    Pixels out(values.size());
    const std::size_t plane = values.size() / static_cast<std::size_t>(info.image().channels);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float grey = values[i] * info.deviation[i / plane] + info.mean[i / plane];
        out[i] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(grey, 0.0f, 1.0f)));
    }
    return out;
}

// Reads whole samples; hands on their image and label.
class Reader {
public:
    explicit Reader(const Dataset& data) : m_data(data) {
        for (const auto& field : data.info().fields) m_fields.emplace_back(field.type.bytes());
    }

    Glimpse::Sample read(std::int64_t index) {
        std::vector<std::span<std::byte>> into(m_fields.begin(), m_fields.end());
        m_data.read(index, into);
        Glimpse::Sample sample{index, 0, {}};
        for (std::size_t i = 0; i < m_fields.size(); ++i) {
            const auto& name = m_data.info().fields[i].name;
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(m_fields[i].data());
            if (name == "image") sample.pixels.assign(bytes, bytes + m_fields[i].size());
            if (name == "label") std::memcpy(&sample.label, bytes, std::min(m_fields[i].size(), sizeof sample.label));
        }
        return sample;
    }

private:
    const Dataset& m_data;
    std::vector<std::vector<std::byte>> m_fields;
};

// A step that visits every index once and goes all over the data soon, be it sorted by class or not: about the golden
// section of the count, without a common divisor.
std::int64_t spreadingStep(std::int64_t count) {
    auto step = std::max<std::int64_t>(1, std::llround(0.6180339887 * static_cast<double>(count)));
    while (std::gcd(step, count) != 1) ++step;
    return step;
}

// None where a sample is no labelled image.
std::vector<Glimpse::Sample> pick(const Dataset& data, int count) {
    const auto& info = data.info();
    const auto classes = static_cast<int>(info.classes.size());
    if (!(info.fields == imageFields(info.image()))) return {};
    Reader reader(data);
    std::vector<int> taken(info.classes.size());
    std::vector<Glimpse::Sample> samples;
    const std::int64_t step = spreadingStep(info.count), looks = std::min(info.count, kMostRead);
    constexpr std::size_t kLabel = 1;
    const auto isWanted = [&](std::int32_t label) {
        return taken[static_cast<std::size_t>(label)] <= static_cast<int>(samples.size()) / std::max(classes, 1);
    };
    for (std::int64_t i = 0; i < looks && static_cast<int>(samples.size()) < count; ++i) {
        const std::int64_t index = i * step % info.count;
        const auto* known = reinterpret_cast<const std::int32_t*>(data.resident(index, kLabel));
        if (known && !isWanted(*known)) continue;  // nothing is decoded in vain
        try {
            auto sample = reader.read(index);
            if (!isWanted(sample.label)) continue;
            ++taken[static_cast<std::size_t>(sample.label)];
            samples.push_back(std::move(sample));
        } catch (const UnreadableSample&) {
            continue;
        }
    }
    return samples;
}

}  // namespace

ShownImage shownImage(std::span<const std::uint8_t> pixels, const ImageShape& shape) {
    const int factor = (std::max(shape.height, shape.width) + kMostSide - 1) / kMostSide;
    const int height = (shape.height + factor - 1) / factor, width = (shape.width + factor - 1) / factor;
    Pixels small;
    for (int channel = 0; channel < shape.channels; ++channel) {
        const auto* plane = pixels.data() + static_cast<std::ptrdiff_t>(channel) * shape.height * shape.width;
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) small.push_back(meanOf(plane, shape, y * factor, x * factor, factor));
        }
    }
    return {shape.channels, height, width, base64(small)};
}

Result<Glimpse> glimpseAt(const DatasetEntry& entry, const std::filesystem::path& path, const ParamValues& params,
                          const OpeningWatch& watch, int most) {
    const auto data = entry.open(path, params, watch);
    if (!data.ok()) return data.problems();
    auto report = entry.inspect(path, params, watch);
    if (!report.ok()) return report.problems();
    const auto& train = data.value().train;
    return Glimpse{train->info(), data.value().choosing()->info(), std::move(report).value(), pick(*train, most),
                   train->info().isCut ? train : nullptr};
}

SamplesAnswer shownSamples(const Glimpse& glimpse, int count, const Augmentation& how, std::uint64_t seed,
                           const ServeWords& words) {
    std::vector<std::size_t> shown(std::min(glimpse.samples.size(), static_cast<std::size_t>(std::max(count, 0))));
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    std::ranges::stable_sort(shown, {}, [&](std::size_t which) { return glimpse.samples[which].label; });
    const ImageShape shape = glimpse.train.image();
    SamplesAnswer answer{
        describedData(glimpse.report, words), static_cast<std::int64_t>(glimpse.report.skipped.size()), {}};
    for (const std::size_t which : shown) {
        const Pixels after = pictureOf(inputOf(glimpse, which, how, seed), glimpse.train);
        const Glimpse::Sample& sample = glimpse.samples[which];
        answer.samples.push_back({sample.label, shownImage(sample.pixels, shape), shownImage(after, shape)});
    }
    return answer;
}

}  // namespace lockstep
