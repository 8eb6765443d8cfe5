#pragma once
#include <chrono>
#include <memory>

#include "engine/backend/backend.h"

namespace lockstep {

// Accepts every op and computes nothing: arenas stay as they were written (zeros, initial parameters), the gate never
// skips. Only fills are carried out, so that sample counts are true. Programs, threads and aborts can be tried anywhere
// in milliseconds. `kernelDelay`: how long each kernel of a node pretends to work.
std::unique_ptr<Backend> makeNullBackend(std::chrono::microseconds kernelDelay = {});

}  // namespace lockstep
