#pragma once
#include <functional>
#include <memory>
#include <string>

#include "engine/backend/backend.h"

namespace lockstep {

// Called on the rank's thread before each call of its device; may throw or hang. `number` counts the rank's calls from
// 0.
using BeforeDeviceCall = std::function<void(int rank, int number, const std::string& call)>;

// A backend that does what `inner` does, asking first.
std::unique_ptr<Backend> makeFaultyBackend(const Backend& inner, BeforeDeviceCall before);

}  // namespace lockstep
