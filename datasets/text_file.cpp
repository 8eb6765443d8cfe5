#include "datasets/text_file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "datasets/byte_stream.h"
#include "datasets/memory_dataset.h"
#include "engine/core/utf8.h"

namespace lockstep {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kLongestCharacter = 4;

std::string hex(char byte) {
    char text[8];
    std::snprintf(text, sizeof text, "0x%02x", static_cast<unsigned char>(byte));
    return text;
}

std::string bytesOf(const std::filesystem::path& file) {
    const auto stream = openPlain(file);
    requireMemory(file.string(), stream->bound());
    std::string text(stream->bound(), '\0');
    text.resize(stream->read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
    return text;
}

std::string withoutMark(const std::filesystem::path& file, std::string text) {
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    if (text.empty()) throw ProblemError({file.string(), "text.empty", {}});
    return text;
}

}  // namespace

std::string readText(const std::filesystem::path& file) {
    std::string text = bytesOf(file);
    requireUtf8(file.string(), text);
    return withoutMark(file, std::move(text));
}

std::string readBytesOfText(const std::filesystem::path& file) { return withoutMark(file, bytesOf(file)); }

bool startsLikeText(const std::filesystem::path& file) {
    std::array<char, 4096> front{};
    std::size_t bytes = 0;
    try {
        bytes = openPlain(file)->read({reinterpret_cast<std::uint8_t*>(front.data()), front.size()});
    } catch (const ProblemError&) {
        return false;
    }
    const std::string_view text(front.data(), bytes);
    const std::size_t broken = findBrokenUtf8(text);
    const bool endsWithin = bytes == front.size() && broken + kLongestCharacter > bytes;
    return bytes > 0 && text.find('\0') == text.npos && (broken == text.npos || endsWithin);
}

void writeTokens(std::string_view text, std::span<std::byte> out) {
    auto* const tokens = reinterpret_cast<std::int32_t*>(out.data());
    const std::size_t room = out.size() / sizeof *tokens;
    const auto end =
        std::ranges::transform(text.substr(0, room), tokens, [](unsigned char byte) { return std::int32_t{byte}; });
    std::fill(end.out, tokens + room, 0);
}

std::vector<std::string> byteNames() {
    std::vector<std::string> names;
    for (int byte = 0; byte < 256; ++byte) {
        const bool isPrinted = byte > ' ' && byte < 0x7f;
        names.push_back(byte == ' ' ? "space"
                        : isPrinted ? std::string(1, static_cast<char>(byte))
                                    : hex(static_cast<char>(byte)));
    }
    return names;
}

ParamField sequenceField(std::int64_t fallback, std::string meaning) {
    return {"sequence", fallback, 8, 16384, {}, "bytes", std::move(meaning)};
}

ParamField testShareField(double fallback, std::string meaning) {
    return {"test_share", fallback, 0.001, 0.9, {}, "", std::move(meaning)};
}

}  // namespace lockstep
