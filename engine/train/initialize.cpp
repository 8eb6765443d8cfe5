#include "engine/train/initialize.h"

#include <algorithm>
#include <cmath>

#include "engine/core/error.h"
#include "engine/core/random.h"

namespace lockstep {

namespace {

// A generator gives 2^32 words, and a normal number takes two of them.
constexpr std::int64_t kElementsPerGenerator = std::int64_t{1} << 30;

template <class T, class Make>
void fill(std::span<T> out, const Make& make) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(make(static_cast<std::int64_t>(i)));
}

template <class T>
void fillRandom(std::span<T> out, const Value& value, std::uint64_t seed, double scale, bool normal) {
    const auto generator = [&](std::int64_t block) {
        return CounterRng(seed, streamOf(value.name), 0, static_cast<std::uint64_t>(block));
    };
    CounterRng rng = generator(0);
    fill(out, [&](std::int64_t i) {
        if (i > 0 && i % kElementsPerGenerator == 0) rng = generator(i / kElementsPerGenerator);
        const auto element = static_cast<std::uint32_t>(i % kElementsPerGenerator);
        return scale * (normal ? rng.normal(element) : 2 * rng.uniform(element) - 1);
    });
}

template <class T>
void fillIdentity(std::span<T> out, const Shape& shape) {
    const auto filters = static_cast<std::size_t>(shape[0]), channels = static_cast<std::size_t>(shape[1]);
    const auto height = static_cast<std::size_t>(shape[2]), width = static_cast<std::size_t>(shape[3]);
    const std::size_t centre = height / 2 * width + width / 2, area = height * width;
    for (std::size_t i = 0; i < std::min(filters, channels); ++i) {
        const std::span<T> filter = out.subspan(i * channels * area, channels * area);
        std::fill(filter.begin(), filter.end(), T(0));
        filter[i * area + centre] = T(1);
    }
}

template <class T>
void fillAs(std::span<T> out, const Value& value, std::uint64_t seed) {
    const Initializer& init = value.init;
    const auto fanIn = static_cast<double>(init.fanIn), fanOut = static_cast<double>(init.fanOut);
    switch (init.kind) {
        case Initializer::Kind::Constant: return fill(out, [&](std::int64_t) { return init.value; });
        case Initializer::Kind::HeNormal: return fillRandom(out, value, seed, std::sqrt(2 / fanOut), true);
        case Initializer::Kind::HeUniform: return fillRandom(out, value, seed, std::sqrt(6 / fanIn), false);
        case Initializer::Kind::GlorotUniform:
            return fillRandom(out, value, seed, std::sqrt(6 / (fanIn + fanOut)), false);
        case Initializer::Kind::FanInUniform: return fillRandom(out, value, seed, 1 / std::sqrt(fanIn), false);
        case Initializer::Kind::Identity:
            fillRandom(out, value, seed, std::sqrt(2 / fanOut), true);
            return fillIdentity(out, value.type.shape);
    }
}

}  // namespace

void fillInitial(const Value& value, std::uint64_t seed, std::byte* to) {
    const auto count = static_cast<std::size_t>(value.type.shape.count());
    switch (value.type.dtype) {
        case DType::F32: return fillAs(std::span(reinterpret_cast<float*>(to), count), value, seed);
        case DType::F64: return fillAs(std::span(reinterpret_cast<double*>(to), count), value, seed);
        default:
            throw EngineError(EngineError::Kind::Internal, value.name,
                              "only floats are initialised, not " + value.type.text());
    }
}

HostTensor initialTensor(const Value& value, std::uint64_t seed) {
    HostTensor tensor(value.type);
    fillInitial(value, seed, tensor.data());
    return tensor;
}

}  // namespace lockstep
