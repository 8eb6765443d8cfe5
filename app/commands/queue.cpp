#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands/commands.h"
#include "app/format.h"
#include "app/history_access.h"
#include "app/number_checks.h"
#include "app/trial_json.h"
#include "engine/core/utc_time.h"
#include "engine/queue/queue_keeper.h"
#include "engine/queue/queue_service.h"

namespace lockstep {

namespace {

struct QueueOptions {
    bool json = false;
    std::int64_t trial = 0, other = 0, priority = 0;
};

constexpr const char* kQueueHelp = R"(
Examples:
  lockstep queue                             what runs and waits, in the order in which it will be started
  lockstep queue add 7                       trial 7 goes on where it stopped, when there is room
  lockstep queue first 7                     before all that wait
  lockstep queue hold 7                      not until lockstep queue release 7
  lockstep queue after 7 5                   once trial 5 has ended)";

std::string reasonText(const QueueLine& line) {
    if (line.isRunning) return line.row.state;
    switch (line.reason) {
        case WaitReason::Held: return "held";
        case WaitReason::GroupPaused: return "its sweep is paused";
        case WaitReason::AfterOther: return fmt::format("after trial {}", *line.entry.after);
        default: return "waits for its turn";
    }
}

std::string sweepText(const QueueLine& line) {
    return line.entry.place ? std::to_string(line.entry.place->group) : std::string("–");
}

Json lineJson(const QueueLine& line) {
    const QueueEntry& entry = line.entry;
    Json out = trialJson(line.row);
    out["running"] = line.isRunning;
    out["waits"] = line.isRunning ? Json() : Json(reasonText(line));
    out["held"] = entry.held;
    out["priority"] = entry.priority;
    out["after"] = entry.after ? Json(*entry.after) : Json();
    out["tries"] = std::max<std::int64_t>(entry.tries, 0);
    out["sweep"] = entry.place ? Json(entry.place->group) : Json();
    out["cell"] = entry.place ? Json(entry.place->cell) : Json();
    return out;
}

int list(Context& context, const QueueOptions& options) {
    bool isReadOnly = false;
    auto trials = openTrialsToRead([&](const Problem& why) {
        isReadOnly = true;
        context.report({{"", "history.unreached", {context.words().what(why)}}});
    });
    QueueService queue(trials, thisProgram());
    const auto lines = queue.list();
    if (!isReadOnly) keepQueueGoing(trials, context);
    if (options.json) {
        Json out = Json::array();
        for (const QueueLine& each : lines) out.push_back(lineJson(each));
        fmt::print("{}\n", lineOf({{"kept", queue.isKept()}, {"queue", out}}));
        return kDone;
    }
    if (lines.empty()) {
        fmt::print("Nothing is queued. lockstep sweep --help, or lockstep train --queue, puts trials here.\n");
        return kDone;
    }
    Table table({"TRIAL", "STATE", "SWEEP", "PRIORITY", "MODEL", "DEVICES", "EPOCH", "TITLE"});
    for (const QueueLine& each : lines)
        table.add({std::to_string(each.row.id), reasonText(each), sweepText(each), std::to_string(each.entry.priority),
                   each.row.model, each.row.devices, fmt::format("{}/{}", each.row.epoch, each.row.epochs),
                   each.row.title});
    fmt::print("{}", table.text());
    return kDone;
}

// One change, then the list as it is now.
using Change = std::function<void(QueueService& queue, const QueueOptions& options)>;
int change(Context& context, const QueueOptions& options, const Change& work) {
    {
        auto trials = openTrials();
        if (options.trial > 0) trials.row(options.trial);  // throws where there is none
        QueueService queue(trials, thisProgram());
        work(queue, options);
    }
    return list(context, options);
}

int keep(Context& context) {
    const auto places = preparePlaces(placesFromEnvironment());
    if (!places.ok()) return context.report(places.problems());
    const auto log = [](const std::string& line) {
        fmt::print("{} {}\n", utcNow(), printable(line));
        std::fflush(stdout);
    };
    auto keeper =
        QueueKeeper::claim({places.value(), thisProgram(), context.environment().deviceRequest(kAutomaticDevices), log,
                            [&](const Problem& problem) { return context.words().what(problem); }});
    if (!keeper) return context.report({{"queue", "queue.kept", {}}}), kDone;
    keeper->run();
    return kDone;
}

}  // namespace

void addQueue(CLI::App& program, Run& run) {
    const auto options = std::make_shared<QueueOptions>();
    auto* command = program.add_subcommand("queue", "What runs and waits, in order; and changes to that");
    command->require_subcommand(0, 1);
    const auto json = [&](CLI::App& of) { of.add_flag("--json", options->json, "The queue as JSON"); };
    json(*command);
    command->callback([command, options, &run] {
        if (command->get_subcommands().empty()) run = [options](Context& context) { return list(context, *options); };
    });
    const auto add = [&](const char* name, const char* help, Change work) {
        auto* each = command->add_subcommand(name, help);
        addTrialOption(*each, options->trial);
        json(*each);
        each->callback([options, &run, work] {
            run = [options, work](Context& context) { return change(context, *options, work); };
        });
        return each;
    };
    add("add", "Queue a trial that has not finished: it begins, or goes on",
        [](QueueService& queue, const QueueOptions& at) { queue.add(at.trial); });
    add("hold", "Do not start it until it is released", [](QueueService& queue, const QueueOptions& at) {
        queue.setHeld(at.trial, true);
        if (queue.hasBegunYet(at.trial)) throw ProblemError({"trial", "queue.runs", {std::to_string(at.trial)}});
    });
    add("release", "Let it take its turn",
        [](QueueService& queue, const QueueOptions& at) { queue.setHeld(at.trial, false); });
    add("first", "To the front", [](QueueService& queue, const QueueOptions& at) { queue.moveFirst(at.trial); });
    add("last", "To the end of its priority",
        [](QueueService& queue, const QueueOptions& at) { queue.moveBefore(at.trial, 0); });
    add("before", "Just before another",
        [](QueueService& queue, const QueueOptions& at) { queue.moveBefore(at.trial, at.other); })
        ->add_option("other", options->other, "The trial that it is to come before")
        ->required()
        ->type_name("ID")
        ->check(anyWhole());
    add("priority", "Higher ones go first",
        [](QueueService& queue, const QueueOptions& at) { queue.setPriority(at.trial, at.priority); })
        ->add_option("priority", options->priority, "A whole number; 0 unless said")
        ->required()
        ->type_name("N")
        ->check(anyWhole());
    add("after", "Only once another has ended; 0: no longer",
        [](QueueService& queue, const QueueOptions& at) {
            queue.setAfter(at.trial, at.other == 0 ? std::nullopt : std::optional(at.other));
        })
        ->add_option("other", options->other, "The trial that must have ended before")
        ->required()
        ->type_name("ID")
        ->check(anyWhole());
    add("cancel", "Take it out: what waits is cancelled, what runs stops with a checkpoint",
        [](QueueService& queue, const QueueOptions& at) { queue.cancel(at.trial); });
    auto* keeper = command->add_subcommand("keep", "Start what is queued, until nothing is left; others start this");
    command->footer(kQueueHelp);  // last: commands that are added take over what stands here
    keeper->callback([&run] { run = [](Context& context) { return keep(context); }; });
}

}  // namespace lockstep
