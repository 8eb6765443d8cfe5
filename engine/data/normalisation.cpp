#include "engine/data/normalisation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/data/sample.h"

namespace lockstep {

namespace {

constexpr std::int64_t kMostImages = 5000;

struct Sums {
    std::uint64_t sum = 0, squares = 0;
};

Sums sumsOf(std::span<const std::uint8_t> pixels) {
    Sums sums;
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
            const Sums sums = sumsOf(image.subspan(c * m_plane, m_plane));
            m_totals[c].sum += sums.sum;
            m_totals[c].squares += sums.squares;
        }
        ++m_images;
    }

    void writeTo(DatasetInfo& info) const {
        info.mean.clear();
        info.deviation.clear();
        const double number = std::max(1.0, static_cast<double>(m_images * m_plane));
        for (const Sums& total : m_totals) {
            const double mean = static_cast<double>(total.sum) / number;
            const double variance = static_cast<double>(total.squares) / number - mean * mean;
            info.mean.push_back(static_cast<float>(mean / 255));
            info.deviation.push_back(variance > 1e-6 ? static_cast<float>(std::sqrt(variance) / 255) : 1.0f);
        }
    }

private:
    std::size_t m_plane, m_images = 0;
    std::vector<Sums> m_totals;
};

}  // namespace

void measureNormalisation(DatasetInfo& info, std::span<const std::uint8_t> pixels) {
    const ImageShape shape = info.image();
    const auto bytes = static_cast<std::size_t>(shape.channels) * static_cast<std::size_t>(shape.height) *
                       static_cast<std::size_t>(shape.width);
    const std::size_t count = pixels.size() / bytes, taken = std::min(count, static_cast<std::size_t>(kMostImages));
    ChannelSums sums(shape);
    for (std::size_t i = 0; i < taken; ++i) sums.add(pixels.subspan(i * count / taken * bytes, bytes));
    sums.writeTo(info);
}

void measureNormalisation(DatasetInfo& info, const Dataset& images) {
    const std::int64_t count = images.info().count, taken = std::min(count, kMostImages);
    ChannelSums sums(info.image());
    Sample sample(images);
    for (std::int64_t i = 0; i < taken; ++i) sums.add(sample.read(i * count / taken).image());
    sums.writeTo(info);
}

}  // namespace lockstep
