#include "app/history_access.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/number_checks.h"
#include "engine/queue/queue_service.h"

namespace lockstep {

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

void keepQueueGoing(TrialService& trials, const Context& context) {
    if (::access(trials.places().data.c_str(), W_OK) != 0) return;  // another's home
    try {
        QueueService(trials, thisProgram()).keepGoing();
    } catch (const ProblemError& error) {
        fmt::print(stderr, "{}", context.words().report({error.problem()}));
    }
}

void keepQueueGoing(const Places& places) noexcept {
    try {
        TrialService trials(places);
        QueueService(trials, thisProgram()).keepGoing();
    } catch (const std::exception&) {
    }
}

CLI::Option* addTrialOption(CLI::App& command, std::int64_t& trial) {
    return command.add_option("trial", trial, "The trial's number; `lockstep trials` lists them")
        ->required()
        ->type_name("ID")
        ->check(anyWhole());
}

}  // namespace lockstep
