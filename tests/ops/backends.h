#pragma once
#include <QString>
#include <memory>

#include "engine/backend/reference/reference_backend.h"
#ifdef LOCKSTEP_TESTS_CPU
#include "engine/backend/cpu/cpu_backend.h"
#endif

namespace lockstep::test {

// A backend of this build by name, or null.
inline std::unique_ptr<Backend> backendNamed(const QString& name) {
#ifdef LOCKSTEP_TESTS_CPU
    if (name == "cpu") return makeCpuBackend();
#endif
    return name == "reference" ? makeReferenceBackend() : nullptr;
}

}  // namespace lockstep::test
