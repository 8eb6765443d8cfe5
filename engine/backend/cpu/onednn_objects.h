#pragma once
#include <oneapi/dnnl/dnnl.hpp>

#include "engine/backend/cpu/onednn.h"
#include "engine/core/error.h"

// What the wrapper's own files share: the library's objects behind its types, and its errors as ours.
namespace lockstep::onednn {

struct Desc::Impl {
    dnnl::memory::desc desc;
};
struct Engine::Impl {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
};
struct Plan::Impl {
    dnnl::primitive primitive;
    dnnl::memory::desc scratch;
    std::vector<int> names;  // DNNL_ARG_… of the arguments
};

[[noreturn]] inline void rethrow(const dnnl::error& error) {
    const auto kind = error.status == dnnl_out_of_memory ? EngineError::Kind::OutOfMemory : EngineError::Kind::Device;
    throw EngineError(kind, "oneDNN", "status " + std::to_string(error.status) + ": " + error.what());
}

template <class Body>
auto guarded(Body body) {
    try {
        return body();
    } catch (const dnnl::error& error) {
        rethrow(error);
    }
}

inline Desc wrap(dnnl::memory::desc desc) {
    return Desc(std::make_shared<const Desc::Impl>(Desc::Impl{std::move(desc)}));
}

inline const dnnl::memory::desc& unwrap(const Desc& desc) { return desc.impl().desc; }

}  // namespace lockstep::onednn
