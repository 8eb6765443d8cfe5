#include "engine/train/made_batch.h"

#include "engine/core/random.h"

namespace lockstep {

DatasetInfo infoOf(const ModelInput& input, std::int64_t count) {
    DatasetInfo info;
    info.id = "synthetic";
    info.count = count;
    info.fields = imageFields({input.channels, input.height, input.width});
    for (int label = 0; label < input.classes; ++label) info.classes.push_back(std::to_string(label));
    info.mean.assign(static_cast<std::size_t>(input.channels), 0.5f);
    info.deviation.assign(static_cast<std::size_t>(input.channels), 0.25f);
    return info;
}

HostTensor madeBatch(const BatchLayout& layout, const Share& share, std::int64_t classes) {
    HostTensor batch({Shape{static_cast<std::int64_t>(layout.bytes())}, DType::U8});
    const auto field = [&](const char* name) { return static_cast<std::size_t>(layout.find(name)); };
    const std::size_t pixels = layout.sampleBytes(field("image")) / sizeof(float);
    auto* image = reinterpret_cast<float*>(batch.data() + layout.offset(field("image")));
    auto* label = reinterpret_cast<std::int32_t*>(batch.data() + layout.offset(field("label")));
    auto* id = reinterpret_cast<std::int64_t*>(batch.data() + layout.offset(field("ids")));
    for (std::int64_t i = 0; i < share.count; ++i) {
        id[i] = share.begin + i;
        label[i] = static_cast<std::int32_t>(id[i] % classes);
        const CounterRng rng(1, streamOf("bench"), 0, static_cast<std::uint64_t>(id[i]));
        for (std::size_t p = 0; p < pixels; ++p) *image++ = static_cast<float>(rng.normal(static_cast<std::uint32_t>(p)));
    }
    return batch;
}

}  // namespace lockstep
