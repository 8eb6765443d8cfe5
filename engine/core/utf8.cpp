#include "engine/core/utf8.h"

#include <cstdio>

#include "engine/core/result.h"

namespace lockstep {

namespace {

struct Range {
    unsigned char low, high;
};

// What the second byte may be: narrower than 80…BF behind four lead bytes, which excludes overlong forms, surrogates
// and what lies beyond U+10FFFF.
Range secondAfter(unsigned char lead) {
    switch (lead) {
        case 0xe0: return {0xa0, 0xbf};
        case 0xed: return {0x80, 0x9f};
        case 0xf0: return {0x90, 0xbf};
        case 0xf4: return {0x80, 0x8f};
        default: return {0x80, 0xbf};
    }
}

std::size_t lengthBy(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

bool isControl(std::string_view character) {
    const auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) return (first < 0x20 && first != '\t' && first != '\n') || first == 0x7f;
    return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::size_t utf8Character(std::string_view bytes) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
    const std::size_t length = bytes.empty() ? 0 : lengthBy(byte(0));
    if (length > bytes.size()) return 0;
    for (std::size_t at = 1; at < length; ++at) {
        const Range allowed = at == 1 ? secondAfter(byte(0)) : Range{0x80, 0xbf};
        if (byte(at) < allowed.low || byte(at) > allowed.high) return 0;
    }
    return length;
}

std::size_t findBrokenUtf8(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t length = utf8Character(bytes.substr(at));
        if (length == 0) return at;
        at += length;
    }
    return std::string_view::npos;
}

void requireUtf8(const std::string& field, std::string_view text) {
    const std::size_t at = findBrokenUtf8(text);
    if (at == text.npos) return;
    char byte[8];
    std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(text[at]));
    throw ProblemError({field, "text.not-utf8", {std::to_string(at), byte}});
}

std::string legible(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
        if (bytes.starts_with("\r\n")) bytes.remove_prefix(1);
        const std::size_t length = utf8Character(bytes);
        const bool shown = length > 0 && !isControl(bytes.substr(0, length));
        out += shown ? bytes.substr(0, length) : "\uFFFD";
        bytes.remove_prefix(length > 0 ? length : 1);
    }
    return out;
}

}  // namespace lockstep
