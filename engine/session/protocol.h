#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "engine/core/result.h"

namespace lockstep {

// The session protocol, version 1: JSON lines over a local stream socket.
//   server → client on connect: {"hello":"lockstep","version":1,"trial":7,"firstAvailable":1,"lastEvent":120,
//                               "state":"running"}, in one line
//   client → server:            {"command":"subscribe","from":121} | {"command":"pause"} | "resume" | "stop" |
//                               "stop-after-epoch" | {"command":"scale-to","devices":2} | {"command":"balance"} |
//                               {"command":"ping"}
//   server → client:            numbered events, one a line, from `from` on, none missing and none doubled
//   (toJsonLine);
//                               {"ok":"pause"} / {"error":{"field":…,"code":…,"args":[…]}} for commands;
//                               {"dropped":{"from":a,"to":b}} when a slow reader lost step events in that range, or
//                               when the server never had it (an earlier attempt's); of the states of
//                               this attempt the newest 65,536 are kept, and the history has all.
// Parsing a line makes no allocation larger than 32 times the line; either side gives up on a line that is too long.
// A client that reattaches reads the history up to event n and subscribes from n + 1.
constexpr int kProtocolVersion = 1;

struct SubscribeCommand {
    std::int64_t from = 1;
};
// "pause", "resume", "stop", "stop-after-epoch", "scale-to" (so many devices, 1 … 256), "balance", "ping".
struct ControlCommand {
    std::string name;
    int devices = 0;
};
using Command = std::variant<SubscribeCommand, ControlCommand>;
Result<Command> commandFromLine(std::string_view line);
std::string toLine(const Command& command);

struct Hello {
    int version = kProtocolVersion;
    std::int64_t trial = 0, firstAvailable = 1, lastEvent = 0;
    std::string state;
};
Result<Hello> helloFromLine(std::string_view line);
std::string toLine(const Hello& hello);

}  // namespace lockstep
