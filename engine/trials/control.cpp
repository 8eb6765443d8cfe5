#include "engine/trials/control.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace lockstep {

namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

Problem refusalFrom(const Json& error) {
    try {
        Problem problem{error.at("field"), error.at("code"), error.value("args", std::vector<std::string>())};
        if (!problem.code.empty()) return problem;
    } catch (const Json::exception&) {  // of another kind than the protocol's
    }
    return {"trial", "trial.refused", {error.dump(-1, ' ', false, Json::error_handler_t::replace)}};
}

}  // namespace

std::optional<ControlAnswer> controlAnswerFrom(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    if (json.contains("error")) return ControlAnswer{{}, refusalFrom(json["error"])};
    if (!json.contains("ok") || !json["ok"].is_string()) return std::nullopt;
    return ControlAnswer{json["ok"], {}};
}

std::optional<std::int64_t> droppedUntil(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("dropped") || !json["dropped"].is_object()) return std::nullopt;
    const Json& dropped = json["dropped"];
    if (!dropped.contains("to") || !dropped["to"].is_number_integer()) return std::nullopt;
    return dropped["to"].get<std::int64_t>();
}

void sendControl(const std::filesystem::path& socket, const ControlCommand& control) {
    const auto client = SessionClient::connect(socket);
    if (!client.ok()) throw ProblemError(client.problems().front());
    sendControl(*client.value(), control);
}

void sendControl(SessionClient& client, const ControlCommand& control) {
    const auto sent = client.send(control);
    if (!sent.ok()) throw ProblemError(sent.problems().front());
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < deadline) {
        const auto line = client.readLine(500ms);
        if (!line) continue;
        if (line->closed) break;
        const auto answer = controlAnswerFrom(line->text);
        if (!answer) continue;
        if (answer->refused) throw ProblemError(*answer->refused);
        if (answer->agreed == control.name) return;
    }
    const std::string trial = std::to_string(client.hello().trial);
    throw ProblemError({"trial", "trial.no-answer", {trial}});
}

}  // namespace lockstep
