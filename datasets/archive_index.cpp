#include "datasets/archive_index.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "datasets/archive_formats.h"
#include "engine/core/result.h"

namespace lockstep {

namespace {

using namespace std::string_view_literals;

// gzip, Zstandard, xz, bzip2, LZ4, 7z.
constexpr std::string_view kPacked[] = {"\x1f\x8b"sv,
                                        "\x28\xb5\x2f\xfd"sv,
                                        "\xfd"
                                        "7zXZ"sv,
                                        "BZh"sv,
                                        "\x04\x22\x4d\x18"sv,
                                        "7z\xbc\xaf\x27\x1c"sv};

bool isUnsafe(std::string_view name) {
    if (name.starts_with('/') || name.find('\0') != name.npos) return true;
    const auto parts = partsOf(name);
    return std::ranges::find(parts, "..") != parts.end();
}

}  // namespace

std::unique_ptr<MemberReader> openMembers(const RandomFile& archive) {
    std::array<std::uint8_t, 512> front{};
    const std::size_t bytes = archive.read(0, front);
    if (bytes == 0) throw ProblemError({archive.path().string(), "archive.no-bytes", {}});
    const std::string_view begin(reinterpret_cast<const char*>(front.data()), bytes);
    if (begin.starts_with("PK\3\4") || begin.starts_with("PK\5\6")) return openZip(archive);
    const auto isBegin = [&](std::string_view magic) { return begin.starts_with(magic); };
    if (std::ranges::any_of(kPacked, isBegin)) throw ProblemError({archive.path().string(), "archive.packed", {}});
    if (bytes < front.size() || !beginsAsTarHeader(front))
        throw ProblemError({archive.path().string(), "archive.unknown", {}});
    return openTar(archive);
}

std::vector<std::string_view> partsOf(std::string_view name) {
    std::vector<std::string_view> parts;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find('/'), name.size());
        if (end > 0 && name.substr(0, end) != ".") parts.push_back(name.substr(0, end));
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return parts;
}

std::vector<MemberPlace> indexArchive(const RandomFile& archive, const std::function<void()>& goOn) {
    std::vector<MemberPlace> members;
    const auto reader = openMembers(archive);
    while (auto member = reader->next()) {
        goOn();
        if (isUnsafe(member->name))
            throw ProblemError({archive.path().string(), "archive.unsafe-name", {member->name}});
        while (member->name.starts_with("./")) member->name.erase(0, 2);
        members.push_back(std::move(*member));
    }
    std::unordered_set<std::string_view> names;
    for (const MemberPlace& each : members) {
        if (!names.insert(each.name).second)
            throw ProblemError({archive.path().string(), "archive.named-twice", {each.name}});
    }
    return members;
}

}  // namespace lockstep
