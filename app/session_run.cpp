#include "app/train_run.h"
#include "engine/session/run_session.h"

namespace lockstep {

bool hasHistory() { return true; }

Result<RunResult> runIntoHistory(const TrialSpec& spec, const Watcher& watcher, const Environment& environment) {
    const auto places = preparePlaces(placesFromEnvironment());
    if (!places.ok()) return places.problems();
    SessionRequest request;
    request.spec = spec;
    request.extraSinks = {&watcher.terminal};
    request.control = &watcher.control;
    request.onStuck = watcher.onStuck;
    const auto result = runSession(request, environment, places.value());
    if (!result.ok()) return result.problems();
    return result.value().run;
}

}  // namespace lockstep
