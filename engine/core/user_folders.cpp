#include "engine/core/user_folders.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace lockstep {

namespace fs = std::filesystem;

namespace {

fs::path userHome() {
    if (const auto path = absoluteFrom("HOME"); !path.empty()) return path;
    const passwd* user = getpwuid(getuid());
    return user && user->pw_dir ? fs::path(user->pw_dir) : fs::temp_directory_path();
}

}  // namespace

fs::path absoluteFrom(const char* variable) {
    const char* value = std::getenv(variable);
    const fs::path path = value ? value : "";
    return path.is_absolute() ? path : fs::path();
}

fs::path lockstepHome() {
    const char* own = std::getenv("LOCKSTEP_HOME");
    return own && *own ? fs::absolute(own).lexically_normal() : fs::path();
}

fs::path xdgFolder(const char* variable, const char* fallback) {
    const fs::path base = absoluteFrom(variable);
    return (base.empty() ? userHome() / fallback : base) / "lockstep";
}

fs::path cacheFolder() {
    const fs::path own = lockstepHome();
    return own.empty() ? xdgFolder("XDG_CACHE_HOME", ".cache") : own / "cache";
}

}  // namespace lockstep
