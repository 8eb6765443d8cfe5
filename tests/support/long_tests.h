#pragma once
#include <cstdlib>

namespace lockstep::test {

// packaging/test --long: storms take every point and many rounds, and soaks run.
inline bool isLong() { return std::getenv("LOCKSTEP_LONG_TESTS") != nullptr; }
inline int rounds(int usual, int atLength) { return isLong() ? atLength : usual; }

}  // namespace lockstep::test
