#pragma once
#include "engine/core/tensor.h"
#include "engine/graph/graph.h"

namespace lockstep::cuda {

// N,H,W,C in memory, which tensor cores want: of images, and of filters as K,R,S,C.
class ChannelsLast final : public Layout {
public:
    explicit ChannelsLast(std::size_t bytes) : m_bytes(bytes) {}
    std::size_t bytes() const override { return m_bytes; }
    std::string text() const override { return "nhwc"; }

private:
    std::size_t m_bytes;
};

// Null where it is the same as row-major: of one channel or one pixel, and of what is no image.
std::shared_ptr<const Layout> channelsLast(const TensorType& type);
inline bool isChannelsLast(const Value& value) { return value.layout != nullptr; }

// The same tensor, row-major, from and to the order in memory.
HostTensor toRowMajor(const Value& value, HostTensor stored);
HostTensor toStored(const Value& value, const HostTensor& tensor);

}  // namespace lockstep::cuda
