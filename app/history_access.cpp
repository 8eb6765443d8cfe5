#include "app/history_access.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lockstep {

#include "app/number_checks.h"
#include "engine/queue/queue_service.h"

TrialService openTrials() {
    const auto places = preparePlaces(placesFromEnvironment());
    if (!places.ok()) throw ProblemError(places.problems().front());
    TrialService trials(places.value());
    trials.settleCrashed();
    return trials;
}

TrialService openTrialsToRead(const std::function<void(const Problem& why)>& unwritten) {
    try {
        return openTrials();
    } catch (const ProblemError& error) {
        constexpr std::array kUnwritten = {"home.unwritable", "history.unwritable", "history.full", "history.busy"};
        if (std::ranges::find(kUnwritten, error.problem().code) == kUnwritten.end()) throw;
        TrialService trials(placesFromEnvironment());
        trials.open();
        if (unwritten) unwritten(error.problem());
        return trials;
    }
}

TrialService openTrialsToRead(const Context& context) {
    return openTrialsToRead([&context](const Problem& why) {
        const Problem note{"", "history.unreached", {context.words().what(why)}};
        fmt::print(stderr, "{}", context.words().report({note}));
    });
}

CLI::Option* addTrialOption(CLI::App& command, std::int64_t& trial) {
    return command.add_option("trial", trial, "The trial's number; `lockstep trials` lists them")
        ->required()
        ->type_name("ID")
        ->check(anyWhole());
}

}  // namespace lockstep
