#include "engine/backend/module.h"

#include <dlfcn.h>

#include <array>
#include <string>
#include <system_error>

namespace lockstep {

namespace {

using OpenFunction = int(int abi, Backend** backend, char* reason, std::size_t reasonBytes);

Problem broken(const std::filesystem::path& file, std::string reason) {
    return {file.string(), "backend.module-broken", {file.string(), std::move(reason)}};
}

std::string loaderReason() {
    const char* reason = dlerror();
    return reason ? reason : "the loader gave no reason";
}

Problem refusal(const std::filesystem::path& file, const std::string& reason) {
    for (const std::string kind : {"no-driver", "old-driver", "no-device", "old-library"}) {
        if (!reason.starts_with(kind + ": ")) continue;
        return {file.string(), "backend." + kind, {file.string(), reason.substr(kind.size() + 2)}};
    }
    if (reason == "abi") return broken(file, "it was built for another version of this program");
    return broken(file, reason.empty() ? "it gave no reason" : reason);
}

Result<std::unique_ptr<Backend>> callOpen(OpenFunction* open, const std::filesystem::path& file) {
    std::array<char, 1024> reason{};
    Backend* raw = nullptr;
    const int status = open(kBackendAbi, &raw, reason.data(), reason.size());
    std::unique_ptr<Backend> backend(raw);
    reason.back() = '\0';
    if (status != 0) return refusal(file, reason.data());
    if (!backend) return broken(file, "it opened, but returned no backend");
    return backend;
}

}  // namespace

Result<std::unique_ptr<Backend>> openBackendModule(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        return Problem{file.string(), "backend.module-missing", {file.string()}};
    }
    // An absolute path: the loader searches its own folders for a bare file name.
    void* library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return broken(file, loaderReason());
    auto* open = reinterpret_cast<OpenFunction*>(dlsym(library, "lockstep_backend_open"));
    if (!open) return broken(file, loaderReason());
    return callOpen(open, file);
}

}  // namespace lockstep
