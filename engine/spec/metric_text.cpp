#include "engine/spec/metric_text.h"

#include <cmath>

#include "engine/core/number_text.h"

namespace lockstep {

std::string metricText(const Metric& metric, double value) {
    if (metric.unit == MetricUnit::SamplesPerSecond) return rateText(value);
    if (metric.unit == MetricUnit::Seconds) return durationText(value);
    const bool inBits = metric.unit == MetricUnit::BitsPerByte;
    if (!std::isfinite(value)) return inBits ? "– bits per byte" : "–";
    switch (metric.unit) {
        case MetricUnit::Share: return percentText(value);
        case MetricUnit::Odds: return formatted("%#.4g", value);
        case MetricUnit::BitsPerByte: return formatted("%.3f bits per byte", value);
        default: return formatted("%.4f", value);
    }
}

std::string namedText(const Metric& metric, double value) {
    const bool saysItself = metric.unit == MetricUnit::BitsPerByte || metric.unit == MetricUnit::SamplesPerSecond;
    return (saysItself ? "" : std::string(metric.name) + ' ') + metricText(metric, value);
}

}  // namespace lockstep
