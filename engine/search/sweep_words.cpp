#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/search/sweep_spec.h"

// A dimension as a person writes it on a command line; what has commas, question marks or two dots stands in quotes.
namespace lockstep {

namespace {

std::optional<double> numberIn(std::string_view text) {
    double number = 0;
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
    return number;
}

// Not within quotes, which stay.
std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts{""};
    bool isQuoted = false;
    for (const char c : text) {
        isQuoted = isQuoted != (c == '"');
        if (c == at && !isQuoted) parts.emplace_back();
        else parts.back() += c;
    }
    return parts;
}

bool isQuoted(std::string_view text) { return text.size() > 1 && text.starts_with('"') && text.ends_with('"'); }

// A text that would be read as something else.
std::string quotedIfNeeded(const ParamValue& value) {
    const auto* words = std::get_if<std::string>(&value);
    const bool isPlain = !words || (words->find_first_of(",?") == words->npos && words->find("..") == words->npos &&
                                    !words->empty() && !words->starts_with("log:"));
    return isPlain ? text(value) : '"' + *words + '"';
}

ChoiceOfValues valuesIn(const std::string& path, std::string_view text, char between) {
    ChoiceOfValues values;
    for (const std::string& each : split(text, between)) {
        if (isQuoted(each)) values.emplace_back(each.substr(1, each.size() - 2));
        else values.push_back(settingValue(path, each));
    }
    return values;
}

// "0.8..0.99", with ":0.01" (a step) or "/4" (points) behind. nullopt: it is none.
std::optional<NumberRange> rangeIn(std::string_view text) {
    NumberRange range;
    range.isLog = text.starts_with("log:");
    if (range.isLog) text.remove_prefix(4);
    const auto dots = text.find("..");
    if (dots == text.npos) return std::nullopt;
    std::string_view high = text.substr(dots + 2), more;
    if (const auto sign = high.find_first_of(":/"); sign != high.npos) {
        more = high.substr(sign);
        high = high.substr(0, sign);
    }
    const auto from = numberIn(text.substr(0, dots)), to = numberIn(high);
    if (!from || !to) return std::nullopt;
    range.low = *from;
    range.high = *to;
    if (more.empty()) return range;
    const auto number = numberIn(more.substr(1));
    if (!number || *number <= 0) return std::nullopt;
    if (more.front() == ':') {
        range.step = *number;
    } else {
        if (std::trunc(*number) != *number || *number > 1e6) return std::nullopt;
        range.points = static_cast<std::int64_t>(*number);
    }
    return range;
}

std::string joined(const ChoiceOfValues& values, char between) {
    std::string out;
    for (const ParamValue& each : values) out += (out.empty() ? "" : std::string(1, between)) + quotedIfNeeded(each);
    return out;
}

}  // namespace

Result<Dimension> dimensionFrom(std::string_view words) {
    const Problem notUnderstood{"--vary", "sweep.words", {std::string(words)}};
    const auto equals = words.find('=');
    if (equals == words.npos || equals == 0 || equals + 1 == words.size()) return notUnderstood;
    Dimension dimension{std::string(words.substr(0, equals)), {}, {}};
    auto parts = split(words.substr(equals + 1), '?');
    const std::string& values = parts.front();
    const bool isText = values.find('"') != values.npos;
    if (!isText && (values.find("..") != values.npos || values.starts_with("log:"))) {
        const auto range = rangeIn(values);
        if (!range) return notUnderstood;
        dimension.values = *range;
    } else {
        dimension.values = valuesIn(dimension.path, values, ',');
    }
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto at = parts[i].find('=');
        if (at == std::string::npos || at == 0 || at + 1 == parts[i].size()) return notUnderstood;
        const std::string path = parts[i].substr(0, at);
        dimension.when.push_back({path, valuesIn(path, std::string_view(parts[i]).substr(at + 1), ',')});
    }
    return dimension;
}

std::string wordsOf(const Dimension& dimension) {
    std::string out = dimension.path + '=';
    if (const auto* values = std::get_if<ChoiceOfValues>(&dimension.values)) {
        out += joined(*values, ',');
    } else {
        const auto& range = std::get<NumberRange>(dimension.values);
        out += (range.isLog ? "log:" : "") + text(range.low) + ".." + text(range.high);
        if (range.step > 0) out += ':' + text(range.step);
        if (range.points > 0) out += '/' + std::to_string(range.points);
    }
    for (const DimensionCondition& each : dimension.when) out += '?' + each.path + '=' + joined(each.values, ',');
    return out;
}

std::string wordsOf(const Cell& cell) {
    std::string words;
    for (const Setting& each : cell) words += (words.empty() ? "" : " ") + each.path + '=' + text(each.value);
    return words;
}

}  // namespace lockstep
