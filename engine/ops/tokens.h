#pragma once
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Sequences of tokens N,T,C: what leads to them, from images N,C,H,W too, and away from them. `lengths`: see
// attention.h.
extern const OpDef kTranspose;     // (x: N,A,B) -> N,B,A
extern const OpDef kBroadcastAdd;  // (x: N,T,…; table: at least T,…) -> x + the first T rows, in every sample
extern const OpDef kPad;           // (x) -> its elements, then zeros                     ShapeAttrs: of y
extern const OpDef kSequenceMean;  // (x: N,T,C; lengths: N, i32) -> N,C: of the tokens that count
extern const OpDef kSequenceMeanBackward;  // (dy, lengths) -> dx                                 ShapeAttrs: of x

ValueId reshape(GraphBuilder& b, ValueId x, const Shape& shape, const std::string& name);
ValueId transpose(GraphBuilder& b, ValueId x, const std::string& name);
ValueId broadcastAdd(GraphBuilder& b, ValueId x, ValueId table, const std::string& name);
ValueId sequenceMean(GraphBuilder& b, ValueId x, ValueId lengths, const std::string& name);

// Of more than one op, scoped "<name>/…".
ValueId pixelsToTokens(GraphBuilder& b, ValueId image, const std::string& name);  // N,C,H,W -> N,HW,C
ValueId tokenMean(GraphBuilder& b, ValueId tokens, const std::string& name);      // N,T,C -> N,C

}  // namespace lockstep
