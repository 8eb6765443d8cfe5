#include "engine/spec/precision_text.h"

namespace lockstep {

std::string precisionText(const TrialSpec& spec, const std::optional<RunStarted>& started) {
    if (!started || started->precision.empty() || started->precision == spec.precision) return spec.precision;
    return started->precision + ", chosen by precision=" + spec.precision;
}

}  // namespace lockstep
