#include "engine/backend/cuda/grid.h"
#include "engine/backend/cuda/image.h"
#include "engine/backend/cuda/kernels.h"

namespace lockstep::cuda {

namespace {

template <class Bits>
struct Reorder {
    Image from, to;
    const Bits* x;
    Bits* y;

    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        const Image::Place place = to.placeOf(i);
        y[i] = x[from.at(place.n, place.c, place.h, place.w)];
    }
};

template <class Bits>
std::unique_ptr<Kernel> reorder(const Order& order) {
    return kernelOf(order.where(), [from = Image(order.input(0)), to = Image(order.output(0))](const KernelCall& call,
                                                                                               cudaStream_t stream) {
        launchElements(stream, to.count(), Reorder<Bits>{from, to, in<Bits>(call, 0), out<Bits>(call, 0)});
    });
}

}  // namespace

std::unique_ptr<Kernel> makeReorder(const Order& order) {
    switch (sizeOf(order.output(0).type.dtype)) {
        case 2: return reorder<std::uint16_t>(order);
        case 4: return reorder<std::uint32_t>(order);
        default: break;
    }
    throw EngineError(EngineError::Kind::Internal, order.where(), "no reorder for elements of this size");
}

}  // namespace lockstep::cuda
