#include "engine/session/protocol.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace lockstep {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 7> kControls = {"pause",    "resume",  "stop", "stop-after-epoch",
                                                       "scale-to", "balance", "ping"};
constexpr std::int64_t kMostDevices = 256;

Problem malformed(std::string_view line) {
    const std::string_view start = line.substr(0, 60);
    return {"", "session.malformed", {Json(start).dump(-1, ' ', true, Json::error_handler_t::replace)}};
}

std::string lineOf(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The field, if it is a whole number that an int64 can hold.
std::optional<std::int64_t> integer(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    const bool tooLarge =
        found->is_number_unsigned() &&
        found->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return tooLarge ? std::nullopt : std::optional(found->get<std::int64_t>());
}

std::optional<std::string> string(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || !found->is_string() ? std::nullopt : std::optional(found->get<std::string>());
}

}  // namespace

Result<Command> commandFromLine(std::string_view line) {
    const Json object = Json::parse(line, nullptr, false);
    const auto name = object.is_object() ? string(object, "command") : std::nullopt;
    if (!name) return malformed(line);
    if (*name == "subscribe") {
        if (!object.contains("from")) return Command(SubscribeCommand{});
        const auto from = integer(object, "from");
        if (!from || *from < 1) return malformed(line);
        return Command(SubscribeCommand{*from});
    }
    if (std::find(kControls.begin(), kControls.end(), *name) == kControls.end()) {
        return Problem{"command", "session.unknown-command", {name->substr(0, 40)}};
    }
    if (*name != "scale-to") return Command(ControlCommand{*name});
    const auto devices = integer(object, "devices");
    if (!devices || *devices < 1 || *devices > kMostDevices) return malformed(line);
    return Command(ControlCommand{*name, static_cast<int>(*devices)});
}

std::string toLine(const Command& command) {
    if (const auto* subscribe = std::get_if<SubscribeCommand>(&command)) {
        return lineOf({{"command", "subscribe"}, {"from", subscribe->from}});
    }
    const auto& control = std::get<ControlCommand>(command);
    if (control.name == "scale-to") return lineOf({{"command", control.name}, {"devices", control.devices}});
    return lineOf({{"command", control.name}});
}

Result<Hello> helloFromLine(std::string_view line) {
    const Json object = Json::parse(line, nullptr, false);
    if (!object.is_object() || string(object, "hello") != "lockstep") return malformed(line);
    const auto version = integer(object, "version");
    if (version && *version != kProtocolVersion) {
        return Problem{"", "session.version", {std::to_string(*version), std::to_string(kProtocolVersion)}};
    }
    const auto trial = integer(object, "trial"), first = integer(object, "firstAvailable"),
               last = integer(object, "lastEvent");
    const auto state = string(object, "state");
    if (!version || !trial || !first || !last || !state) return malformed(line);
    return Hello{kProtocolVersion, *trial, *first, *last, *state};
}

std::string toLine(const Hello& hello) {
    return lineOf({{"hello", "lockstep"},
                   {"version", hello.version},
                   {"trial", hello.trial},
                   {"firstAvailable", hello.firstAvailable},
                   {"lastEvent", hello.lastEvent},
                   {"state", hello.state}});
}

}  // namespace lockstep
