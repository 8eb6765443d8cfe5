#pragma once
#include "engine/plan/program.h"

namespace lockstep {

// Every rank must start the same collectives in the same order, or none of them ever ends. Throws EngineError(Internal)
// naming the first all-reduce that is in one of two programs of a run only, or is of another size there.
void requireSameCollectives(const Program& nominal, const Program& other);

}  // namespace lockstep
