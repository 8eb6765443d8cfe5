#include "engine/session/places.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace lockstep {

namespace {

namespace fs = std::filesystem;

// The XDG base directory specification: relative paths in these variables are to be ignored.
fs::path absoluteFrom(const char* variable) {
    const char* value = std::getenv(variable);
    const fs::path path = value ? value : "";
    return path.is_absolute() ? path : fs::path();
}

fs::path home() {
    if (const auto path = absoluteFrom("HOME"); !path.empty()) return path;
    const passwd* user = getpwuid(getuid());
    return user && user->pw_dir ? fs::path(user->pw_dir) : fs::temp_directory_path();
}

fs::path xdg(const char* variable, const char* fallback) {
    const fs::path base = absoluteFrom(variable);
    return (base.empty() ? home() / fallback : base) / "lockstep";
}

Problem unwritable(const fs::path& folder, int error) {
    return {folder.string(), "home.unwritable", {std::error_code(error, std::generic_category()).message()}};
}

// The system's error number, 0 when the folder is there and may be written to.
int makeFolder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return error.value();
    return access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

// Whoever may enter the folder of the sockets may steer runs.
int makePrivate(const fs::path& folder) {
    struct stat info{};
    if (stat(folder.c_str(), &info) != 0) return errno;
    if (info.st_uid != geteuid()) return EPERM;
    return chmod(folder.c_str(), 0700) == 0 ? 0 : errno;
}

}  // namespace

Places placesFromEnvironment() {
    const char* own = std::getenv("LOCKSTEP_HOME");
    if (own && *own) {
        const fs::path base = fs::absolute(own).lexically_normal();
        return {base, base / "cache", base / "sockets", base / "config"};
    }
    Places places;
    places.data = xdg("XDG_DATA_HOME", ".local/share");
    places.cache = xdg("XDG_CACHE_HOME", ".cache");
    places.config = xdg("XDG_CONFIG_HOME", ".config");
    const fs::path runtime = absoluteFrom("XDG_RUNTIME_DIR");
    places.runtime = runtime.empty() ? places.data / "sockets" : runtime / "lockstep";
    return places;
}

Result<Places> preparePlaces(const Places& places) {
    for (const auto& folder : {places.data, places.runs(), places.cache, places.runtime, places.config}) {
        if (const int error = makeFolder(folder)) return unwritable(folder, error);
    }
    if (const int error = makePrivate(places.runtime)) return unwritable(places.runtime, error);
    return places;
}

void requireFolder(const fs::path& folder) {
    if (const int error = makeFolder(folder)) throw ProblemError(unwritable(folder, error));
}

}  // namespace lockstep
