#pragma once
#include <string>

#include "engine/plan/program.h"

namespace lockstep {

// What of a program multiplies floats although its precision is less: nothing on its device does that faster, or
// operands of that precision are not to be had there.
struct FloatProducts {
    int all = 0, ofFloats = 0;  // convolutions and products of matrices, of each pass
    double share = 0;           // of all multiplications, 0 to 1

    // "14 of 62"
    std::string countText() const;
    // "21 %"; "over 99 %" where not all are and that would say they were.
    std::string shareText() const;
};
FloatProducts floatProducts(const Program& program);
// Whether this one does.
bool multipliesFloats(const Program& program, const Node& node);

}  // namespace lockstep
