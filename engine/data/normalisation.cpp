#include "engine/data/normalisation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/core/random.h"
#include "engine/data/drawn_places.h"
#include "engine/data/sample.h"

namespace lockstep {

namespace {

struct PlaneSums {
    std::uint64_t sum = 0, squares = 0;
};

PlaneSums sumsOf(std::span<const std::uint8_t> pixels) {
    PlaneSums sums;
    for (const std::uint8_t pixel : pixels) {
        sums.sum += pixel;
        sums.squares += static_cast<std::uint32_t>(pixel) * pixel;
    }
    return sums;
}

class ChannelSums {
public:
    explicit ChannelSums(const ImageShape& shape)
        : m_plane(static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width)),
          m_totals(static_cast<std::size_t>(shape.channels)) {}

    void add(std::span<const std::uint8_t> image) {
        for (std::size_t c = 0; c < m_totals.size(); ++c) {
            const PlaneSums sums = sumsOf(image.subspan(c * m_plane, m_plane));
            m_totals[c].sum += sums.sum;
            m_totals[c].squares += sums.squares;
        }
        ++m_images;
    }

    void add(const ChannelSums& others) {
        for (std::size_t c = 0; c < m_totals.size(); ++c) {
            m_totals[c].sum += others.m_totals[c].sum;
            m_totals[c].squares += others.m_totals[c].squares;
        }
        m_images += others.m_images;
    }

    std::int64_t images() const { return static_cast<std::int64_t>(m_images); }
    void writeTo(DatasetInfo& info) const {
        info.mean.clear();
        info.deviation.clear();
        const double number = std::max(1.0, static_cast<double>(m_images * m_plane));
        for (const PlaneSums& total : m_totals) {
            const double mean = static_cast<double>(total.sum) / number;
            const double variance = static_cast<double>(total.squares) / number - mean * mean;
            info.mean.push_back(static_cast<float>(mean / 255));
            info.deviation.push_back(variance > 1e-6 ? static_cast<float>(std::sqrt(variance) / 255) : 1.0f);
        }
    }

private:
    std::size_t m_plane, m_images = 0;
    std::vector<PlaneSums> m_totals;
};

// Images that threads share by taking the next one.
class SharedSums {
public:
    SharedSums(const Dataset& images, std::span<const std::int64_t> samples) : m_images(images), m_samples(samples) {}

    std::int64_t taken() const { return std::ssize(m_samples); }
    void stop() { m_next = taken(); }
    ChannelSums add(const std::function<void(std::int64_t done)>& advance) {
        ChannelSums sums(m_images.info().image());
        Sample sample(m_images);
        for (std::int64_t i; (i = m_next++) < taken();) {
            try {
                sums.add(sample.read(m_samples[static_cast<std::size_t>(i)]).image());
            } catch (const std::runtime_error&) {  // whoever trains on it will hear why
            }
            if (advance) advance(i + 1);
        }
        return sums;
    }

private:
    const Dataset& m_images;
    std::span<const std::int64_t> m_samples;
    std::atomic<std::int64_t> m_next{0};
};

std::size_t bytesOf(const ImageShape& shape) {
    return static_cast<std::size_t>(shape.channels) * static_cast<std::size_t>(shape.height) *
           static_cast<std::size_t>(shape.width);
}

std::vector<std::int64_t> spreadEvenly(std::int64_t count) {
    const std::int64_t taken = std::min(count, kMostNormalising);
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < taken; ++i) samples.push_back(i * count / taken);
    return samples;
}

}  // namespace

std::vector<std::int64_t> normalisingSamples(std::int64_t count, std::int64_t most) {
    return drawnPlaces(count, most, 0, streamOf("normalisation"));
}

void measureNormalisation(DatasetInfo& info, std::span<const std::uint8_t> pixels) {
    measureNormalisation(info, pixels, spreadEvenly(static_cast<std::int64_t>(pixels.size() / bytesOf(info.image()))));
}

void measureNormalisation(DatasetInfo& info, const Dataset& images) {
    measureNormalisation(info, images, spreadEvenly(images.info().count));
}

void measureNormalisation(DatasetInfo& info, std::span<const std::uint8_t> pixels,
                          std::span<const std::int64_t> samples) {
    const std::size_t bytes = bytesOf(info.image());
    ChannelSums sums(info.image());
    for (const std::int64_t each : samples) sums.add(pixels.subspan(static_cast<std::size_t>(each) * bytes, bytes));
    sums.writeTo(info);
}

std::int64_t measureNormalisation(DatasetInfo& info, const Dataset& images, std::span<const std::int64_t> samples,
                                  const std::function<void(std::int64_t done)>& advance) {
    constexpr std::int64_t kMostThreads = 8, kWorthAThread = 64;
    SharedSums work(images, samples);
    const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::future<ChannelSums>> helpers;
    for (std::int64_t i = 1; i < std::min({cores, kMostThreads, work.taken() / kWorthAThread + 1}); ++i)
        helpers.push_back(std::async(std::launch::async, [&work] { return work.add({}); }));
    try {
        ChannelSums sums = work.add(advance);
        for (auto& each : helpers) sums.add(each.get());
        sums.writeTo(info);
        return sums.images();
    } catch (...) {
        work.stop();  // and the others end, too
        throw;
    }
}

}  // namespace lockstep
