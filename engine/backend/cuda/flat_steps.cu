#include <cmath>

#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/kernels.h"
#include "engine/backend/cuda/map.h"
#include "engine/backend/cuda/square_sum.h"
#include "engine/ops/update_gate.h"

// The flat steps around an update: see Device.
namespace lockstep::cuda {

namespace {

template <class T>
struct Fill {
    T* to;
    T value;
    LOCKSTEP_CARD void operator()(std::int64_t i) const { to[i] = value; }
};
template <class T>
struct Scale {
    T factor;
    LOCKSTEP_CARD T operator()(T x) const { return x * factor; }
};
struct Sum {
    template <class T>
    LOCKSTEP_CARD T operator()(T a, T b) const {
        return a + b;
    }
};
struct Same {
    LOCKSTEP_CARD float operator()(float x) const { return x; }
};

// Calls use with a value of the C++ type behind f64 or a type that kernels compute with.
template <class Use>
std::unique_ptr<Kernel> withReal(DType dtype, const char* step, Use use) {
    return dtype == DType::F64 ? use(double{}) : withFloat(dtype, step, use);
}

struct StoreSquares {
    double* to;
    LOCKSTEP_CARD void operator()(std::int64_t, const Sums<1, double>& sum) const { *to = sum.at[0]; }
};

constexpr std::size_t kMostSums = 256;  // pointers that a launch takes along
struct Gate {
    const double *loss, *weight, *samples;
    const double* sums[kMostSums];
    std::size_t count;
    double clipNorm;
    const StepScalars* step;
    UpdateGate* gate;

    LOCKSTEP_CARD void operator()(std::int64_t) const {
        double squares = 0;
        for (std::size_t i = 0; i < count; ++i) squares += *sums[i];
        *gate = decideGate({*loss, *weight, *samples, sqrt(squares)}, clipNorm, step->lossScale);
    }
};

struct Commit {
    const float* staged;
    const UpdateGate* gate;
    float* buffer;
    LOCKSTEP_CARD void operator()(std::int64_t i) const {
        if (gate->skip == 0) buffer[i] = staged[i] * static_cast<float>(gate->bufferScale);
    }
};

std::int64_t signedCount(std::size_t count) { return static_cast<std::int64_t>(count); }

}  // namespace

std::unique_ptr<Kernel> makeFill(DType dtype, std::size_t count, double value) {
    const auto fill = [&]<class T>(T element) {
        return kernelOf("fill", [=](const KernelCall& call, cudaStream_t stream) {
            launchElements(stream, signedCount(count), Fill<T>{out<T>(call, 0), element});
        });
    };
    switch (dtype) {
        case DType::I32: return fill(static_cast<std::int32_t>(value));
        case DType::I64: return fill(static_cast<std::int64_t>(value));
        case DType::U8: return fill(static_cast<std::uint8_t>(value));
        case DType::F64: return fill(value);
        default: break;
    }
    return withFloat(dtype, "fill", [&]<class T>(T) { return fill(T(static_cast<float>(value))); });
}

std::unique_ptr<Kernel> makeScale(DType dtype, std::size_t count, double factor) {
    return withReal(dtype, "scale", [&]<class T>(T) {
        return kernelOf("scale", [=](const KernelCall& call, cudaStream_t stream) {
            launchMap(stream, signedCount(count), Scale<Computed<T>>{static_cast<Computed<T>>(factor)}, out<T>(call, 0),
                      in<T>(call, 0));
        });
    });
}

std::unique_ptr<Kernel> makeFlatAdd(DType dtype, std::size_t count) {
    return withReal(dtype, "add", [&]<class T>(T) {
        return kernelOf("add", [=](const KernelCall& call, cudaStream_t stream) {
            const T* const to = out<T>(call, 0);
            launchMap(stream, signedCount(count), Sum{}, out<T>(call, 0), to, in<T>(call, 0));
        });
    });
}

std::unique_ptr<Kernel> makeSquareSum(DType dtype, std::size_t count) {
    const ColumnSums shape(signedCount(count), 1);
    return withReal(dtype, "square sum", [&]<class T>(T) {
        return kernelOf(
            "square sum",
            [=](const KernelCall& call, cudaStream_t stream) {
                launchColumnSums<1, double>(stream, shape, call.workspace, Square<T>{in<T>(call, 0)},
                                            StoreSquares{out<double>(call, 0)});
            },
            shape.workspaceBytes(1, sizeof(double)));
    });
}

std::unique_ptr<Kernel> makeGate(CudaDevice& device, const UpdateRule& rule, std::size_t squareSums) {
    if (squareSums > kMostSums)
        throw EngineError(EngineError::Kind::Device, "gate",
                          std::to_string(squareSums) + " buckets are more than the " + std::to_string(kMostSums) +
                              " that CUDA takes; use larger buckets");
    return kernelOf(
        "gate", [=, clip = rule.clipNorm, step = device.scalars()](const KernelCall& call, cudaStream_t stream) {
            Gate gate{in<double>(call, 0),     in<double>(call, 1), in<double>(call, 2), {}, squareSums, clip, step,
                      out<UpdateGate>(call, 0)};
            for (std::size_t i = 0; i < squareSums; ++i) gate.sums[i] = in<double>(call, i + 3);
            launchElements(stream, 1, gate);
        });
}

std::unique_ptr<Kernel> makeNarrow(DType dtype, std::size_t count) {
    return withFloat(dtype, "narrow", [&]<class T>(T) {
        return kernelOf("narrow", [=](const KernelCall& call, cudaStream_t stream) {
            launchMap(stream, signedCount(count), Same{}, out<T>(call, 0), in<float>(call, 0));
        });
    });
}

std::unique_ptr<Kernel> makeCommit(DType dtype, std::size_t count) {
    if (dtype != DType::F32) throw EngineError(EngineError::Kind::Internal, "commit", "buffers are f32 on CUDA");
    return kernelOf("commit", [=](const KernelCall& call, cudaStream_t stream) {
        launchElements(stream, signedCount(count),
                       Commit{in<float>(call, 0), in<UpdateGate>(call, 1), out<float>(call, 0)});
    });
}

}  // namespace lockstep::cuda
