#include "engine/ops/dropout.h"

#include "engine/backend/cpu/kernels.h"
#include "engine/backend/cpu/parallel.h"

namespace lockstep::cpu {

std::unique_ptr<Kernel> makeDropout(const Order& order) {
    const Shape& shape = order.input(0).type.shape;
    const auto samples = static_cast<std::size_t>(shape[0]);
    const auto elements = static_cast<std::uint32_t>(shape.count() / shape[0]);
    return kernelOf([threads = order.machine.threads, attrs = order.node.attrs.as<DropoutAttrs>(), samples,
                     elements](const KernelCall& call) {
        const auto factor = static_cast<float>(1 / (1 - attrs.rate));
        inParallel(threads, samples, samples * elements * 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t n = begin; n < end; ++n) {
                const float* x = in(call, 0) + n * elements;
                float* y = out(call, 0) + n * elements;
                const std::int64_t id = in<std::int64_t>(call, 1)[n];
                for (std::uint32_t i = 0; i < elements; ++i) {
                    const bool keeps = dropoutKeeps(call.scalars->seed, call.scalars->epoch, attrs, id, i);
                    y[i] = keeps ? x[i] * factor : 0;
                }
            }
        });
    });
}

}  // namespace lockstep::cpu
