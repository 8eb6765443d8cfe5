#include "engine/ops/dropout.h"

#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/image.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/real.h"

namespace lockstep::cuda {

namespace {

template <class T>
struct Dropout {
    DropoutAttrs attrs;
    std::int64_t elements;  // of a sample
    bool reordered;         // of images alone: elements are counted row-major
    Image image;
    const StepScalars* step;
    const T* x;
    const std::int64_t* ids;
    T* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const std::int64_t element = reordered ? image.logical(image.placeOf(i)) : i % elements;
        const bool keeps =
            dropoutKeeps(step->seed, step->epoch, attrs, ids[i / elements], static_cast<std::uint32_t>(element));
        y[i] = keeps ? static_cast<float>(x[i]) / static_cast<float>(1 - attrs.rate) : 0.0f;
    }
};

}  // namespace

std::unique_ptr<Kernel> makeDropout(const Order& order) {
    const Shape& shape = order.outputShape(0);
    const bool reordered = isChannelsLast(order.output(0));
    return withFloat(order.output(0).type.dtype, order.where(), [&]<class T>(T) {
        Dropout<T> body{order.node.attrs.as<DropoutAttrs>(),
                        shape.count() / shape[0],
                        reordered,
                        reordered ? Image(order.output(0)) : Image(),
                        order.device.scalars(),
                        nullptr,
                        nullptr,
                        nullptr};
        return kernelOf(order.where(),
                        [body, count = shape.count()](const KernelCall& call, cudaStream_t stream) mutable {
                            body.x = in<T>(call, 0);
                            body.ids = in<std::int64_t>(call, 1);
                            body.y = out<T>(call, 0);
                            launchElements(stream, count, body);
                        });
    });
}

}  // namespace lockstep::cuda
