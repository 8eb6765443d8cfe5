#include "engine/report/markup.h"

#include <algorithm>

#include "engine/core/printable.h"
#include "engine/core/utf8.h"

namespace lockstep::report {

namespace {

const char* entityFor(char c) {
    switch (c) {
        case '&': return "&amp;";
        case '<': return "&lt;";
        case '>': return "&gt;";
        case '"': return "&quot;";
        case '\'': return "&#39;";
        default: return nullptr;
    }
}

// In text, and where a line begins: lists, rules, headings.
constexpr std::string_view kFormats = "\\`*_[]~#$", kBegins = "+-=";

// A bar would end the cell of a table, whatever stands before it.
const char* markdownEntityFor(char c) {
    if (c == '@') return "&#64;";
    if (c == '|') return "&#124;";
    return c == '"' || c == '\'' ? nullptr : entityFor(c);
}

// Well-formed UTF-8 may spell U+FFFE and U+FFFF, which XML has no place for.
std::string withoutNoncharacters(std::string text) {
    for (const char* each : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
        for (std::size_t at = 0; (at = text.find(each, at)) != text.npos;) text.replace(at, 3, "\xef\xbf\xbd");
    }
    return text;
}

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (const char* entity = entityFor(c)) out += entity;
        else out += c;
    }
    return out;
}

std::size_t longestRun(std::string_view text, char of) {
    std::size_t longest = 0, run = 0;
    for (const char c : text) {
        run = c == of ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return longest;
}

}  // namespace

std::string xmlText(std::string_view text) { return escaped(withoutNoncharacters(printable(text))); }
std::string xmlLines(std::string_view text) { return escaped(withoutNoncharacters(legible(text))); }

std::string markdownText(std::string_view text) {
    const std::string plain = withoutNoncharacters(printable(text));
    const std::size_t number = std::min(plain.find_first_not_of("0123456789"), plain.size());
    const bool isNumbered = number > 0 && number < plain.size() && (plain[number] == '.' || plain[number] == ')') &&
                            (number + 1 == plain.size() || plain[number + 1] == ' ');
    std::string out;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const char c = plain[i];
        const bool beginsList = i == 0 ? kBegins.find(c) != kBegins.npos : isNumbered && i == number;
        if (const char* entity = markdownEntityFor(c)) out += entity;
        else if (beginsList || kFormats.find(c) != kFormats.npos) out += {'\\', c};
        else out += c;
    }
    return out;
}

std::string markdownCode(std::string_view text) {
    const std::string plain = withoutNoncharacters(printable(text));
    if (plain.find_first_of("|\\") != plain.npos) return "<code>" + markdownText(plain) + "</code>";
    const std::string ticks(longestRun(plain, '`') + 1, '`');
    const bool needsRoom = plain.empty() || plain.front() == '`' || plain.back() == '`';
    return ticks + (needsRoom ? " " : "") + plain + (needsRoom ? " " : "") + ticks;
}

std::string markdownFence(std::string_view text, std::string_view language) {
    const std::string lines = withoutNoncharacters(legible(text));
    const std::string ticks(std::max<std::size_t>(longestRun(lines, '`') + 1, 3), '`');
    const bool ends = !lines.empty() && lines.back() == '\n';
    return ticks + std::string(language) + '\n' + lines + (ends ? "" : "\n") + ticks + '\n';
}

std::size_t charactersOf(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string shortened(std::string_view text, std::size_t most) {
    if (charactersOf(text) <= most) return std::string(text);
    std::size_t at = 0;
    for (std::size_t left = most - 1; left > 0; --left) at += std::max<std::size_t>(utf8Character(text.substr(at)), 1);
    return std::string(text.substr(0, at)) + "…";
}

}  // namespace lockstep::report
