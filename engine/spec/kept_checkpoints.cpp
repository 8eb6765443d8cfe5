#include "engine/spec/kept_checkpoints.h"

#include <algorithm>
#include <fstream>
#include <tuple>

#include "engine/core/strict_json.h"
#include "engine/core/whole_number.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEpochPrefix = "epoch-", kEnding = ".safetensors", kBestPrefix = "best:";

// A number from 1, written as this program writes it.
std::optional<std::int64_t> countIn(std::string_view digits) {
    return digits.starts_with('0') ? std::nullopt : wholeNumberIn(digits);
}

// Of safetensors: the length of the header, then the header, as JSON. Empty: it has none.
std::string headerIn(const fs::path& file) {
    constexpr std::uint64_t kLongest = 100'000'000;
    std::ifstream in(file, std::ios::binary);
    std::uint64_t length = 0;
    in.read(reinterpret_cast<char*>(&length), sizeof length);
    std::error_code failed;
    const std::uintmax_t bytes = fs::file_size(file, failed);
    if (!in || failed || length > kLongest || length > bytes) return {};
    std::string header(static_cast<std::size_t>(length), '\0');
    in.read(header.data(), static_cast<std::streamsize>(length));
    return in ? header : std::string();
}

// A member of an object; null where it is none.
nlohmann::json memberIn(std::string_view text, const char* key) {
    const auto parsed = parseStrictly(text, {.depth = 4, .members = 100'000});
    const auto* object = std::get_if<nlohmann::json>(&parsed);
    if (!object || !object->is_object() || !object->contains(key)) return {};
    return object->at(key);
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

std::optional<std::int64_t> checkpointStep(const fs::path& file) {
    const auto metadata = memberIn(headerIn(file), "__metadata__");
    if (!metadata.is_object() || !metadata.contains("position") || !metadata["position"].is_string())
        return std::nullopt;
    const auto step = memberIn(metadata["position"].get_ref<const std::string&>(), "step");
    return step.is_number_unsigned() ? std::optional(step.get<std::int64_t>()) : std::nullopt;
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
