#pragma once
#include <memory>

#include "engine/backend/backend.h"

namespace lockstep {

std::unique_ptr<Backend> makeReferenceBackend();

}  // namespace lockstep
