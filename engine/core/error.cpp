#include "engine/core/error.h"

namespace lockstep {

std::string_view text(EngineError::Kind kind) {
    switch (kind) {
        case EngineError::Kind::Internal: return "internal";
        case EngineError::Kind::OutOfMemory: return "out-of-memory";
        case EngineError::Kind::Device: return "device";
        case EngineError::Kind::CorruptedContext: return "corrupted-context";
        case EngineError::Kind::Collective: return "collective";
        case EngineError::Kind::Io: return "io";
        case EngineError::Kind::NonFinite: return "non-finite";
        case EngineError::Kind::Aborted: return "aborted";
    }
    return "internal";
}

}  // namespace lockstep
