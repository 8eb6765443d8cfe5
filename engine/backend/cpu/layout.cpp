#include "engine/backend/cpu/layout.h"

#include <algorithm>

#include "engine/backend/cpu/size.h"
#include "engine/core/error.h"

namespace lockstep::cpu {

using onednn::Desc;

std::vector<std::int64_t> dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

bool isInWholeBlocks(const Desc& desc) {
    return desc.channelBlock() == 16 || (desc.isChannelsLast() && desc.dims()[1] % 16 == 0);
}

bool suitsBlocks(const Shape& image) {
    constexpr std::int64_t kFewChannels = 4;
    return image[1] > kFewChannels;
}

std::shared_ptr<const Layout> layoutOf(const Desc& desc, const char* axes) {
    if (desc.isRowMajor()) return nullptr;
    return std::make_shared<CpuLayout>(desc, axes);
}

Desc rowMajorOf(const TensorType& type) { return Desc::rowMajor(type.shape.dims(), type.dtype); }

Desc descOf(const Value& value) {
    if (value.layout) return static_cast<const CpuLayout&>(*value.layout).desc();
    return rowMajorOf(value.type);
}

Desc reshaped(const Desc& desc, const std::vector<std::int64_t>& dims) {
    if (desc.dims() == dims) return desc;
    if (!desc.isRowMajor())
        throw EngineError(EngineError::Kind::Internal, "cpu", "a blocked tensor has one shape only");
    return Desc::rowMajor(dims, desc.dtype());
}

void ChannelRuns::spread(const float* perChannel, std::int64_t b, float* pattern) const {
    for (int lane = 0; lane < 16; ++lane) {
        const std::int64_t c = channel(b, lane);
        pattern[lane] = c < channels ? perChannel[c] : 0;
    }
}

void ChannelRuns::fold(double* lanes) const {
    for (int lane = block; lane < 16; ++lane) lanes[lane % block] += lanes[lane];
}

namespace {

ChannelRuns rowsOf(const Shape& shape) {
    ChannelRuns runs{.samples = shape[0], .channels = shape[1], .pixels = 1, .block = 16};
    runs.blocks = (runs.channels + 15) / 16;
    runs.run = runs.blockStride = 16;
    runs.lastRun = size(runs.channels - (runs.blocks - 1) * 16);
    runs.sampleStride = size(runs.channels);
    return runs;
}

// Sixteen samples in lanes are one with sixteen times the pixels.
ChannelRuns groupsOf(const Shape& shape) {
    return {.samples = shape[0] / 16, .channels = shape[1], .pixels = shape[2] * shape[3] * 16};
}

ChannelRuns channelsLastOf(const Shape& shape) {
    ChannelRuns runs{.samples = shape[0], .channels = shape[1], .pixels = shape[2] * shape[3], .block = 16};
    runs.blocks = runs.channels / 16;
    runs.run = runs.lastRun = size(runs.pixels) * 16;
    runs.blockStride = 16;
    runs.step = size(runs.channels);
    runs.sampleStride = size(runs.pixels) * runs.step;
    return runs;
}

}  // namespace

ChannelRuns channelRuns(const Value& value) {
    const Shape& shape = value.type.shape;
    if (shape.rank() == 2) return rowsOf(shape);
    if (value.type.dtype == DType::BF16 && descOf(value).channelBlock() != 16) return channelsLastOf(shape);
    const bool lanes = value.layout && descOf(value).isSampleLanes();
    ChannelRuns runs =
        lanes ? groupsOf(shape) : ChannelRuns{.samples = shape[0], .channels = shape[1], .pixels = shape[2] * shape[3]};
    runs.block = value.layout && !lanes ? descOf(value).channelBlock() : 1;
    if (runs.block == 0 || (lanes && shape[0] % 16 != 0))
        throw EngineError(EngineError::Kind::Internal, value.name, "cannot be taken channel by channel");
    runs.blocks = (runs.channels + runs.block - 1) / runs.block;
    runs.run = runs.lastRun = runs.blockStride = size(runs.pixels * runs.block);
    runs.sampleStride = size(runs.blocks) * runs.run;
    return runs;
}

ChannelRuns inPieces(ChannelRuns runs) {
    constexpr std::int64_t kLeast = 16, kMost = 256;
    const bool isChannelsLast = runs.step != 16;
    const std::int64_t all = runs.samples * runs.pixels;
    std::int64_t pixels = kMost;
    while (all % pixels != 0) --pixels;
    if (!isChannelsLast || pixels < kLeast) return runs;
    runs.samples = all / pixels;
    runs.pixels = pixels;
    runs.run = runs.lastRun = size(pixels) * 16;
    runs.sampleStride = size(pixels) * runs.step;
    return runs;
}

}  // namespace lockstep::cpu
