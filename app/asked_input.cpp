#include "app/asked_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

namespace lockstep {

namespace {

void addPath(std::vector<AskedSample>& samples, const std::string& path, const DatasetInfo& trained) {
    try {
        auto more = samplesAt(path, trained);
        std::ranges::move(more, std::back_inserter(samples));
    } catch (const ProblemError& error) {
        samples.push_back({path, error.problem()});
    } catch (const std::filesystem::filesystem_error& error) {
        samples.push_back({path, Problem{path, "file.unreadable", {error.code().message()}}});
    }
}

// Of a line that ends as Windows ends them, or of a list that `find -print0` has made.
std::vector<std::string> pathsIn(std::string line) {
    if (line.ends_with('\r')) line.pop_back();
    std::vector<std::string> paths;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = std::min(line.find('\0', at), line.size());
        if (end > at) paths.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return paths;
}

// A line of the standard input.
void addLine(std::vector<AskedSample>& samples, const std::string& line, std::int64_t number,
             const OpenedModel& model) {
    if (readsTexts(model)) return samples.push_back({fmt::format("line {}", number), AskedText{line}}), void();
    for (const std::string& path : pathsIn(line)) addPath(samples, path, model.trained);
}

}  // namespace

bool readsTexts(const OpenedModel& model) { return model.resolved.model->task == ModelTask::TextClasses; }

// Editors of Windows begin a file with a mark of its byte order.
bool readLine(std::string& line, std::int64_t number) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (!std::getline(std::cin, line)) return false;
    if (number == 1 && line.starts_with(kMark)) line.erase(0, kMark.size());
    return true;
}

bool AskedFor::findsAny() const {
    return std::ranges::any_of(samples,
                               [](const AskedSample& each) { return !std::holds_alternative<Problem>(each.content); });
}

AskedFor askedFor(const std::vector<std::string>& paths, const OpenedModel& model) {
    AskedFor asked;
    std::string line;
    for (const std::string& path : paths) {
        if (path != "-") addPath(asked.samples, path, model.trained);
        for (std::int64_t number = 1; path == "-" && readLine(line, number); ++number) {
            if (!readsTexts(model) && pathsIn(line).empty()) ++asked.blankLines;
            else addLine(asked.samples, line, number, model);
        }
    }
    return asked;
}

AskedSample sampleOfLine(const std::string& line, std::int64_t number, const OpenedModel& model) {
    const std::string place = fmt::format("line {}", number);
    if (!readsTexts(model) && pathsIn(line).empty()) return {place, Problem{place, "predict.nothing-asked", {}}};
    std::vector<AskedSample> samples;
    addLine(samples, line, number, model);
    if (samples.size() == 1) return std::move(samples.front());
    return {line, Problem{line, "predict.several", {std::to_string(samples.size())}}};
}

}  // namespace lockstep
