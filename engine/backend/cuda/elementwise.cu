#include "engine/ops/elementwise.h"

#include "engine/backend/cuda/map.h"

namespace lockstep::cuda {

namespace {

// What does not compare is not lost: a NaN passes.
struct Relu {
    LOCKSTEP_CARD float operator()(float x) const { return x < 0 ? 0 : x; }
};
struct ReluBackward {
    LOCKSTEP_CARD float operator()(float y, float dy) const { return y > 0 ? dy : 0; }
};
struct Relu6 {
    LOCKSTEP_CARD float operator()(float x) const { return x < 0 ? 0 : x > 6 ? 6 : x; }
};
struct Relu6Backward {
    LOCKSTEP_CARD float operator()(float y, float dy) const { return y > 0 && y < 6 ? dy : 0; }
};
struct Add {
    LOCKSTEP_CARD float operator()(float a, float b) const { return a + b; }
};
// Calls use with a value of the C++ type behind any element type.
template <class Use>
std::unique_ptr<Kernel> withAny(DType dtype, Use use) {
    switch (dtype) {
        case DType::F32: return use(float{});
        case DType::F64: return use(double{});
        case DType::I32: return use(std::int32_t{});
        case DType::I64: return use(std::int64_t{});
        case DType::U8: return use(std::uint8_t{});
        case DType::F16: return use(Half{});
        case DType::BF16: return use(BFloat16{});
    }
    return nullptr;
}

template <class From, class To>
struct CastElements {
    const From* from;
    To* to;
    LOCKSTEP_CARD void operator()(std::int64_t i) const { to[i] = static_cast<To>(from[i]); }
};

}  // namespace

std::unique_ptr<Kernel> makeRelu(const Order& order) { return mapKernel<1>(order, Relu{}); }
std::unique_ptr<Kernel> makeReluBackward(const Order& order) { return mapKernel<2>(order, ReluBackward{}); }
std::unique_ptr<Kernel> makeRelu6(const Order& order) { return mapKernel<1>(order, Relu6{}); }
std::unique_ptr<Kernel> makeRelu6Backward(const Order& order) { return mapKernel<2>(order, Relu6Backward{}); }
std::unique_ptr<Kernel> makeAdd(const Order& order) { return mapKernel<2>(order, Add{}); }

std::unique_ptr<Kernel> makeFillNode(const Order& order) {
    const auto attrs = order.node.attrs.as<FillAttrs>();
    return makeFill(attrs.type.dtype, static_cast<std::size_t>(attrs.type.shape.count()), attrs.value);
}

std::unique_ptr<Kernel> makeCast(const Order& order) {
    const std::int64_t count = order.outputShape(0).count();
    return withAny(order.input(0).type.dtype, [&]<class From>(From) {
        return withAny(order.output(0).type.dtype, [&]<class To>(To) {
            return kernelOf(order.where(), [count](const KernelCall& call, cudaStream_t stream) {
                launchElements(stream, count, CastElements<From, To>{in<From>(call, 0), out<To>(call, 0)});
            });
        });
    });
}

}  // namespace lockstep::cuda
