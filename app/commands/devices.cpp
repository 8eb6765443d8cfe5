#include <fmt/format.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/listing.h"

namespace lockstep {

namespace {

int devices(Context& context, bool json) {
    const auto& environment = context.environment();
    if (json) {
        fmt::print("{}\n", jsonOf(offeredDevices(environment, serveWords(context.words()))));
        return kDone;
    }
    Table table({"DEVICE", "NAME", "CORES", "MEMORY"});
    for (const auto& info : environment.devices()) {
        table.add({info.id, info.name, info.cores > 0 ? std::to_string(info.cores) : "–",
                   info.memoryBytes > 0 ? bytesText(info.memoryBytes) : "–"});
    }
    fmt::print("{}", table.text());
    for (const auto& info : environment.devices()) {
        if (!info.facts.bus.empty()) fmt::print("\n{}: {}\n", info.id, factsText(info.facts));
        const auto speed = bf16Text(environment, info);
        if (!speed.empty()) fmt::print("\n{}: {}\n", info.id, speed);
    }
    for (const auto& [backend, reason] : environment.missing()) {
        fmt::print("\nNot available: {}\n  {}\n", backend, context.words().what(reason));
        const auto remedy = context.words().remedy(reason);
        if (!remedy.empty()) fmt::print("  → {}\n", remedy);
    }
    return kDone;
}

constexpr const char* kDevicesHelp = R"(
How --devices is written:
  cpu:2       two devices that share the permitted cores
  cpu:2x1     two devices of one core each
  cuda:0,1    two cards; cuda:all is every card; cuda:0,0 is two ranks on one
  auto        every card, or where there is none all cores as one device
More devices than cores or cards are virtual: right for learning, not for speed.)";

}  // namespace

void addDevices(CLI::App& program, Run& run) {
    const auto json = std::make_shared<bool>(false);
    auto* command = program.add_subcommand("devices", "What this machine can train on, and what is missing and why");
    command->add_flag("--json", *json, "As JSON");
    command->footer(kDevicesHelp);
    command->callback([json, &run] { run = [json](Context& context) { return devices(context, *json); }; });
}

}  // namespace lockstep
