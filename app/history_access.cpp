#include "app/history_access.h"

#include "engine/session/run_session.h"

namespace lockstep {

namespace {

template <class T>
T valueOf(Result<T> result) {
    if (!result.ok()) throw ProblemError(result.problems().front());
    return std::move(result).value();
}

}  // namespace

History openHistory() {
    History history;
    history.places = valueOf(preparePlaces(placesFromEnvironment()));
    history.store = valueOf(TrialStore::open(history.places.history()));
    history.query = valueOf(TrialQuery::open(history.places.history()));
    settleCrashed(*history.store, *history.query, history.places);
    return history;
}

TrialRow rowOf(const History& history, std::int64_t trial) {
    auto row = history.query->find(trial);
    if (!row)
        throw ProblemError({"trial", "trial.unknown", {std::to_string(trial), history.places.history().string()}});
    return *row;
}

bool isRunning(const History& history, std::int64_t trial) {
    const auto state = runStateFrom(rowOf(history, trial).state);
    return state && !isFinal(*state);
}

CLI::Option* addTrialOption(CLI::App& command, std::int64_t& trial) {
    return command.add_option("trial", trial, "The trial's number; `lockstep trials` lists them")
        ->required()
        ->type_name("ID");
}

}  // namespace lockstep
