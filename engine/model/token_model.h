#pragma once
#include <optional>
#include <string_view>

#include "engine/graph/graph_builder.h"
#include "engine/model/registry.h"

namespace lockstep {

// What transformers that read tokens have in common.

struct TokenModel {
    std::string_view id;  // of the model, for what it refuses
    int vocabulary = kByteTokens;
    bool tied = false;  // the embedding's table is the head's weight, too
    bool causal = false;
    std::optional<ValueId> lengths{};  // i32 [N], as attention takes them
};

inline constexpr const char* kContext = "context";  // the setting: the longest sequence

// "layers", "width", "heads" and "context".
ParamSchema tokenModelSchema(std::int64_t layers, std::int64_t context);

// Embedding, positions, blocks and the last norm: tokens i32 [N,T] -> x [N,T,width]. Sequences longer than the context
// are refused by the field "tokens" with "model.sequence-too-long".
// table: the embedding's.
struct TokenFeatures {
    ValueId x, table;
};
TokenFeatures tokenFeatures(GraphBuilder& b, ValueId tokens, const TokenModel& model, const ParamValues& params);

}  // namespace lockstep
