#include "engine/data/mixture.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "engine/core/random.h"

namespace lockstep {

namespace {

using Box = ImageRecipe::Box;

// Marsaglia & Tsang, "A simple method for generating gamma variables", TOMS 2000. A normal number takes the bits of two
// elements, so each try has four to itself.
double gammaOf(double shape, const CounterRng& rng, std::uint32_t first) {
    if (shape < 1) return gammaOf(shape + 1, rng, first + 4) * std::pow(rng.uniform(first) + 0x1p-33, 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (std::uint32_t at = first;; at += 4) {
        const double x = rng.normal(at / 2), v = std::pow(1 + c * x, 3);
        const double u = rng.uniform(at + 2) + 0x1p-33;
        if (v > 0 && std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
    }
}

// What a sample draws, each use from a stream of its own.
class Draws {
public:
    Draws(std::uint64_t seed, std::int64_t epoch, std::int64_t sampleId)
        : m_seed(seed), m_epoch(static_cast<std::uint64_t>(epoch)), m_sampleId(static_cast<std::uint64_t>(sampleId)) {}

    CounterRng of(const char* stream) const { return {m_seed, streamOf(stream), m_epoch, m_sampleId}; }

private:
    std::uint64_t m_seed, m_epoch, m_sampleId;
};

// Of the parts a and b: Beta(alpha, alpha) for two gamma numbers. Alpha may be so small that both are 0.
double shareOf(double a, double b) { return a + b > 0 ? a / (a + b) : 1; }

Mixture mixupOf(double alpha, const Draws& draws) {
    const double a = gammaOf(alpha, draws.of("mixup"), 0), b = gammaOf(alpha, draws.of("mixup other"), 0);
    return {.lambda = static_cast<float>(shareOf(std::max(a, b), std::min(a, b)))};
}

// The halves of its sides are of whole pixels, as torchvision's.
Box chooseBox(const ImageShape& shape, double share, const CounterRng& rng) {
    const double half = std::sqrt(1 - share) / 2;
    const int high = static_cast<int>(half * shape.height), wide = static_cast<int>(half * shape.width);
    const auto y = static_cast<int>(rng.below(static_cast<std::uint64_t>(shape.height), 0));
    const auto x = static_cast<int>(rng.below(static_cast<std::uint64_t>(shape.width), 1));
    return {std::max(y - high, 0), std::max(x - wide, 0), std::min(y + high, shape.height),
            std::min(x + wide, shape.width)};
}

Mixture cutmixOf(double alpha, const ImageShape& shape, const Draws& draws) {
    const double a = gammaOf(alpha, draws.of("cutmix"), 0), b = gammaOf(alpha, draws.of("cutmix other"), 0);
    Mixture mixture{.box = chooseBox(shape, shareOf(a, b), draws.of("cutmix box"))};
    const int whole = shape.height * shape.width, pasted = mixture.box.pixels();
    mixture.isOwn = 2 * pasted > whole;
    mixture.lambda = static_cast<float>(mixture.isOwn ? pasted : whole - pasted) / static_cast<float>(whole);
    return mixture;
}

bool pastes(const Augmentation& how, const Draws& draws) {
    if (how.mixup > 0 && how.cutmix > 0) return draws.of("mixup or cutmix").uniform(0) < 0.5;
    return how.cutmix > 0;
}

}  // namespace

Mixture mixtureOf(const Augmentation& how, const ImageShape& shape, std::int64_t count, std::uint64_t seed,
                  std::int64_t epoch, std::int64_t sampleId) {
    assert(how.mixes());
    const Draws draws(seed, epoch, sampleId);
    Mixture mixture = pastes(how, draws) ? cutmixOf(how.cutmix, shape, draws) : mixupOf(how.mixup, draws);
    mixture.partner = static_cast<std::int64_t>(draws.of("mixup partner").below(static_cast<std::uint64_t>(count), 0));
    return mixture;
}

void mix(const Mixture& mixture, const ImageShape& shape, std::span<const float> partner, std::span<float> image) {
    assert(partner.size() == image.size());
    if (mixture.box.isEmpty()) {
        for (std::size_t i = 0; i < image.size(); ++i)
            image[i] = mixture.lambda * image[i] + (1 - mixture.lambda) * partner[i];
        return;
    }
    std::size_t i = 0;
    for (int c = 0; c < shape.channels; ++c)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x, ++i)
                if (mixture.box.holds(y, x) != mixture.isOwn) image[i] = partner[i];
}

}  // namespace lockstep
