#include "engine/ops/pixels.h"

#include "engine/backend/reference/kernels.h"
#include "engine/backend/reference/loops.h"

namespace lockstep::reference {

std::unique_ptr<Kernel> makePixelsToImages(const Graph& graph, const Node& node) {
    const auto& attrs = node.attrs.as<PixelsAttrs>();
    ImageMaker maker(graph.typeOf(node.inputs[0]), graph.typeOf(node.outputs[0]), attrs.gathers);
    const Shape shape = outputShape(graph, node, 0);
    const bool mixes = node.inputs.size() == 3;
    return kernelOf([shape, mixes, maker, values = normalisedValues(attrs)](const KernelCall& call) mutable {
        maker.values = values.data();
        const auto* recipes = input<ImageRecipe>(call, 0);
        const auto* pixels = input<std::uint8_t>(call, 1);
        const double* lambda = mixes ? input(call, 2) : nullptr;
        double* to = output(call, 0);
        for (std::int64_t n = 0; n < shape[0]; ++n)
            for (std::int64_t c = 0; c < shape[1]; ++c)
                for (int y = 0; y < maker.height; ++y)
                    for (int x = 0; x < maker.width; ++x)
                        *to++ = maker.made<double>(recipes, pixels, lambda, n, c, y, x);
    });
}

}  // namespace lockstep::reference
