#include "engine/ops/pixels.h"

#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/image.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

template <class T>
struct PixelsToImages {
    ImageMaker maker;
    Image image;  // as it is written
    const ImageRecipe* recipes;
    const std::uint8_t* pixels;
    const T* lambda;  // null: nothing is mixed
    T* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place at = image.placeOf(i);
        y[i] =
            T(maker.made<float>(recipes, pixels, lambda, at.n, at.c, static_cast<int>(at.h), static_cast<int>(at.w)));
    }
};

}  // namespace

std::unique_ptr<Kernel> makePixelsToImages(const Order& order) {
    const auto& attrs = order.node.attrs.as<PixelsAttrs>();
    const ImageMaker maker(order.input(0).type, order.output(0).type, attrs.gathers);
    const Image image(order.output(0));
    const bool mixes = order.node.inputs.size() == 3;
    return withFloat(order.output(0).type.dtype, order.where(), [&]<class T>(T) {
        PixelsToImages<T> body{maker, image, nullptr, nullptr, nullptr, nullptr};
        Buffer values = order.device.upload(normalisedValues(attrs));
        body.maker.values = reinterpret_cast<const float*>(values.data());
        return kernelOf(order.where(),
                        [body, mixes, values = std::move(values)](const KernelCall& call, cudaStream_t stream) mutable {
                            body.recipes = in<ImageRecipe>(call, 0);
                            body.pixels = in<std::uint8_t>(call, 1);
                            body.lambda = mixes ? in<T>(call, 2) : nullptr;
                            body.y = out<T>(call, 0);
                            launchElements(stream, body.image.count(), body);
                        });
    });
}

}  // namespace lockstep::cuda
