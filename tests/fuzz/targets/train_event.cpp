#include "engine/spec/train_event.h"

#include "tests/fuzz/targets/targets.h"

namespace lockstep::fuzz {

bool runTrainEvent(Input input) {
    const auto event = eventFromJsonLine({reinterpret_cast<const char*>(input.data()), input.size()});
    if (!event.ok()) return false;
    const std::string line = toJsonLine(event.value().event, event.value().number);
    const auto again = eventFromJsonLine(line);
    require(again.ok() && toJsonLine(again.value().event, again.value().number) == line,
            "an event's line says the event");
    if (const auto* failed = std::get_if<RunFailed>(&event.value().event)) problemIn(*failed);
    return true;
}

}  // namespace lockstep::fuzz
