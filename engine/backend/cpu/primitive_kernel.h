#pragma once
#include <vector>

#include "engine/backend/cpu/kernels.h"

namespace lockstep::cpu {

// A node that is one primitive, its arguments in the plan's order: inputs, then outputs. The batch may lie elsewhere
// from step to step, so places are given anew each time.
class PrimitiveKernel final : public Kernel {
public:
    PrimitiveKernel(const onednn::Engine& engine, const onednn::Plan& plan)
        : m_primitive(engine, plan), m_pointers(plan.arguments.size()) {}
    std::size_t workspaceBytes() const override { return m_primitive.scratchBytes(); }
    void run(const KernelCall& call) override {
        std::size_t i = 0;
        for (std::byte* input : call.inputs) m_pointers[i++] = input;
        for (std::byte* output : call.outputs) m_pointers[i++] = output;
        m_primitive.run(m_pointers, call.workspace);
    }

private:
    onednn::Primitive m_primitive;
    std::vector<std::byte*> m_pointers;
};

// Throws EngineError(Device) when the library has no implementation after all.
inline const onednn::Plan& required(const Order& order, const std::optional<onednn::Plan>& plan) {
    if (!plan) throw EngineError(EngineError::Kind::Device, order.where(), "oneDNN has no implementation for this");
    return *plan;
}

inline std::unique_ptr<Kernel> primitiveKernel(const Order& order, const std::optional<onednn::Plan>& plan) {
    return std::make_unique<PrimitiveKernel>(order.machine.engine, required(order, plan));
}

}  // namespace lockstep::cpu
