#include "engine/history/run_folders.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "engine/core/result.h"
#include "engine/spec/kept_checkpoints.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDigits = 15;  // longer names are a person's, and no trial's

[[noreturn]] void refuse(const fs::path& folder, const std::error_code& error) {
    const bool full = error == std::errc::no_space_on_device;
    throw ProblemError({folder.string(), full ? "history.full" : "home.unwritable", {error.message()}});
}

std::optional<std::int64_t> numberOf(const std::string& name) {
    std::int64_t number = 0;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, number);
    const bool plain = read.ec == std::errc() && read.ptr == end && name.size() <= kMostDigits && name[0] != '0';
    return plain && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::int64_t claimRunFolder(const fs::path& runs, std::int64_t least) {
    std::error_code error;
    fs::create_directories(runs, error);
    if (error) refuse(runs, error);
    const auto taken = runFolders(runs);
    std::int64_t number = std::max(least, taken.empty() ? 1 : taken.back() + 1);
    for (;; ++number) {
        const fs::path folder = runs / std::to_string(number);
        if (mkdir(folder.c_str(), 0777) == 0) return number;
        if (errno != EEXIST) refuse(folder, std::error_code(errno, std::generic_category()));
    }
}

std::vector<std::int64_t> runFolders(const fs::path& runs) {
    std::vector<std::int64_t> numbers;
    std::error_code error;
    for (fs::directory_iterator each(runs, error), end; !error && each != end; each.increment(error)) {
        if (const auto number = numberOf(each->path().filename().string())) numbers.push_back(*number);
    }
    std::ranges::sort(numbers);
    return numbers;
}

bool holdsTrial(const fs::path& folder) {
    return fs::exists(folder / "spec.json") || !checkpointsIn(folder / "checkpoints").empty();
}

}  // namespace lockstep
