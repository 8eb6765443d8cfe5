#include "engine/trials/launch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/spec/train_event.h"
#include "engine/trials/detached_process.h"

namespace lockstep {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uintmax_t kFullBelow = 1 << 20;
constexpr std::string_view kSaidNothing = "it said nothing";
constexpr auto kKeep = std::chrono::hours(7 * 24);

fs::path folderOf(const Places& places) { return places.data / "launches"; }

fs::path newOutput(const Places& places) {
    const fs::path folder = folderOf(places);
    std::error_code failed;
    fs::create_directories(folder, failed);
    std::string name = (folder / "XXXXXX.log").string();
    const int file = failed ? -1 : mkostemps(name.data(), 4, O_CLOEXEC);
    if (file < 0) {
        const auto error = failed ? failed : std::error_code(errno, std::generic_category());
        throw ProblemError({folder.string(), "launch.unwritable", {error.message()}});
    }
    ::close(file);
    return name;
}

std::vector<Problem> problemsFrom(const Json& rows) {
    std::vector<Problem> problems;
    for (const auto& row : rows) problems.push_back({row.at("field"), row.at("code"), row.at("args")});
    return problems;
}

Launch::Outcome failureIn(const std::string& line) {
    const auto event = eventFromJsonLine(line);
    if (!event.ok()) return {event.problems(), true};
    const auto& failed = std::get<RunFailed>(event.value().event);
    if (auto problem = problemIn(failed)) return {{std::move(*problem)}, false};
    return {{{failed.where, "run.failed." + failed.kind, {failed.what, "The run"}}}, true};
}

// Written for people, without the marks of the terminal.
std::string lastWords(const fs::path& output) {
    std::ifstream in(output);
    std::string last;
    for (std::string line; std::getline(in, line);) {
        const auto first = line.find_first_not_of(" \t\r");
        if (first != std::string::npos && line[first] != '{') last = line.substr(first);
    }
    return last.empty() ? std::string(kSaidNothing) : last;
}

}  // namespace

Launch::Launch(const fs::path& program, const Places& places, std::int64_t trial, Kind kind,
               std::optional<std::int64_t> untilEpoch, std::optional<std::int64_t> attempt)
    : m_places(places), m_trial(trial), m_kind(kind), m_output(newOutput(places)) {
    std::vector<std::string> arguments{"train", "--trial", std::to_string(trial), "--json", "--no-steps"};
    if (kind != Kind::Begin) arguments = {"resume", std::to_string(trial), "--json", "--no-steps"};
    if (kind == Kind::ResumeOrStartAgain) arguments.emplace_back("--start-again");
    if (kind == Kind::ResumeChanged) arguments.insert(arguments.end(), {"--changed-data", "accept"});
    if (attempt && kind != Kind::Begin) arguments.insert(arguments.end(), {"--attempt", std::to_string(*attempt)});
    if (untilEpoch) arguments.insert(arguments.end(), {"--until-epoch", std::to_string(*untilEpoch)});
    try {
        m_process = startDetached({program, std::move(arguments), m_output});
    } catch (const ProblemError&) {
        std::error_code none;
        fs::remove(m_output, none);
        throw;
    }
}

bool Launch::Outcome::hasChangedData() const {
    const auto changed = [](const Problem& each) { return each.code.starts_with("data.other-"); };
    return !problems.empty() && std::ranges::all_of(problems, changed);
}

std::optional<Launch::Outcome> Launch::look() {
    const bool alive = isAlive(m_process);  // before reading: nothing is written after its end
    std::ifstream in(m_output);
    in.seekg(static_cast<std::streamoff>(m_read));
    for (std::string line; !m_runs && std::getline(in, line) && !in.eof();) {
        m_read += line.size() + 1;
        takeLine(line);
    }
    if (m_runs) return Outcome{};
    if (alive) return std::nullopt;
    if (m_refusal.problems.empty()) return Outcome{{silentEnd()}};
    std::error_code none;
    if (!m_refusal.failed) fs::remove(m_output, none);
    return m_refusal;
}

// An engine that was refused says so once, as an event or as problems.
void Launch::takeLine(const std::string& line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return;
    std::error_code none;
    try {
        const std::string event = json.value("event", "");
        if (event == "run_started") {
            runs(std::to_string(json.value("attempt", 1)));
        } else if (event == "message" &&
                   json.value("code", "") == kPrecisionMeasured) {  // for long, and may be stopped
            runs(json.at("args").at(0));
        } else if (json.value("resumed", false)) {  // it was paused, and goes on in its own process
            fs::remove(m_output, none);
            m_runs = true;
        } else if (event == "run_failed") {
            m_refusal = failureIn(line);
        } else if (json.contains("problems")) {
            m_refusal = {problemsFrom(json["problems"]), false};
        }
    } catch (const Json::exception&) {  // not the engine's own words
    }
}

void Launch::runs(const std::string& attempt) {
    std::error_code none;
    fs::rename(m_output, m_places.run(m_trial) / ("output-" + attempt + ".log"), none);
    m_runs = true;
}

// On a full disk the last words could not be written either.
Problem Launch::silentEnd() const {
    std::error_code unknown;
    const auto room = fs::space(folderOf(m_places), unknown);
    if (!unknown && room.available < kFullBelow) {
        return {folderOf(m_places).string(), "launch.disk-full", {std::to_string(room.available / 1024) + " KiB"}};
    }
    return {m_output.string(), "launch.ended", {lastWords(m_output)}};
}

bool Launch::saidNothing(const Problem& problem) {
    return problem.code == "launch.ended" && !problem.args.empty() && problem.args.front() == kSaidNothing;
}

void clearOldLaunches(const Places& places) {
    std::error_code none;
    for (const auto& file : fs::directory_iterator(folderOf(places), none)) {
        const auto written = file.last_write_time(none);
        if (!none && written < fs::file_time_type::clock::now() - kKeep) fs::remove(file, none);
    }
}

}  // namespace lockstep
