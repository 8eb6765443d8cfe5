#pragma once
#include <string>

#include "engine/report/sweep_sections.h"

namespace lockstep::report {

// What the charts of a sweep have in common. Classes of their style, beside those of all charts: "lk-ln" a line and
// "lk-pt" something filled, in the colour that "lk-v0" to "lk-v15" (the ramp), "lk-s0" to "lk-s5" (series), "lk-rest",
// "lk-bad" or "lk-good" gives; "lk-up" a text that stands on lines, "lk-hi" and "lk-lo" one on a good or bad colour;
// "lk-none" a field without a value; "lk-faint" one of very
// many lines.
inline constexpr double kWide = 812;  // pixels
std::string sweepStyle();
std::string rampClass(double goodness);

// A strip of the ramp with the values of its ends; 150 pixels wide.
std::string rampKey(double x, double y, const ObjectiveRange& range, const Metric& metric);

std::string titleElement(const std::string& text);  // what a browser says of the shape that it stands in
std::string dot(double x, double y, double radius, const std::string& classes, const std::string& more = {});
std::string cross(double x, double y, double reach, const std::string& classes);

}  // namespace lockstep::report
