#include "ui/plot/parallel_raster.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ui/plot/column_image.h"

namespace lockstep::ui {

namespace {

constexpr int kPhaseBits = 3, kPhases = 1 << kPhaseBits;  // positions within a pixel that are told apart
constexpr int kGroup = 4, kChannels = 4 * kGroup;         // pixels that are blended at once
constexpr double kSlopeSteps = 16;                        // slopes that are told apart, of one pixel a column
constexpr double kTallest = 48;            // pixels: of a steep line's extent beyond what it rises in a column
constexpr int kRoom = 32;                  // pixels above and below a column: half of that, and a group
constexpr double kDash = 9, kDrawn = 5.5;  // along a line, in its thicknesses
constexpr int kFraction = 16;              // bits of a height

// Channels of a group's pixels, as bytes in the picture and as what is computed with. The compiler makes of these what
// the processor has.
using Bytes = std::uint8_t __attribute__((vector_size(kChannels)));
using Channels = std::uint16_t __attribute__((vector_size(2 * kChannels)));

// The integral, from far above to y, of what a column sees of a line through 0: a box as tall as the line is, moved
// over what it rises within the column, is a trapezoid. Of a steep
// line less is seen beyond its ends than there is.
class Trapezoid {
public:
    Trapezoid(double tall, double rise)
        : m_reach((std::min(tall, kTallest) + rise) / 2),
          m_flat(std::abs(std::min(tall, kTallest) - rise) / 2),
          m_peak(rise > tall ? tall / rise : 1) {}
    double reach() const { return m_reach; }
    double upTo(double y) const {
        const double total = m_peak * (m_reach + m_flat), ramp = m_reach - m_flat;
        if (y <= -m_reach) return 0;
        if (y >= m_reach) return total;
        if (y < -m_flat) return m_peak * (y + m_reach) * (y + m_reach) / (2 * ramp);
        if (y > m_flat) return total - m_peak * (m_reach - y) * (m_reach - y) / (2 * ramp);
        return m_peak * (ramp / 2 + y + m_flat);
    }

private:
    double m_reach, m_flat, m_peak;
};

// Each of `to` times its part of 255, rounded.
[[gnu::always_inline]] inline void scale(Channels& to, const Channels& parts) {
    to = to * parts + 128;
    to = (to + (to >> 8)) >> 8;
}

}  // namespace

// What a line covers of a column's pixels, for slopes of one gap and thickness: made as they are needed.
class ParallelRaster::Profiles {
public:
    struct Profile {
        int groups = 0;
        std::array<int, kPhases> top = {};  // the first pixel, from that in which the line's middle is
        // Of 255, by phase, then group; of each channel of a pixel the same.
        std::vector<Channels> coverage = {};
    };
    // A colour over a group of pixels: what it adds, and what it leaves of what was there.
    struct Stroke {
        Channels add, leave;

        // Source-over of premultiplied colours (Porter and Duff, "Compositing digital images", 1984).
        [[gnu::always_inline]] void over(QRgb* pixels) const {
            Bytes bytes;
            std::memcpy(&bytes, pixels, sizeof bytes);
            Channels channels = __builtin_convertvector(bytes, Channels);
            scale(channels, leave);
            channels += add;
            bytes = __builtin_convertvector(channels, Bytes);
            std::memcpy(pixels, &bytes, sizeof bytes);
        }
    };

    explicit Profiles(double thickness) : m_thickness(thickness) {}
    double thickness() const { return m_thickness; }

    const Profile& of(double slope) {
        const auto step = static_cast<std::size_t>(std::lround(std::abs(slope) * kSlopeSteps));
        if (step >= m_profiles.size()) m_profiles.resize(step + 1);
        Profile& profile = m_profiles[step];
        if (profile.groups == 0) make(profile, static_cast<double>(step) / kSlopeSteps);
        return profile;
    }

    // By phase, then group; until the next call.
    const Stroke* colour(const Profile& profile, QRgb color) {
        const QRgb over = qPremultiply(color);
        Channels all{}, alpha{};
        for (int i = 0; i < kChannels; ++i) {
            all[i] = static_cast<std::uint16_t>(over >> (8 * (i % 4)) & 0xFF);
            alpha[i] = static_cast<std::uint16_t>(qAlpha(over));
        }
        m_strokes.resize(profile.coverage.size());
        for (std::size_t i = 0; i < m_strokes.size(); ++i) {
            m_strokes[i] = {all, alpha};
            scale(m_strokes[i].add, profile.coverage[i]);
            scale(m_strokes[i].leave, profile.coverage[i]);
            m_strokes[i].leave = 255 - m_strokes[i].leave;
        }
        return m_strokes.data();
    }

private:
    void make(Profile& profile, double rise) const {
        const Trapezoid seen(m_thickness * std::sqrt(1 + rise * rise), rise);
        const int pixels = static_cast<int>(std::floor(2 * seen.reach())) + 2;
        profile.groups = (pixels + kGroup - 1) / kGroup;
        for (int phase = 0; phase < kPhases; ++phase) {
            const double middle = (phase + 0.5) / kPhases;
            const int top = static_cast<int>(std::floor(middle - seen.reach()));
            profile.top[static_cast<std::size_t>(phase)] = top;
            for (int group = 0; group < profile.groups; ++group)
                cover(profile.coverage.emplace_back(), top + group * kGroup - middle, seen);
        }
    }

    static void cover(Channels& channels, double y, const Trapezoid& seen) {
        for (int i = 0; i < kChannels; ++i) {
            const double share = seen.upTo(y + i / 4 + 1) - seen.upTo(y + i / 4);
            channels[i] = static_cast<std::uint16_t>(std::lround(255 * share));
        }
    }

    double m_thickness;
    std::vector<Profile> m_profiles;  // by slope
    std::vector<Stroke> m_strokes;
};

ParallelRaster::ParallelRaster(int width, int height, QRgb ground)
    : m_width(std::max(width, 1)),
      m_height(std::max(height, 1)),
      m_stride(static_cast<std::size_t>(m_height) + 2 * kRoom),
      m_columns(static_cast<std::size_t>(m_width) * m_stride, ground | 0xFF000000) {}

void ParallelRaster::paint(int left, int right, std::span<const Line> lines, double thickness) {
    const int from = std::max(left, 0), to = std::min(right, m_width);
    if (from >= to) return;
    Profiles profiles(thickness);
    for (const Line& line : lines) paintLine(left, right, line, profiles);
}

void ParallelRaster::paintLine(int left, int right, const Line& line, Profiles& profiles) {
    const double highest = m_height - 1e-3;
    const double begin = std::clamp<double>(line.from, 0, highest), end = std::clamp<double>(line.to, 0, highest);
    const double slope = (end - begin) / (right - left);
    const Profiles::Profile& profile = profiles.of(slope);
    const Profiles::Stroke* const strokes = profiles.colour(profile, line.color);
    constexpr double kOne = 1 << kFraction;
    const auto step = static_cast<std::int64_t>(slope * kOne);
    auto y = static_cast<std::int64_t>(begin * kOne) + step / 2;
    const double along = line.isDashed ? std::sqrt(1 + slope * slope) / profiles.thickness() : 0;  // of a column
    double dash = 0;
    for (int x = left; x < right; ++x, y += step, dash += along) {
        if (dash > kDrawn) {
            if (dash >= kDash) dash -= kDash;
            if (dash > kDrawn) continue;
        }
        const auto phase = static_cast<std::size_t>(y >> (kFraction - kPhaseBits) & (kPhases - 1));
        QRgb* const pixels = column(x) + kRoom + (y >> kFraction) + profile.top[phase];
        const Profiles::Stroke* const stroke = strokes + phase * static_cast<std::size_t>(profile.groups);
        for (int group = 0; group < profile.groups; ++group) stroke[group].over(pixels + group * kGroup);
    }
}

QImage ParallelRaster::image() const {
    return imageOfColumns(m_columns.data() + kRoom, m_width, m_height, m_stride, QImage::Format_RGB32);
}

}  // namespace lockstep::ui
