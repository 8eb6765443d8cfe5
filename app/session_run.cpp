#include "app/train_run.h"
#include "engine/session/run_session.h"

namespace lockstep {

bool hasHistory() { return true; }

Result<RunResult> runIntoHistory(const TrialSpec& spec, RunControl& control, EventSink& terminal,
                                 const Environment& environment) {
    const auto places = preparePlaces(placesFromEnvironment());
    if (!places.ok()) return places.problems();
    SessionRequest request;
    request.spec = spec;
    request.extraSinks = {&terminal};
    request.control = &control;
    const auto result = runSession(request, environment, places.value());
    if (!result.ok()) return result.problems();
    return result.value().run;
}

}  // namespace lockstep
