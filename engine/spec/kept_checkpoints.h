#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

// Which checkpoints of a trial stay on the disk, and what their files are called.
namespace lockstep {

// The newest, from which a run goes on, and so many of the best.
struct KeptCheckpoints {
    static constexpr std::int64_t kMost = 1'000'000;
    std::int64_t best = 1;  // 0: the newest alone
    bool operator==(const KeptCheckpoints&) const = default;
};
// "last", or "best:3". Problem "spec.keep-checkpoints".
Result<KeptCheckpoints> parseKept(std::string_view text, std::string_view field = "keep_checkpoints");

// A file of a trial's folder "checkpoints".
struct CheckpointFile {
    std::string role;        // "last", "best", "epoch-7"; the name has ".safetensors" besides
    std::int64_t epoch = 0;  // of "epoch-7": so many epochs were done
    bool operator==(const CheckpointFile&) const = default;
};
inline constexpr std::string_view kLast = "last", kBest = "best";
std::string epochRole(std::int64_t epoch);
std::string checkpointName(std::string_view role);                           // "last.safetensors"
std::optional<CheckpointFile> checkpointNamed(std::string_view name);        // empty: it is none
std::optional<CheckpointFile> checkpointAsked(std::string_view word);        // "best", "last", "7"; empty: another word
std::vector<CheckpointFile> checkpointsIn(const std::filesystem::path& at);  // last, best, epochs ascending
// How many updates it goes on from, by its header (see train/checkpoint.h) and for whoever reads no more of it; empty:
// the file says none.
std::optional<std::int64_t> checkpointStep(const std::filesystem::path& file);

// A folder whose checkpoints a person freed has a file that says when, as long as it is there.
inline constexpr const char* kFreedMark = "freed";
std::optional<std::string> checkpointsFreedAt(const std::filesystem::path& at);  // UTC, ISO 8601

}  // namespace lockstep
