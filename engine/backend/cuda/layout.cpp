#include "engine/backend/cuda/layout.h"

#include <cstring>

namespace lockstep::cuda {

namespace {

// visit(row-major element, element in memory)
template <class Visit>
void forEachPlace(const Shape& shape, Visit visit) {
    const std::int64_t samples = shape[0], channels = shape[1], pixels = shape[2] * shape[3];
    for (std::int64_t n = 0; n < samples; ++n)
        for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t i = 0; i < pixels; ++i)
                visit(static_cast<std::size_t>((n * channels + c) * pixels + i),
                      static_cast<std::size_t>((n * pixels + i) * channels + c));
}

}  // namespace

std::shared_ptr<const Layout> channelsLast(const TensorType& type) {
    const Shape& shape = type.shape;
    if (shape.rank() != 4 || shape[1] == 1 || shape[2] * shape[3] == 1) return nullptr;
    return std::make_shared<ChannelsLast>(type.bytes());
}

HostTensor toRowMajor(const Value& value, HostTensor stored) {
    if (!isChannelsLast(value)) return stored;
    const std::size_t element = sizeOf(stored.type().dtype);
    HostTensor tensor(stored.type());
    forEachPlace(value.type.shape, [&](std::size_t logical, std::size_t place) {
        std::memcpy(tensor.data() + logical * element, stored.data() + place * element, element);
    });
    return tensor;
}

HostTensor toStored(const Value& value, const HostTensor& tensor) {
    const std::size_t element = sizeOf(tensor.type().dtype);
    HostTensor stored(tensor.type());
    if (!isChannelsLast(value)) {
        std::memcpy(stored.data(), tensor.data(), tensor.bytes());
        return stored;
    }
    forEachPlace(value.type.shape, [&](std::size_t logical, std::size_t place) {
        std::memcpy(stored.data() + place * element, tensor.data() + logical * element, element);
    });
    return stored;
}

}  // namespace lockstep::cuda
