#include "engine/ops/dropout.h"

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

std::unique_ptr<Kernel> makeDropout(const Graph& graph, const Node& node) {
    const Shape& shape = outputShape(graph, node, 0);
    const std::int64_t samples = shape[0], elements = shape.count() / samples;
    return kernelOf([samples, elements, attrs = node.attrs.as<DropoutAttrs>()](const KernelCall& call) {
        const double* x = input(call, 0);
        const auto* ids = input<std::int64_t>(call, 1);
        double* y = output(call, 0);
        const StepScalars& step = *call.scalars;
        for (std::int64_t n = 0; n < samples; ++n) {
            for (std::int64_t e = 0; e < elements; ++e) {
                const std::int64_t i = n * elements + e;
                const bool keeps = dropoutKeeps(step.seed, step.epoch, attrs, ids[n], static_cast<std::uint32_t>(e));
                y[i] = keeps ? x[i] / (1 - attrs.rate) : 0;
            }
        }
    });
}

}  // namespace lockstep::reference
