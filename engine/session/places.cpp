#include "engine/session/places.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

#include "engine/core/user_folders.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

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
    struct stat info {};
    if (stat(folder.c_str(), &info) != 0) return errno;
    if (info.st_uid != geteuid()) return EPERM;
    return chmod(folder.c_str(), 0700) == 0 ? 0 : errno;
}

// A history is empty for the moment in which it is made, but not with runs beside it; a lost one is made anew where it
// is absent.
bool isEmptied(const Places& places) {
    std::error_code error;
    const auto empty = [&] {
        return fs::is_regular_file(places.history(), error) && fs::file_size(places.history(), error) == 0;
    };
    if (!empty() || fs::is_empty(places.runs(), error)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return empty();
}

}  // namespace

Places placesFromEnvironment() {
    if (const fs::path own = lockstepHome(); !own.empty()) return {own, cacheFolder(), own / "sockets", own / "config"};
    Places places;
    places.data = xdgFolder("XDG_DATA_HOME", ".local/share");
    places.cache = cacheFolder();
    places.config = xdgFolder("XDG_CONFIG_HOME", ".config");
    const fs::path runtime = absoluteFrom("XDG_RUNTIME_DIR");
    places.runtime = runtime.empty() ? places.data / "sockets" : runtime / "lockstep";
    return places;
}

Result<Places> preparePlaces(const Places& places) {
    for (const auto& folder : {places.data, places.runs(), places.cache, places.runtime, places.config}) {
        if (const int error = makeFolder(folder)) return unwritable(folder, error);
    }
    if (const int error = makePrivate(places.runtime)) return unwritable(places.runtime, error);
    if (isEmptied(places)) return Problem{places.history().string(), "history.emptied", {places.runs().string()}};
    return places;
}

void requireFolder(const fs::path& folder) {
    if (const int error = makeFolder(folder)) throw ProblemError(unwritable(folder, error));
}

}  // namespace lockstep
