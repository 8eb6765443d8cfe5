#pragma once
#include <QString>
#include <string_view>

#include "engine/spec/metrics.h"
#include "engine/spec/run_state.h"

namespace lockstep::ui {

// Numbers of a run as people read them.
QString runDuration(double seconds);                    // "0.4 s", "12 s", "1 min 12 s", "3 h 05 min", "2 d 4 h"
QString runStepTime(double seconds);                    // "850 µs", "3.42 ms", "1.25 s"
QString runCount(double value);                         // "12,345"
QString runShare(double fraction);                      // "91 %"; not a number: "–"
QString runPercent(double fraction);                    // "91.27 %"; not a number: "–"
QString runNumber(double value, int digits = 4);        // four significant digits; not a number: "–"
QString metricText(std::string_view words);             // the list's name or title of a metric, translated
QString runMetric(const Metric& metric, double value);  // "accuracy 91.27 %", "2.890 bits per byte"
QString runStateText(RunState state);                   // "Running", "Stopped"…

}  // namespace lockstep::ui
