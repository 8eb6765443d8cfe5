#include "engine/spec/shell_words.h"

#include <algorithm>

namespace lockstep {

namespace {

bool isPlain(char c) {
    const bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return isLetter || (c >= '0' && c <= '9') || std::string_view("_./:=,+@%-").find(c) != std::string_view::npos;
}

}  // namespace

std::string shellQuoted(std::string_view word) {
    if (!word.empty() && std::ranges::all_of(word, isPlain)) return std::string(word);
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? R"('\'')" : std::string(1, c);
    return out + '\'';
}

std::string trainCommand(std::span<const Setting> settings, std::span<const Setting> usual) {
    std::string command = "lockstep train";
    for (const std::string& word : trainArguments(settings, usual)) command += ' ' + shellQuoted(word);
    return command;
}

std::string trainCommand(const TrialSpec& spec) { return trainCommand(settingsOf(spec), settingsOf({})); }

}  // namespace lockstep
