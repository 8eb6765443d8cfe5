#pragma once
#include <string>

#include "engine/spec/metrics.h"

namespace lockstep {

std::string metricText(const Metric& metric, double value);  // "91.83 %", "7.413"; "–" when not a number
std::string namedText(const Metric& metric, double value);   // "accuracy 91.83 %", "2.890 bits per byte"

}  // namespace lockstep
