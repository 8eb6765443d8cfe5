#include "engine/train/made_batch.h"

#include <algorithm>

#include "engine/core/random.h"

namespace lockstep {

namespace {

std::vector<Field> fieldsOf(ModelTask task, const ModelInput& input) {
    switch (task) {
        case ModelTask::NextTokens: return languageFields(input.tokens);
        case ModelTask::TextClasses: return textFields(input.tokens);
        default: return imageFields({input.channels, input.height, input.width});
    }
}

// One sample after the other of a batch.
class Maker {
public:
    Maker(const BatchLayout& layout, std::int64_t classes, std::byte* batch)
        : m_layout(layout), m_classes(classes), m_batch(batch) {}

    void make(std::size_t place, std::int64_t id) {
        fieldOf<std::int64_t>("ids", place).front() = id;
        const CounterRng rng(1, streamOf("bench"), 0, static_cast<std::uint64_t>(id));
        makeImage(place, rng);
        for (std::int32_t& label : fieldOf<std::int32_t>("label", place))
            label = static_cast<std::int32_t>(id % m_classes);
        const auto tokens = fieldOf<std::int32_t>("tokens", place);
        const auto targets = fieldOf<std::int32_t>("targets", place);
        const std::int64_t vocabulary = targets.empty() ? kByteTokens : m_classes;
        for (std::size_t t = 0; t < tokens.size(); ++t)
            tokens[t] = static_cast<std::int32_t>(
                rng.below(static_cast<std::uint64_t>(vocabulary), static_cast<std::uint32_t>(t)));
        if (!targets.empty()) number(id, tokens, targets);
        for (std::int32_t& length : fieldOf<std::int32_t>("length", place)) length = lengthOf(id, tokens.size());
    }

private:
    template <class T>
    std::span<T> fieldOf(const char* name, std::size_t place) {
        const int at = m_layout.find(name);
        if (at < 0) return {};
        const std::span<std::byte> bytes = m_layout.place(m_batch, static_cast<std::size_t>(at), place);
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

    // Where a device makes the images, their pixels, and recipes that change nothing.
    void makeImage(std::size_t place, const CounterRng& rng) {
        const auto image = fieldOf<float>("image", place);
        for (std::size_t p = 0; p < image.size(); ++p)
            image[p] = static_cast<float>(rng.normal(static_cast<std::uint32_t>(p)));
        const auto pixels = fieldOf<std::uint8_t>("pixels", place);
        for (std::size_t p = 0; p < pixels.size(); ++p)
            pixels[p] = static_cast<std::uint8_t>(rng.below(256, static_cast<std::uint32_t>(p)));
    }

    void number(std::int64_t id, std::span<std::int32_t> tokens, std::span<std::int32_t> targets) const {
        const std::size_t digits = std::min<std::size_t>(4, tokens.size() / 2);
        for (std::size_t t = 0; t < digits; ++t, id /= m_classes) tokens[t] = static_cast<std::int32_t>(id % m_classes);
        for (std::size_t t = 0; t + 1 < tokens.size(); ++t) targets[t] = t + 1 < digits ? -1 : tokens[t + 1];
        targets.back() = -1;
    }

    static std::int32_t lengthOf(std::int64_t id, std::size_t tokens) {
        const auto all = static_cast<std::int64_t>(tokens);
        return static_cast<std::int32_t>(all - id % (all / 2 + 1));
    }

    const BatchLayout& m_layout;
    std::int64_t m_classes;
    std::byte* m_batch;
};

}  // namespace

DatasetInfo infoOf(ModelTask task, const ModelInput& input, std::int64_t count) {
    DatasetInfo info;
    info.id = "synthetic";
    info.count = count;
    info.fields = fieldsOf(task, input);
    for (int label = 0; label < input.classes; ++label) info.classes.push_back(std::to_string(label));
    info.mean.assign(static_cast<std::size_t>(input.channels), 0.5f);
    info.deviation.assign(static_cast<std::size_t>(input.channels), 0.25f);
    return info;
}

HostTensor madeBatch(const BatchLayout& layout, const Share& share, std::int64_t classes) {
    HostTensor batch({Shape{static_cast<std::int64_t>(layout.bytes())}, DType::U8});
    Maker maker(layout, classes, batch.data());
    for (std::int64_t i = 0; i < share.count; ++i) maker.make(static_cast<std::size_t>(i), share.begin + i);
    return batch;
}

}  // namespace lockstep
