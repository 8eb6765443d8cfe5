#include "engine/backend/reference/reference_backend.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "engine/backend/host_memory.h"
#include "engine/backend/reference/device.h"
#include "engine/backend/reference/kernels.h"
#include "engine/core/error.h"
#include "engine/ops/dense.h"
#include "engine/ops/elementwise.h"

namespace lockstep {

namespace {

constexpr const OpDef* kProducts[] = {&kDense, &kDenseBackwardData, &kDenseBackwardWeights};

bool isSingle(const Graph& graph, ValueId value) { return graph.typeOf(value).dtype == DType::F32; }

// Every op needs a kernel, and every float must be F64 by now; only a cast may still read or write something else.
void requireKernel(const Graph& graph, const Node& node) {
    const std::string where = std::string(node.op->name) + " " + node.scope;
    if (reference::findKernel(*node.op) == nullptr)
        throw EngineError(EngineError::Kind::Device, where, "the reference backend has no kernel for this op");
    const auto single = [&](ValueId value) { return isSingle(graph, value); };
    if (node.op != &kCast && (std::ranges::any_of(node.inputs, single) || std::ranges::any_of(node.outputs, single)))
        throw EngineError(EngineError::Kind::Device, where,
                          "the reference backend computes in f64, this op has f32 values");
}

class ReferenceBackend final : public Backend {
public:
    std::string_view name() const override { return "reference"; }
    DType computeType(Precision) const override { return DType::F64; }

    std::vector<DeviceInfo> devices() const override {
        DeviceInfo info;
        info.id = info.backend = "reference";
        info.name = "plain loops in double precision";
        info.memoryBytes =
            static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        info.cores = static_cast<int>(std::thread::hardware_concurrency());
        info.facts.freeBytes = availableHostMemory();
        return {info};
    }

    bool offers(Precision precision) const override {
        return precision == Precision::Fp32 || precision == Precision::Bf16;
    }

    Graph lower(const Graph& graph, const LowerOptions& options) const override {
        refuseHalves(graph, name());
        Graph lowered = graph;
        for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
            const Node& node = graph.nodes()[i];
            if (!node.op->isView) requireKernel(graph, node);
            if (options.precision == Precision::Bf16 && std::ranges::count(kProducts, node.op) > 0)
                lowered.setAlgorithm(static_cast<NodeId>(i), std::string(text(DType::BF16)));
        }
        return lowered;
    }

    std::unique_ptr<Device> open(const DeviceChoice& choice) const override {
        return std::make_unique<reference::ReferenceDevice>(choice);
    }
};

}  // namespace

std::unique_ptr<Backend> makeReferenceBackend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace lockstep
