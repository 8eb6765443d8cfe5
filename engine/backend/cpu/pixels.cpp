#include "engine/ops/pixels.h"

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

// The host's loaders make images themselves: this is for graphs that were made for other devices.
std::unique_ptr<Kernel> makePixelsToImages(const Order& order) {
    const auto& attrs = order.node.attrs.as<PixelsAttrs>();
    const TensorType& images = order.output(0).type;
    ImageMaker maker(order.input(0).type, images, attrs.gathers);
    const auto rows = static_cast<std::size_t>(images.shape[0] * images.shape[1] * images.shape[2]);
    const bool mixes = order.node.inputs.size() == 3;
    return kernelOf([threads = order.machine.threads, rows, mixes, maker,
                     values = normalisedValues(attrs)](const KernelCall& call) mutable {
        maker.values = values.data();
        const float* lambda = mixes ? in(call, 2) : nullptr;
        inParallel(threads, rows, rows * static_cast<std::size_t>(maker.width) * 16,
                   [&](std::size_t begin, std::size_t end) {
                       for (std::size_t row = begin; row < end; ++row) {
                           const auto plane = static_cast<std::int64_t>(row) / maker.height;
                           const int y = static_cast<int>(static_cast<std::int64_t>(row) % maker.height);
                           float* to = out(call, 0) + row * static_cast<std::size_t>(maker.width);
                           for (int x = 0; x < maker.width; ++x)
                               to[x] = maker.made<float>(in<ImageRecipe>(call, 0), in<std::uint8_t>(call, 1), lambda,
                                                         plane / maker.channels, plane % maker.channels, y, x);
                       }
                   });
    });
}

}  // namespace lockstep::cpu
