#pragma once
#include <cstdint>
#include <string>

namespace lockstep {

// Numbers as people read them, with a dot and thin groups: "–" where there is none.
std::string durationText(double seconds);               // "1 min 12 s"
std::string percentText(double fraction);               // "91.83 %"
std::string countText(std::int64_t count);              // "11 173 962"
std::string rateText(double perSecond);                 // "5 120 samples/s"
std::string fixedText(double value, int digits);        // "0.913": so many behind the dot
std::string formatted(const char* form, double value);  // by printf's %g, %f, %e; never cut

}  // namespace lockstep
