#pragma once
#include <string>

#include "engine/graph/graph_builder.h"

namespace lockstep {

// Rows of a table by their number.  tokens: N,T, i32, 0 to V - 1; table: V,C; y: N,T,C.
extern const OpDef kEmbedding;  // (tokens, table) -> y
// dtable: each row the sum of dy where its token is, added in the tokens' order whatever the threads.
extern const OpDef kEmbeddingBackward;  // (tokens, dy) -> dtable                EmbeddingBackwardAttrs

struct EmbeddingBackwardAttrs {
    std::int64_t vocabulary = 0;
    bool operator==(const EmbeddingBackwardAttrs&) const = default;
};
std::string describe(const EmbeddingBackwardAttrs& attrs);

ValueId embedding(GraphBuilder& b, ValueId tokens, ValueId table, const std::string& name);

}  // namespace lockstep
