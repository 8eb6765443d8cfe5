#include "app/measured_precision.h"

#include <fmt/format.h>

#include <utility>

#include "app/status_line.h"

namespace lockstep {

std::optional<ChosenPrecision> choosePrecisionShown(ResolvedSpec& resolved, const ModelInput& input,
                                                    PrecisionTiming timing) {
    const StatusLine line;
    timing.begins = [&line](Precision precision) { line.say(fmt::format("measuring in {}…", text(precision))); };
    return choosePrecision(resolved, input, timing);
}

}  // namespace lockstep
