#include "engine/ops/op_set.h"

#include <algorithm>

#include "engine/ops/all_ops.h"

namespace lockstep {

std::span<const OpDef* const> opSet() { return kAllOps; }

const OpDef* findOp(std::string_view name) {
    const auto found = std::ranges::find(kAllOps, name, &OpDef::name);
    return found == kAllOps.end() ? nullptr : *found;
}

}  // namespace lockstep
