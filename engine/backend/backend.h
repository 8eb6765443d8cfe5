#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend/device.h"
#include "engine/core/precision.h"
#include "engine/core/result.h"

namespace lockstep {

class Collective;

// The layout of every parameter (and buffer), fixed once per run by the nominal training program and given to all
// others.
using ParameterLayouts = std::map<std::string, std::shared_ptr<const Layout>, std::less<>>;

// Between algorithms for the same thing. ByRule: by shapes alone, so that the same is computed in every run.
// ForAnyBatch: by rule, and so that what is rounded does not depend on how many samples there are. AsTimed: the faster
// one where that was timed on this machine before, else by rule. Timed: what was not is now, once, which takes seconds
// at most. Backends that have a choice as they open a device time it there, unless it is by rule.
enum class AlgorithmChoice { ByRule, ForAnyBatch, AsTimed, Timed };
constexpr bool isByRule(AlgorithmChoice how) {
    return how == AlgorithmChoice::ByRule || how == AlgorithmChoice::ForAnyBatch;
}

struct LowerOptions {
    int threads = 1;                            // kernel threads of the device that will run it
    const ParameterLayouts* layouts = nullptr;  // given: use these; null: choose freely
    Precision precision = Precision::Fp32;      // the trial's
    AlgorithmChoice algorithms = AlgorithmChoice::ByRule;
};

// The type to which a lowered node rounds its operands as it reads them, on a backend whose parameters are f32. BF16 is
// said by the node's algorithm: a product of matrices then rounds to nearest, ties to even, and adds up in f32 or
// better, and so do convolutions and attention whose algorithm ends with it. Weights and optimizer states are not
// rounded, and lose nothing. Convolutions stay f32 where that is faster. Whether images and rows between them lie in
// memory as f32 or bf16 is part of their layout.
inline DType operandsOf(const Node& node) {
    return node.algorithm.ends_with(text(DType::BF16)) ? DType::BF16 : DType::F32;
}

// What a processor has for products in a precision, and the backend uses. Denied: what it has the system does not
// permit, or of pairs its library's setting. Slow: it multiplies floats faster, which is what the backend does.
enum class ProductUnits { Unknown, None, SlowPairs, PairsDenied, Pairs, Tiles, TilesDenied };

// A kind of device. One object per process, shared by all threads: const calls are thread-safe.
class Backend {
public:
    virtual ~Backend() = default;
    virtual std::string_view name() const = 0;
    virtual std::vector<DeviceInfo> devices() const = 0;
    virtual bool offers(Precision precision) const { return precision == Precision::Fp32; }
    // The precision pass rewrites floats to this. Of f16 and bf16, lower() says of what type parameters are.
    virtual DType computeType(Precision) const { return DType::F32; }
    // How fast products of matrices are in that precision, those of f32 being 1; measured once in a process, which
    // takes some milliseconds. 0: nobody knows.
    virtual double productSpeed(Precision) const { return 0; }
    virtual ProductUnits productUnits(Precision) const { return ProductUnits::Unknown; }
    virtual bool hostMemory() const { return true; }  // false: programs copy each batch to the device first

    // The backend's own pass between the mathematics and the memory plan: fuses, chooses layouts, algorithms and
    // precision, inserts the layout changes that remain. The result keeps names of inputs, parameters, buffers,
    // outputs; gradients have their parameter's layout. Throws EngineError(Device) for an op it has no kernel for.
    virtual Graph lower(const Graph& graph, const LowerOptions& options) const = 0;

    // Called on the thread that will use the device.
    virtual std::unique_ptr<Device> open(const DeviceChoice& choice) const = 0;

    // One endpoint per rank, or empty: "use the host group".
    virtual std::vector<std::unique_ptr<Collective>> makeGroup(std::span<const DeviceChoice> ranks) const;
};

// For lower() of a backend without kernels for f16 and bf16, but for those of `computed`: throws EngineError(Device)
// naming the first such value.
void refuseHalves(const Graph& graph, std::string_view backend, DType computed = DType::F32);

// A backend that could not be had, and why: a row of the device list.
struct Unavailable {
    std::string backend;
    Problem reason;
};

}  // namespace lockstep
