#pragma once
#include <cstddef>
#include <memory>
#include <utility>

#include "engine/backend/kernel.h"

namespace lockstep {

// A kernel that is one function of its call, on a device that works as it is called.
template <class Body>
class BodyKernel final : public Kernel {
public:
    BodyKernel(Body body, std::size_t workspace) : m_body(std::move(body)), m_workspace(workspace) {}
    std::size_t workspaceBytes() const override { return m_workspace; }
    void run(const KernelCall& call) override { m_body(call); }

private:
    Body m_body;
    std::size_t m_workspace;
};

template <class Body>
std::unique_ptr<Kernel> kernelOf(Body body, std::size_t workspace = 0) {
    return std::make_unique<BodyKernel<Body>>(std::move(body), workspace);
}

}  // namespace lockstep
