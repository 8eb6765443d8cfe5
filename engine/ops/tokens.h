#pragma once
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Between images N,C,H,W and sequences of tokens N,T,C.
extern const OpDef kTranspose;           // (x: N,A,B) -> N,B,A
extern const OpDef kBroadcastAdd;        // (x: N,…; row: …) -> x + row in every sample

ValueId reshape(GraphBuilder& b, ValueId x, const Shape& shape, const std::string& name);
ValueId transpose(GraphBuilder& b, ValueId x, const std::string& name);
ValueId broadcastAdd(GraphBuilder& b, ValueId x, ValueId row, const std::string& name);

// Of more than one op, scoped "<name>/…".
ValueId pixelsToTokens(GraphBuilder& b, ValueId image, const std::string& name);    // N,C,H,W -> N,HW,C
ValueId tokenMean(GraphBuilder& b, ValueId tokens, const std::string& name);        // N,T,C -> N,C

}  // namespace lockstep
