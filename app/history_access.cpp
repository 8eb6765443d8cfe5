#include "app/history_access.h"

namespace lockstep {

TrialService openTrials() {
    const auto places = preparePlaces(placesFromEnvironment());
    if (!places.ok()) throw ProblemError(places.problems().front());
    TrialService trials(places.value());
    trials.settleCrashed();
    return trials;
}

CLI::Option* addTrialOption(CLI::App& command, std::int64_t& trial) {
    return command.add_option("trial", trial, "The trial's number; `lockstep trials` lists them")
        ->required()
        ->type_name("ID");
}

}  // namespace lockstep
