#include "app/words.h"

#include <nlohmann/json.hpp>

#include "app/embedded.h"
#include "engine/core/printable.h"

namespace lockstep {

namespace {

std::string valueOf(std::string_view key, const Problem& problem) {
    if (key == "field") return problem.field;
    if (key.empty() || key.size() > 1 || key[0] < '0' || key[0] > '9') return "{" + std::string(key) + "}";
    const auto index = static_cast<std::size_t>(key[0] - '0');
    return index < problem.args.size() ? problem.args[index] : std::string("?");
}

// "batch: " in front of a sentence leads nowhere when the problem has no field.
std::string trimmed(std::string sentence) {
    const auto start = sentence.find_first_not_of(" :");
    return start == sentence.npos ? std::string() : sentence.substr(start);
}

// Catalogue entries may or may not end with a full stop; what a person reads does.
std::string ended(std::string sentence) {
    if (!sentence.empty() && std::string_view(".!?").find(sentence.back()) == std::string_view::npos) sentence += '.';
    return sentence;
}

// What a file says may be of any length; a sentence is not.
std::string shortened(std::string text) {
    constexpr std::size_t kMost = 2000;
    if (text.size() <= kMost) return text;
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "…";
}

// Where a value is a sentence itself, the sentence around it does not end it once more.
bool endsTwice(std::string_view value, std::string_view after) {
    return value.size() > 1 && std::string_view(".!?").find(value.back()) != std::string_view::npos &&
           after.starts_with('.') && value.find(' ') != std::string_view::npos;
}

}  // namespace

std::string fillIn(std::string_view sentence, const Problem& problem) {
    std::string out;
    for (std::size_t at = 0; at < sentence.size();) {
        const auto open = sentence.find('{', at);
        const auto close = open == sentence.npos ? sentence.npos : sentence.find('}', open);
        if (close == sentence.npos) {
            out += sentence.substr(at);
            break;
        }
        out += sentence.substr(at, open - at);
        const std::string value = shortened(printable(valueOf(sentence.substr(open + 1, close - open - 1), problem)));
        out += value;
        at = close + 1;
        if (endsTwice(value, sentence.substr(at))) ++at;
    }
    return trimmed(std::move(out));
}

Problem problemWithin(const Problem& problem, std::size_t first) {
    const auto at = [&](std::size_t index, const char* absent) {
        return index < problem.args.size() ? problem.args[index] : std::string(absent);
    };
    Problem within{at(first + 1, ""), at(first, "?"), {}};
    for (std::size_t i = first + 2; i < problem.args.size(); ++i) within.args.push_back(problem.args[i]);
    return within;
}

Words::Words() {
    for (const auto& file : embeddedTexts()) {
        if (!file.name.starts_with("messages/")) continue;
        const auto json = nlohmann::json::parse(file.text);
        for (const auto& [code, entry] : json.items()) {
            m_entries[code] = {entry.at("what").get<std::string>(), entry.at("remedy").get<std::string>()};
        }
    }
}

std::string Words::what(const Problem& problem) const {
    const auto entry = m_entries.find(problem.code);
    if (entry != m_entries.end()) return ended(withInner(entry->second.what, problem));
    std::string out = problem.field.empty() ? problem.code : problem.field + ": " + problem.code;
    for (const auto& arg : problem.args) out += " " + arg;
    return printable(out);
}

// The sentence of a problem within a problem stands at the end.
std::string Words::withInner(const std::string& sentence, const Problem& problem) const {
    const auto mark = sentence.find("+}");
    if (mark == sentence.npos || mark < 2 || sentence[mark - 2] != '{') return fillIn(sentence, problem);
    const auto first = static_cast<std::size_t>(sentence[mark - 1] - '0');
    return fillIn(sentence.substr(0, mark - 2), problem) + what(problemWithin(problem, first));
}

std::string Words::remedy(const Problem& problem) const {
    const auto entry = m_entries.find(problem.code);
    return entry == m_entries.end() ? std::string() : ended(fillIn(entry->second.remedy, problem));
}

std::string Words::report(const std::vector<Problem>& problems) const {
    std::string out;
    for (const auto& problem : problems) {
        out += "lockstep: " + what(problem) + "\n";
        const auto help = remedy(problem);
        if (!help.empty()) out += "  → " + help + "\n";
    }
    return out;
}

}  // namespace lockstep
