#include "engine/queue/queue_problem.h"

#include <nlohmann/json.hpp>

namespace lockstep {

using Json = nlohmann::json;

std::string problemText(const Problem& problem) {
    const Json json{{"field", problem.field}, {"code", problem.code}, {"args", problem.args}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Problem> problemFrom(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    try {
        if (json.is_object()) return Problem{json.at("field"), json.at("code"), json.at("args")};
    } catch (const Json::exception&) {  // of a newer version
    }
    return std::nullopt;
}

}  // namespace lockstep
