#include "engine/spec/kept_checkpoints.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <tuple>

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEpochPrefix = "epoch-", kEnding = ".safetensors", kBestPrefix = "best:";

// A number from 1, written as this program writes it.
std::optional<std::int64_t> countIn(std::string_view digits) {
    std::int64_t count = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, count);
    const bool plain = read.ec == std::errc() && read.ptr == end && count > 0 && digits.front() != '0';
    return plain ? std::optional(count) : std::nullopt;
}

int orderOf(const CheckpointFile& file) { return file.role == kLast ? 0 : file.role == kBest ? 1 : 2; }

}  // namespace

Result<KeptCheckpoints> parseKept(std::string_view text, std::string_view field) {
    if (text == kLast) return KeptCheckpoints{0};
    const auto best = text.starts_with(kBestPrefix) ? countIn(text.substr(kBestPrefix.size())) : std::nullopt;
    if (best && *best <= KeptCheckpoints::kMost) return KeptCheckpoints{*best};
    return Problem{std::string(field), "spec.keep-checkpoints", {std::string(text)}};
}

std::string epochRole(std::int64_t epoch) { return std::string(kEpochPrefix) + std::to_string(epoch); }

std::string checkpointName(std::string_view role) { return std::string(role) + std::string(kEnding); }

std::optional<CheckpointFile> checkpointNamed(std::string_view name) {
    if (!name.ends_with(kEnding)) return std::nullopt;
    const auto role = name.substr(0, name.size() - kEnding.size());
    if (role == kLast || role == kBest) return CheckpointFile{std::string(role), 0};
    const auto epoch = role.starts_with(kEpochPrefix) ? countIn(role.substr(kEpochPrefix.size())) : std::nullopt;
    return epoch ? std::optional(CheckpointFile{std::string(role), *epoch}) : std::nullopt;
}

std::optional<CheckpointFile> checkpointAsked(std::string_view word) {
    if (word == kLast || word == kBest) return CheckpointFile{std::string(word), 0};
    const auto epoch = countIn(word);
    return epoch ? std::optional(CheckpointFile{epochRole(*epoch), *epoch}) : std::nullopt;
}

std::vector<CheckpointFile> checkpointsIn(const fs::path& at) {
    std::vector<CheckpointFile> found;
    std::error_code error;
    for (fs::directory_iterator each(at, error), end; !error && each != end; each.increment(error)) {
        const auto file = checkpointNamed(each->path().filename().string());
        std::error_code ignored;
        if (file && each->is_regular_file(ignored)) found.push_back(*file);
    }
    std::ranges::sort(found, {}, [](const auto& each) { return std::tuple(orderOf(each), each.epoch); });
    return found;
}

std::optional<std::string> checkpointsFreedAt(const fs::path& at) {
    constexpr std::size_t kLongest = 32;
    std::ifstream in(at / kFreedMark);
    if (!in) return std::nullopt;
    std::string line;
    std::getline(in, line);
    return line.substr(0, kLongest);
}

}  // namespace lockstep
