#pragma once
#include <memory>
#include <string>

#include "engine/backend/cpu/onednn.h"
#include "engine/graph/graph.h"

namespace lockstep::cpu {

// A oneDNN descriptor as the graph's layout. Its extents may group a tensor's otherwise (a grouped convolution's
// weights as G,K/G,C/G,R,S), as long as both are the same elements in row-major order.
class CpuLayout final : public Layout {
public:
    CpuLayout(onednn::Desc desc, const char* axes) : m_desc(std::move(desc)), m_text(m_desc.text(axes)) {}
    std::size_t bytes() const override { return m_desc.bytes(); }
    std::string text() const override { return m_text; }
    const onednn::Desc& desc() const { return m_desc; }

private:
    onednn::Desc m_desc;
    std::string m_text;
};

// Null for row-major. `axes` names the extents, "nchw".
std::shared_ptr<const Layout> layoutOf(const onednn::Desc& desc, const char* axes);

onednn::Desc descOf(const Value& value);  // of f32, bf16, i32 and u8 values
onednn::Desc rowMajorOf(const TensorType& type);
// The same storage with other extents; only a row-major one can be seen otherwise.
onednn::Desc reshaped(const onednn::Desc& desc, const std::vector<std::int64_t>& dims);
std::vector<std::int64_t> dimsOf(const Shape& shape);
// Sixteen channels side by side: in blocks of as many, or last and as many as sixteen divides.
bool isInWholeBlocks(const onednn::Desc& desc);

// Whether an image has channels enough to lie in blocks of them; fewer stay as they come.
bool suitsBlocks(const Shape& image);

// An activation as runs of elements: one for each sample and channel block. Element i of a run belongs to channel
// i % block of its block, so the channel pattern of a run repeats every 16 elements. Those of floats are contiguous;
// of bf16, sixteen are, `step` from pixel to pixel.
struct ChannelRuns {
    std::int64_t samples = 0, channels = 0, blocks = 0, pixels = 0;
    int block = 1;                     // channels per block: 1, 8 or 16
    std::size_t run = 0, lastRun = 0;  // elements per run; the last block of N,C rows may be shorter
    std::size_t sampleStride = 0, blockStride = 0, step = 16;

    std::size_t at(std::int64_t sample, std::int64_t b) const {
        return static_cast<std::size_t>(sample) * sampleStride + static_cast<std::size_t>(b) * blockStride;
    }
    std::size_t length(std::int64_t b) const { return b + 1 == blocks ? lastRun : run; }
    // May lie behind the last.
    std::int64_t channel(std::int64_t b, int lane) const { return b * block + lane % block; }
    std::size_t elements() const { return static_cast<std::size_t>(samples) * sampleStride; }

    // The lanes' pattern of a per-channel vector; zero behind the last channel.
    void spread(const float* perChannel, std::int64_t b, float* pattern) const;
    // Adds the lanes of one channel together: sums of `block` channels at the front of `lanes`.
    void fold(double* lanes) const;
};
// Of an N,C,H,W (row-major, in channel blocks, or of bf16 and in whole blocks) or N,C value; also of samples in lanes
// when they fill all groups: then a `sample` is a group of sixteen, and has sixteen times the pixels.
ChannelRuns channelRuns(const Value& value);

// The same elements; where channels lie last, a `sample` is some pixels, of however many samples, enough to be worth a
// loop's while.
ChannelRuns inPieces(ChannelRuns runs);

}  // namespace lockstep::cpu
