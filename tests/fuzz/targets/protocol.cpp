#include "engine/session/protocol.h"

#include <sys/socket.h>
#include <unistd.h>

#include "engine/session/client_link.h"
#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

namespace {

ReplayLog shortLog() {
    ReplayLog log(3);
    for (int number = 1; number <= 8; ++number)
        log.add(number, number % 4 != 0, "{\"n\":" + std::to_string(number) + "}");
    return log;
}

bool understands(ClientLink& link, std::string_view line) {
    const auto command = commandFromLine(line);
    if (!command.ok()) return false;
    const std::string text = toLine(command.value());
    const auto again = commandFromLine(text);
    require(again.ok() && toLine(again.value()) == text, "a command's line says the command");
    if (const auto* subscribe = std::get_if<SubscribeCommand>(&command.value())) link.subscribe(subscribe->from);
    return true;
}

bool greet(std::string_view line) {
    const auto hello = helloFromLine(line);
    if (!hello.ok()) return false;
    const auto again = helloFromLine(toLine(hello.value()));
    require(again.ok() && toLine(again.value()) == toLine(hello.value()), "a greeting's line says the greeting");
    return true;
}

}  // namespace

bool runProtocol(Input input) {
    static const ReplayLog log = shortLog();
    int ends[2];
    require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "sockets can be made");
    const Descriptor client(ends[1]);
    ClientLink link(Descriptor(ends[0]), "hello");
    if (!input.empty()) send(client.get(), input.data(), input.size(), MSG_DONTWAIT);
    shutdown(client.get(), SHUT_WR);
    bool understood = false;
    while (
        link.read([&](std::string_view line) { understood = understands(link, line) || greet(line) || understood; })) {
        link.pull(log);
        if (link.wantsToWrite()) link.write();
    }
    return understood;
}

}  // namespace lockstep::fuzz
