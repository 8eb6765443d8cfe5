#include "engine/backend/module.h"

#include <dlfcn.h>

#include <array>
#include <string>
#include <system_error>

namespace lockstep {

namespace {

using OpenFunction = int(int abi, Backend** backend, char* reason, std::size_t reasonBytes);

Problem problem(const std::filesystem::path& file, std::string code, std::string reason) {
    return {file.string(), std::move(code), {file.string(), std::move(reason)}};
}

std::string loaderReason() {
    const char* reason = dlerror();
    return reason ? reason : "the loader gave no reason";
}

const char* codeOf(int status) {
    switch (static_cast<ModuleStatus>(status)) {
        case ModuleStatus::NoDriver: return "backend.no-driver";
        case ModuleStatus::NoDevice: return "backend.no-device";
        default: return "backend.module-broken";
    }
}

Result<std::unique_ptr<Backend>> callOpen(OpenFunction* open, const std::filesystem::path& file) {
    std::array<char, 1024> reason{};
    Backend* raw = nullptr;
    const int status = open(kBackendAbi, &raw, reason.data(), reason.size());
    std::unique_ptr<Backend> backend(raw);
    reason.back() = '\0';
    if (status != static_cast<int>(ModuleStatus::Opened)) return problem(file, codeOf(status), reason.data());
    if (!backend) return problem(file, "backend.module-broken", "it opened, but returned no backend");
    return backend;
}

}  // namespace

Result<std::unique_ptr<Backend>> openBackendModule(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return problem(file, "backend.module-missing", "");
    // An absolute path: the loader searches its own folders for a bare file name.
    void* library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return problem(file, "backend.module-broken", loaderReason());
    auto* open = reinterpret_cast<OpenFunction*>(dlsym(library, "lockstep_backend_open"));
    if (!open) return problem(file, "backend.module-broken", loaderReason());
    return callOpen(open, file);
}

}  // namespace lockstep
