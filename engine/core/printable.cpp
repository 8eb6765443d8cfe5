#include "engine/core/printable.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/core/utf8.h"

namespace lockstep {

namespace {

struct Range {
    char32_t first, last;
};

// Beyond C0, DEL and C1: separators of lines, embeddings, overrides and isolates of the writing direction.
constexpr Range kUnprintable[] = {{0x00, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
constexpr Range kCombining[] = {{0x300, 0x36f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                                {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
// The blocks of the Unicode Standard's annex 11 that are wide throughout, or nearly.
constexpr Range kWide[] = {{0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
                           {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                           {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
                           {0x20000, 0x3fffd}};

template <std::size_t N>
bool isIn(const Range (&ranges)[N], char32_t character) {
    return std::ranges::any_of(ranges, [=](const Range& r) { return character >= r.first && character <= r.last; });
}

// The code point of one well-formed character.
char32_t codePoint(std::string_view character) {
    const auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) return first;
    char32_t value = first & (0x7fu >> character.size());
    for (const char next : character.substr(1)) value = value << 6 | (static_cast<unsigned char>(next) & 0x3fu);
    return value;
}

void spell(std::string& out, const char* form, unsigned value) {
    std::array<char, 12> text{};
    std::snprintf(text.data(), text.size(), form, value);
    out += text.data();
}

void spell(std::string& out, char32_t character) {
    switch (character) {
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    spell(out, character < 0x80 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(character));
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = utf8Character(text.substr(at));
        if (bytes == 0) {
            spell(out, "\\x%02x", static_cast<unsigned char>(text[at++]));
            continue;
        }
        const auto character = text.substr(at, bytes);
        if (const char32_t code = codePoint(character); isIn(kUnprintable, code)) spell(out, code);
        else out += character;
        at += bytes;
    }
    return out;
}

int columnsOf(std::string_view text) {
    int columns = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = utf8Character(text.substr(at));
        const char32_t code = bytes == 0 ? 0 : codePoint(text.substr(at, bytes));
        columns += isIn(kCombining, code) ? 0 : isIn(kWide, code) ? 2 : 1;
        at += std::max<std::size_t>(bytes, 1);
    }
    return columns;
}

}  // namespace lockstep
